# Two commands on a fresh machine: `make demo` and `make test`. Nothing here needs root, a compiler or Node.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_READY := $(VENV)/.ready-demo
DOCS_READY := $(VENV)/.ready-docs
BUNDLE_VENV := .venv-bundle
EXTRAS := learning,app,ray,dev
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of programs, which load twice as fast from byte code

.PHONY: demo test test-slow test-core setup lint docs bench bundle clean

demo: $(DEMO_READY)
	$(BIN)/claim evaluate --networks zone2,meadow5 --policies random,scout --selector greedy,foresight --runs 30
	rm -rf runs/demo-claim
	$(BIN)/claim train --variant claim --family zones --episodes 300 --out runs/demo-claim
	$(BIN)/claim evaluate --networks zone2,zone3 --policies random,scout,claim,runs/demo-claim/policy.json --runs 30 \
		--out runs/demo

test: $(READY)
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

# What needs neither PyTorch, the app, a browser nor Ray. With PYTHON, as in `make test-core PYTHON=python3.13`, it runs
# in an environment of its own with the core and the test tools only; tests/conftest.py says what is then left out.
CORE := $(if $(filter command,$(origin PYTHON)),.venv-core/$(shell $(PYTHON) -c 'import sys; print(*sys.version_info[:2], sep=".")'),$(VENV))
test-core: $(CORE)/.ready
	$(CORE)/bin/python -m pytest -m "not slow" -n 2 --dist worksteal tests/test_*.py \
		$(addprefix tests/,cascades cli discovery evaluation networks planning selection)

.venv-core/%/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-core/$*
	.venv-core/$*/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test]"
	touch $@

setup: $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# The field assistant as a program for people without Python, for the system at hand: an archive and its checksum in dist/.
# In an environment of its own, so that nothing else gets into it.
bundle: $(BUNDLE_VENV)/.ready
	$(BUNDLE_VENV)/bin/python packaging/bundle.py

$(BUNDLE_VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(BUNDLE_VENV)
	$(BUNDLE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[app,bundle]"
	touch $@

clean:
	rm -rf $(VENV) .venv-core $(BUNDLE_VENV) build dist runs site .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(DEMO_READY): EXTRAS := learning
$(READY) $(DEMO_READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "claim needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	touch $@
