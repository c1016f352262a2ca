# make run: learn Connect Four.  make test: everything that must hold.  make help: the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
DESCRIPTION := pyproject.toml constraints.txt
GAME ?= connect-four
MINUTES ?= 20

.DEFAULT_GOAL := help
.PHONY: run learn play page test check lint format types web tests bench browser gnugo clean help

run: $(VENV)/installed page  ## install what is needed, learn Connect Four for 20 minutes (MINUTES=…), play it in the browser meanwhile
	@$(BIN)/plainzero serve --train $(GAME) --minutes $(MINUTES) --open || test $$? -eq 130  # Ctrl-C

learn: $(VENV)/installed  ## learn Connect Four (or GAME=…) in the terminal, and show its strength
	@$(BIN)/plainzero train $(GAME) --minutes $(MINUTES)
	@$(BIN)/plainzero evaluate runs/$(GAME) --simulations 100

page: | $(VENV)/bin/python  ## build the page, where its sources have changed
	@$(BIN)/python web/build_page.py

play: $(VENV)/installed  ## play Connect Four (or GAME=…) in the terminal
	@$(BIN)/plainzero play "$(GAME)"

test: lint types web tests  ## install what is needed; lint, types and all tests

check: test  ## the same as test

lint: $(VENV)/installed-dev  ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev  ## the strict type check
	$(BIN)/mypy

web: page  ## the page's own types and tests, where there is Node.js
	@if command -v npm > /dev/null; then cd web && npm run --silent check && npm test --silent; fi

browser:  # for the page's tests; without it they are skipped
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  echo "Installing Chromium for the page's tests …" && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends chromium > /dev/null; } || \
	  echo "There is no chromium here: the page's tests in a browser will be skipped."

gnugo: browser  # after it, since only one apt-get may run at a time; for the tests against it; without it they are skipped
	@command -v gnugo > /dev/null || test -x /usr/games/gnugo || { test "$$(id -u)" = 0 && \
	  command -v apt-get > /dev/null && echo "Installing GNU Go for the tests against it …" && \
	  apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends gnugo > /dev/null; } || \
	  echo "There is no gnugo here: the tests against it will be skipped."

tests: $(VENV)/installed-dev page browser gnugo  ## the tests alone, on two cores
	$(BIN)/pytest -n 2 --dist worksteal -q $(PYTEST_FLAGS)

format: $(VENV)/installed-dev  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-dev  ## the speed of the search, beside OpenSpiel's
	$(BIN)/plainzero bench search

# The stamps say what was installed; a second call finds them and installs nothing.
$(VENV)/bin/python:
	@echo "Making $(VENV) …"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(DESCRIPTION) | $(VENV)/bin/python
	@echo "Installing PlainZero …"
	@$(PIP) --editable '.[learn,plots,serve]'
	@touch $@

$(VENV)/installed-dev: $(DESCRIPTION) | $(VENV)/bin/python
	@echo "Installing PlainZero and what its tests need …"
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/installed

clean:  ## remove the environment and all caches
	rm -rf $(VENV) web/node_modules src/plainzero/server/page .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16
