.DEFAULT_GOAL := help
.PHONY: help install up down lock lint types check check-domain corpus prove containers alone bench docs where
.PHONY: migrate

BIN := .venv/bin
UV := $(BIN)/uv
COMPILE := $(UV) pip compile pyproject.toml --universal --generate-hashes --no-header --no-annotate \
	--python-version 3.11 --quiet

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: ## Create .venv from the lock and install this package
	test -x $(BIN)/python || python3 -m venv .venv
	test -x $(UV) || $(BIN)/python -m pip install --quiet uv
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes --compile-bytecode \
		requirements-dev.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/thenga prebuild

up: ## Start a private PostgreSQL, NATS, Redis and ClamAV; settings are in .dev/env
	$(BIN)/thenga dev up

down: ## Stop them and keep the data
	$(BIN)/thenga dev down

lock: ## Update both locks from pyproject.toml; keeps versions where possible
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --group dev --output-file requirements-dev.lock

lint: ## Check style, format and domain boundaries
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: ## Check types (strict)
	$(BIN)/mypy

check: ## Check everything for a landing: lint, types, and the tests of the gate on real servers
	PYTHONPATH=. $(BIN)/python -m tests.gate

check-domain: ## Check one domain: lint, types, its tests and flows, walks over its operations: D=billing
	THENGA_DOMAIN=$(or $(D),missing) PYTHONPATH=. $(BIN)/python -m tests.gate

corpus: ## Update the fuzz corpus of operations whose schema has changed
	PYTHONPATH=. $(BIN)/python -m tests.suites.corpus

# A part is a file of tests in a process of its own. What passed at this commit is kept, with its log.
PASSED := .parts/$(shell git rev-parse HEAD)
SIZED := $(shell grep -rlE 'mark\.prove|import size$$|import rotation|THENGA_PROVE' tests --include='test_*.py' --exclude-dir=architecture)

prove: ## Run the suites in full size; goes on where it was cut; one part: P=tests/suites/test_kill.py
	$(MAKE) --no-print-directory -k $(or $(P:%=$(PASSED)/prove/%),$(SIZED:%=$(PASSED)/prove/%) $(PASSED)/prove/grown containers)

containers: ## Build the image and start compose.yaml on an engine of its own: root, Debian 12, 10 min
	tests/containers/run.sh

alone: ## Run every test file by itself, which takes long; goes on where it was cut
	$(MAKE) --no-print-directory -k -j2 $(patsubst %,$(PASSED)/alone/%,$(shell git ls-files 'tests/**/test_*.py'))

$(PASSED)/prove/grown: export THENGA_GROWN = 750
$(PASSED)/prove/grown: WHICH = -p tests.suites.growing $(shell PYTHONPATH=. $(BIN)/python -c 'from tests import lanes; print(*lanes.WALKS)')
$(PASSED)/prove/tests/%: export THENGA_PROVE = 1
$(PASSED)/%: WHICH = tests/$(word 2,$(subst /tests/, ,$@))
$(PASSED)/%:
	@mkdir -p $(@D)
	@PYTHONPATH=. $(BIN)/pytest -q -s $(WHICH) > $@.log 2>&1; test $$? -eq 0 -o $$? -eq 5 || \
		{ tail -n 60 $@.log; echo "FAILED $@"; exit 1; }
	@mv $@.log $@; echo "$(notdir $@): $$(tail -n 1 $@)"

bench: ## Run the benchmarks
	PYTHONPATH=. $(BIN)/python -m tests.bench.run

docs: ## Write the generated pages of docs/
	$(BIN)/thenga docs

where: ## Find a path, code, event, permission or rule: make where Q=BIL-7
	$(BIN)/thenga where "$(Q)"

migrate: ## Update the database
	$(BIN)/thenga migrate
