# make run: learn Connect Four.  make test: everything that must pass.  make help: the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
DESCRIPTION := pyproject.toml constraints.txt
GAME ?= connect-four
MINUTES ?= 20

.DEFAULT_GOAL := help
.PHONY: run learn play page test quick lint format types web tests bench browser gnugo clean help

run: $(VENV)/installed page  ## learn Connect Four for 20 minutes (MINUTES=…) and play it in the browser meanwhile
	@trap : INT; $(BIN)/plainzero serve --train "$(GAME)" --minutes $(MINUTES) --open || test $$? -eq 130  # Ctrl-C

learn: $(VENV)/installed  ## learn Connect Four in the terminal and show its strength
	@$(BIN)/plainzero train connect-four --minutes $(MINUTES) || \
	  { test $$? -eq 2 && test -f runs/connect-four/state.safetensors; }  # it has finished before
	@$(BIN)/plainzero evaluate runs/connect-four --simulations 100

page: | $(VENV)/bin/python  ## build the page if its sources changed
	@$(BIN)/python web/build_page.py

play: $(VENV)/installed  ## play Connect Four (or GAME=…) in the terminal
	@$(BIN)/plainzero play "$(GAME)"

test: lint types web tests  ## everything that must pass: lint, types and all tests

quick: lint types $(VENV)/installed-dev  ## lint, types and the fast tests of every folder, within two minutes
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not slow and not browser" $(PYTEST_FLAGS)

lint: $(VENV)/installed-dev  ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev  ## check types
	$(BIN)/mypy

web: page  ## check the page's types and run its unit tests, if Node.js is installed
	@if command -v npm > /dev/null; then cd web && npm run --silent check && npm test --silent; fi

browser:  # for the page's tests, which are skipped without it
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  echo "Installing Chromium for the page's tests …" && apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends chromium > /dev/null; } || \
	  echo "Chromium is not installed: the page's browser tests will be skipped."

gnugo: browser  # for tests against GNU Go; after browser, since only one apt-get may run at a time
	@command -v gnugo > /dev/null || test -x /usr/games/gnugo || { test "$$(id -u)" = 0 && \
	  command -v apt-get > /dev/null && echo "Installing GNU Go for the tests against it …" && \
	  apt-get -qq update && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends gnugo > /dev/null; } || \
	  echo "GNU Go is not installed: the tests against it will be skipped."

tests: $(VENV)/installed-dev page browser gnugo  ## all tests, on two cores
	$(BIN)/pytest -n 2 --dist worksteal -q $(PYTEST_FLAGS)

format: $(VENV)/installed-dev  ## fix style and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-dev  ## measure the search beside OpenSpiel's
	$(BIN)/plainzero bench search

# The stamp files record what is installed, so that a second call installs nothing.
$(VENV)/bin/python:
	@echo "Creating $(VENV) …"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PlainZero needs Python 3.11 or newer")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(DESCRIPTION) | $(VENV)/bin/python
	@echo "Installing PlainZero …"
	@$(PIP) --editable '.[learn,plots,serve]'
	@touch $@

$(VENV)/installed-dev: $(DESCRIPTION) | $(VENV)/bin/python
	@echo "Installing PlainZero and its test dependencies …"
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/installed

clean:  ## remove the environment and all caches
	rm -rf $(VENV) web/node_modules src/plainzero/server/page .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16
