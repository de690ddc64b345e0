# Development commands. `make` lists them. Only Python 3.10 or newer and pip are needed.
# Variables: PYTHON (interpreter that makes .venv), ARGS (more arguments for pytest, as in `make test ARGS="-k filter"`).

PYTHON ?= python3
ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python
# Dependencies first, so that reading this line top to bottom is an installation order.
PACKAGES := core plugins/devkit plugins/table plugins/dedup plugins/text plugins/image plugins/video plugins/audio
INSTALLED := $(VENV)/.installed
DEMO := demo-output
CORPUS := $(DEMO)/corpus/.built

# Compiled modules are kept even where the environment says otherwise: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help venv test chaos soak lint format types demo test-versions test-lowest clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

venv: $(INSTALLED) ## make .venv with every package (editable) and the development tools

# pip runs only when what is to be installed has changed. An existing .venv is kept and brought up to date.
$(INSTALLED): constraints.txt requirements-dev.txt requirements-test.txt $(PACKAGES:%=%/pyproject.toml)
	@test -x $(VENV)/bin/pip || { $(PYTHON) scripts/check_python.py && $(PYTHON) -m venv $(VENV); }
	$(RUN) -m pip install --quiet --constraint constraints.txt --requirement requirements-dev.txt
	$(RUN) -m pip install --quiet --constraint constraints.txt --no-build-isolation $(PACKAGES:%=--editable %)
	@touch $@

# Three processes: one for what runs on Ray, one for what installs, both of which often wait, and one for the rest
# (tests/conftest.py).
test: $(INSTALLED) ## run all tests
	$(RUN) -m pytest $(or $(ARGS),--numprocesses=3 --dist=loadgroup)

# In three processes, for many of them wait; what a test prints, its figures, comes at the end.
chaos: $(INSTALLED) ## run the long fault tests: kills at random moments, full disks, damaged files
	$(RUN) -m pytest -m chaos -rP --durations=10 $(or $(ARGS),--numprocesses=3 --dist=loadgroup)

# With very many seeds: for a night, or before a release.
soak: $(INSTALLED) ## run the fault tests and simulations of very many seeds, which takes hours
	$(RUN) -m pytest -m soak -rP --durations=10 $(or $(ARGS),--numprocesses=2 --dist=loadgroup)

lint: $(INSTALLED) ## check style, formatting, and which package may import which
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(VENV)/bin/lint-imports --no-cache

format: $(INSTALLED) ## fix what the style checks can fix
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

types: $(INSTALLED) ## check types
	$(RUN) -m mypy $(PACKAGES:%=%/src) scripts examples/demo

demo: $(CORPUS) ## curate a corpus made of the documentation and licences on this machine
	@rm -rf $(DEMO)/cleaned
	$(VENV)/bin/curator run examples/demo/pipeline.yaml --set INPUT=$(DEMO)/corpus --set OUTPUT=$(DEMO)/cleaned
	@echo "input:  $(DEMO)/corpus"
	@echo "output: $(DEMO)/cleaned"

$(CORPUS): examples/demo/build_corpus.py examples/demo/machine_text.py | $(INSTALLED)
	$(RUN) examples/demo/build_corpus.py $(@D)
	@touch $@

test-versions: $(INSTALLED) ## run core's and text's tests on the oldest and the newest Python found
	$(RUN) scripts/try_versions.py $(ARGS)

test-lowest: $(INSTALLED) ## run core's and text's tests with the lowest versions of their dependencies
	$(RUN) scripts/try_lowest.py $(ARGS)

clean: ## remove virtual environments, caches and the demo's output
	rm -rf $(VENV) .venv-3.* .venv-lowest $(DEMO) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find core plugins tests examples scripts -type d -name __pycache__ -prune -exec rm -rf {} +
