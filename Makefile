# On a fresh machine with Python (3.11 or newer), git and make:
#
#   make run    set up .venv, install maxmargin, train, test, prove, save and predict by its command
#   make test   set up what the tests need and run them
#   make compat run them with the oldest and the newest scikit-learn, NumPy and SciPy

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test lint types compat coverage fuzz clean
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

# What touches scikit-learn, its checks of estimators and its own suite included, with the oldest
# versions that pyproject.toml allows and with the newest; make compat PYTHON=python3.13 for another.
OLDEST := numpy==2.0.* scipy==1.13.* scikit-learn==1.6.* pandas==2.2.* polars==1.0.*
compat: compat-oldest compat-newest
compat-oldest: VERSIONS := $(OLDEST)
compat-oldest: CHOICE := -m 'not newest'
compat-%:
	$(PYTHON) -m venv $(VENV)-$*
	$(VENV)-$*/bin/pip install --quiet --upgrade --editable '.[test]' $(VERSIONS)
	$(VENV)-$*/bin/pip list | grep -iE '^(numpy|scipy|scikit-learn|pandas|polars) '
	$(VENV)-$*/bin/python -m pytest -q $(CHOICE) tests/machines tests/selection tests/sklearn_svm

# Coverage cannot see into compiled code: its small tests run it interpreted.
COMPILED := tests/solvers tests/gram tests/test_losses.py
coverage: $(VENV)/ready-test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m small --cov=maxmargin $(COMPILED)

# 10,000 random problems, judged (docs/reference/guarantees.md).
fuzz: $(VENV)/ready-test
	$(BIN)/python -m fuzz 10000

clean:
	rm -rf $(VENV) $(VENV)-*

# ready-EXTRA: .venv holds maxmargin (editable) with that extra of pyproject.toml.
$(VENV)/ready-%: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --editable '.[$*]'
	touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer, please: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
