# make run: learn Connect Four.  make test: everything that must hold.  make help: the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
DESCRIPTION := pyproject.toml constraints.txt
GAME ?= connect-four
MINUTES ?= 20

.DEFAULT_GOAL := help
.PHONY: run play test check lint format types tests bench clean help

# A run that has its minutes already is refused by train; its strength is shown all the same.
run: $(VENV)/installed  ## install what is needed, learn Connect Four for 20 minutes (MINUTES=…), show its strength
	@$(BIN)/tesuji train connect-four --minutes $(MINUTES) || test -e runs/connect-four/state.safetensors
	@$(BIN)/tesuji evaluate runs/connect-four --simulations 100

play: $(VENV)/installed  ## play Connect Four (or GAME=…) against the search in the terminal
	@$(BIN)/tesuji play "$(GAME)"

test: lint types tests  ## install what is needed; lint, types and all tests

check: test  ## the same as test

lint: $(VENV)/installed-dev  ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev  ## the strict type check
	$(BIN)/mypy

tests: $(VENV)/installed-dev  ## the tests alone, on two cores
	$(BIN)/pytest -n 2 --dist worksteal -q

format: $(VENV)/installed-dev  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-dev  ## the speed of the search, beside OpenSpiel's
	$(BIN)/tesuji bench search

# The stamps say what was installed; a second call finds them and installs nothing.
$(VENV)/bin/python:
	@echo "Making $(VENV) …"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(DESCRIPTION) | $(VENV)/bin/python
	@echo "Installing Tesuji …"
	@$(PIP) --editable '.[learn,plots]'
	@touch $@

$(VENV)/installed-dev: $(DESCRIPTION) | $(VENV)/bin/python
	@echo "Installing Tesuji and what its tests need …"
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/installed

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16
