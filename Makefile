# Poinsot: `make run` shows it at work, `make test` proves it. Both need only Python 3.11 or newer, git and make.
.DEFAULT_GOAL := help
.PHONY: help run test test-slow fuzz mutants lint format bench bench-compare docs dist pictures clean

VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:            ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

run: $(VENV)/.run            ## set up and simulate the flipping T-handle; results and a replay in results/
	@$(BIN)/poinsot run

test: lint            ## set up, lint, type-check, run all tests but the slow ones
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-slow: $(VENV)/.test            ## the tests that take minutes
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

fuzz: $(VENV)/.test            ## random programs, worlds, files and interruptions, for MINUTES=2 each; seeds are printed
	$(BIN)/python fuzz/run.py --minutes $(or $(MINUTES),2)

mutants: $(VENV)/.test            ## slips put into the text-book rooms, SAMPLE=500 of them (0: all), and the tests that notice
	$(BIN)/python tools/mutants/run.py --sample $(or $(SAMPLE),500) --jobs $(or $(JOBS),2)

lint: $(VENV)/.test            ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test            ## rewrite the sources in the common style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench            ## measure, against the peers, in one run; write docs/benchmarks.md
	$(BIN)/python benchmarks/run.py --history benchmarks/history.jsonl --page docs/benchmarks.md

bench-compare: $(VENV)/.run            ## rows of the last `make bench` that are slower than before by more than FACTOR=1.25
	$(BIN)/python benchmarks/compare.py benchmarks/history.jsonl --factor $(or $(FACTOR),1.25)

docs: $(VENV)/.test            ## build the documentation site: open site/index.html
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs site
	@echo "The site is in site/index.html."

dist: $(VENV)/.test            ## build wheel and sdist into dist/, and try the wheel in an empty environment
	rm -rf dist
	$(BIN)/python -m build -q
	$(BIN)/python tools/try_wheel.py dist/*.whl

pictures: $(VENV)/.bench            ## draw the pictures of the pages in docs/ anew
	for script in docs/make/*.py; do $(BIN)/python $$script; done

clean:            ## remove what these targets made
	rm -rf $(VENV) dist results site docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The environment: a plain install is enough to run; the tests want more. Either is made once, and again when
# pyproject.toml changes.
$(VENV)/bin/pip:
	@python=$$(for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done); \
	test -n "$$python" || { echo "Poinsot needs Python 3.11 or newer; none was found on PATH." >&2; exit 1; }; \
	$$python -m venv $(VENV) || { echo "'$$python -m venv' failed: install the venv module of your Python" \
	  "(on Debian and Ubuntu: apt install python3-venv)." >&2; rm -rf $(VENV); exit 1; }

$(VENV)/.run: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/pip install -q -e '.[view]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/pip install -q -e '.[dev,peers]'
	@touch $@ $(VENV)/.run

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/pip install -q -e '.[docs]'
	@touch $@
