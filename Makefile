# Two commands on a fresh machine: `make demo` and `make test`. Nothing here needs root, a compiler or Node.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_READY := $(VENV)/.ready-demo
DOCS_READY := $(VENV)/.ready-docs
EXTRAS := learning,app,ray,dev

.PHONY: demo test test-slow setup lint docs bench clean

demo: $(DEMO_READY)
	$(BIN)/claim evaluate --networks zone2,meadow5 --policies random,scout --selector greedy,foresight --runs 30
	rm -rf runs/demo-claim
	$(BIN)/claim train --variant claim --family zones --episodes 60 --out runs/demo-claim
	$(BIN)/claim evaluate --networks zone2,zone3 --policies random,scout,claim,runs/demo-claim/policy.json --runs 30 \
		--out runs/demo

test: $(READY)
	$(BIN)/python -m pytest -m "not slow" -n 2

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

setup: $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(READY)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist runs site .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
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
