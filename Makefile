# On a fresh machine with Python (3.11 or newer), git and make:
#
#   make run    set up .venv, install maxmargin, train, test, prove, save and predict by its command
#   make test   set up what the tests need and run them

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint types coverage fuzz clean
.NOTPARALLEL:

run: $(VENV)/ready-plot,tables
	$(BIN)/maxmargin demo

test: $(VENV)/ready-test
	$(BIN)/python -m pytest

lint: $(VENV)/ready-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/ready-dev
	$(BIN)/mypy

# Coverage cannot see into compiled code: its small tests run it interpreted.
COMPILED := tests/solvers tests/gram tests/test_losses.py
coverage: $(VENV)/ready-test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m small --cov=maxmargin $(COMPILED)

# 10,000 random problems, judged (docs/guarantees.md).
fuzz: $(VENV)/ready-test
	$(BIN)/python -m fuzz 10000

clean:
	rm -rf $(VENV)

# ready-EXTRA: .venv holds maxmargin (editable) with that extra of pyproject.toml.
$(VENV)/ready-%: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --editable '.[$*]'
	touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer, please: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
