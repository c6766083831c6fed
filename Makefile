# What each target does is in `make help`. Everything happens in .venv; nothing outside is touched.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
NOTES ?= examples/notes
# Read by the shell from its environment, so that any name of a folder will do.
export NOTES
VENV := .venv
BIN := $(VENV)/bin
EXAMPLE_QUESTIONS := \
	--ask "Which server does the production database run on?" \
	--ask "Wat betekent storing F.28 van de cv-ketel?" \
	--ask "预测任务的部署为什么失败了？"

# Most tests wait for a daemon to settle, so more of them than cores can run at once.
JOBS ?= 4
# Neighbours stay in one process, so that what a module's tests share is made once or twice.
PARALLEL := -n $(JOBS) --dist worksteal
# They must agree on the names of tests, some of which are made from sets.
export PYTHONHASHSEED := 0

# One thread for each numeric library: more are slower when tests or other programs share the cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: help run test test-llm check lint quick bench clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 10

run: $(VENV)/.installed  ## Watch NOTES (the example vault by default), and ask it three questions
	@notes="$$NOTES"; case "$$notes" in '~'*) notes="$$HOME$${notes#?}";; esac; \
	if [ ! -d "$$notes" ]; then echo "There is no folder $$notes. Try: make run NOTES=~/notes" >&2; exit 2; fi; \
	if [ "$$notes" = examples/notes ]; then set -- $(EXAMPLE_QUESTIONS); else set -- --ask-titles 3; fi; \
	exec $(BIN)/recalld run "$$notes" --config config.example.toml --data .run/data --socket .run/recalld.sock "$$@"

test: $(VENV)/.installed-dev  ## Run every test
	$(BIN)/pytest $(PARALLEL)

quick: $(VENV)/.installed-dev  ## Run the tests that take less than a quarter of a second
	$(BIN)/pytest $(PARALLEL) -m "not slow"

test-llm: $(VENV)/.installed-dev  ## Try a real small language model, which is installed below .run/llm
	RECALLD_TEST_LLM=1 $(BIN)/pytest tests/llm -rs -s

lint: $(VENV)/.installed-dev  ## Check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint  ## Everything that CI checks: lint, and every test with coverage
	$(BIN)/pytest $(PARALLEL) --cov=recalld --cov=retrieval --cov=ingest --cov=daemon --cov-branch --cov-report=term:skip-covered

bench: $(VENV)/.installed-dev  ## Measure speed and quality
	$(BIN)/python -m bench

clean:  ## Remove what the other targets made, also the data of `make run`
	rm -rf $(VENV) .run build dist *.egg-info .coverage .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The checkout itself is installed (editable), so only another pyproject.toml needs a new installation.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# `pip install --group` came with pip 25.1.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

$(BIN)/python:
	@if ! '$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "recalld needs Python 3.11 or newer, and '$(PYTHON)' is not that. Try: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 2; fi
	@'$(PYTHON)' -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Python could not make $(VENV). On Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
