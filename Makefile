# On a fresh machine with Python (3.11 or newer), git and make:
#
#   make run    set up .venv, install maxmargin, train, test, prove, save and predict by its command
#   make test   set up what the tests need and run them
#   make core   compile src/maxmargin/core again after a change to it
#   make wheel  build a wheel for any processor of this kind; make wheel-test tries it
#   make sanitize  stop at addresses out of bounds and undefined behaviour in the core
#   make docs   execute every example and build the site into build/docs, warnings being errors
#   make compat run them with the oldest and the newest scikit-learn, NumPy and SciPy

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: core wheel wheel-test sanitize run test docs lint types compat coverage fuzz clean
.NOTPARALLEL:

run: $(VENV)/ready-cli,plot,tables core
	$(BIN)/maxmargin demo

test: $(VENV)/ready-test core
	$(BIN)/python -m pytest

# Compiles what has changed, in place.
core: | $(BIN)/pip
	$(BIN)/python hatch_build.py

# A wheel for all processors of this kind, and its trial: in an environment of its own, where no
# compiler is found, each of its builds that this processor runs does what the README shows.
wheel: $(VENV)/ready-dev
	MAXMARGIN_PORTABLE=1 $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
wheel-test: wheel
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/pip install --quiet --force-reinstall dist/maxmargin-*.whl
	env -i HOME=$(CURDIR)/build PATH=/nowhere $(CURDIR)/$(VENV)-wheel/bin/python .ci/try_wheel.py

# The core with address and undefined-behaviour sanitizers, and the tests that touch all of it.
SANITIZED := tests/core/test_border.py tests/core/test_mirror.py tests/gram/test_dense_tile.py tests/gram/test_sparse_tile.py \
    tests/solvers/qp/test_smo_block.py tests/solvers/qp/test_path.py
sanitize: $(VENV)/ready-test
	$(BIN)/python hatch_build.py sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 MAXMARGIN_CORE=sanitized $(BIN)/python -m pytest -q -n 0 -p no:cacheprovider $(SANITIZED)

docs: $(VENV)/ready-docs core
	$(BIN)/python -m pytest -q tests/test_documents.py tests/test_howto.py tests/test_site.py
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	@echo "the site is in build/docs: open build/docs/index.html"

lint: $(VENV)/ready-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/ready-dev
	$(BIN)/mypy

# What touches scikit-learn, its checks of estimators and its own suite included, with the oldest
# versions that pyproject.toml allows and with the newest; make compat PYTHON=python3.13 for another.
COMPAT := tests/machines tests/selection tests/sklearn_svm
OLDEST := numpy==2.0.* scipy==1.13.* scikit-learn==1.6.* pandas==2.2.* polars==1.0.*
compat: compat-oldest compat-newest
compat-oldest: VERSIONS := $(OLDEST)
compat-oldest: CHOICE := -m 'not newest'
compat-%:
	$(PYTHON) -m venv $(VENV)-$*
	$(VENV)-$*/bin/pip install --quiet --upgrade --editable '.[test]' $(VERSIONS)
	$(VENV)-$*/bin/pip list | grep -iE '^(numpy|scipy|scikit-learn|pandas|polars) '
	$(VENV)-$*/bin/python -m pytest -q $(CHOICE) $(COMPAT)

# What lines the small tests of the mathematics reach.
coverage: $(VENV)/ready-test core
	$(BIN)/python -m pytest -m small --cov=maxmargin tests/solvers tests/gram tests/test_losses.py

# 10,000 random problems, judged (docs/reference/guarantees.md).
fuzz: $(VENV)/ready-test core
	$(BIN)/python -m fuzz 10000

clean:
	rm -rf $(VENV) $(VENV)-*

# ready-EXTRA: .venv holds maxmargin (editable) with that extra of pyproject.toml. What builds the
# core is installed too, and not only while pip runs: `make core` needs it again.
BUILDERS := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")
$(VENV)/ready-%: pyproject.toml | $(BIN)/pip
	$(BIN)/python -c '$(BUILDERS)' | $(BIN)/pip install --quiet --requirement /dev/stdin
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[$*]'
	touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer, please: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
