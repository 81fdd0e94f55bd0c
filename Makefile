.DEFAULT_GOAL := help
.PHONY: help install up down lock lint types test from-front from-back check check-domain domain-tests \
	domain-walks corpus prove grown alone bench docs where migrate

BIN := .venv/bin
UV := $(BIN)/uv
BUDGETS := .budgets
CLAIMS := .claims
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

test: ## Run all tests on real servers, in two parallel runs
	rm -rf $(BUDGETS) $(CLAIMS)
	mkdir $(CLAIMS)
	THENGA_BUDGETS=$(BUDGETS) THENGA_CLAIMS=$(CLAIMS) $(MAKE) --no-print-directory -k -j2 \
		--output-sync=target from-front from-back
	PYTHONPATH=. $(BIN)/python -m tests.budgets $(BUDGETS)

# Each claims the next file of its end until they meet (tests/ends.py), so both end at about the same time.
from-front:
	$(BIN)/pytest tests -q

from-back:
	THENGA_END=back $(BIN)/pytest tests -q

check: lint types test ## Run everything that CI runs

# The walks over all operations; a planted bug asks for operations of more than one domain.
WALKS := $(addprefix tests/suites/test_,tenants_matrix.py schema_fuzz.py examples.py locations.py \
	sorts.py sweeps_routes.py sweeps_moves.py sweeps_events.py sweeps_tables.py)

check-domain: lint types ## Check one domain: lint, types, tests, flows and walks: D=billing
	@test -d tests/domains/$(D) -a -n "$(D)" || { echo "name a domain: make check-domain D=billing"; exit 2; }
	$(MAKE) --no-print-directory -j2 --output-sync=target domain-tests domain-walks D=$(D)

domain-tests:
	$(BIN)/pytest tests/domains/$(D) $$(grep -l "$(D)" tests/flows/test_*.py) -x -q

domain-walks:
	THENGA_DOMAIN=$(D) $(BIN)/pytest $(WALKS) -x -q -k "not planted"

corpus: ## Update the fuzz corpus of operations whose schema has changed
	PYTHONPATH=. $(BIN)/python -m tests.suites.corpus

prove: grown ## Run the suites in full size and print their figures
	THENGA_PROVE=1 $(BIN)/pytest tests/suites tests/domains -s

# What the walks cost with the operations of fifteen domains; judged by the budget of the walks.
GROWN := 750

grown: ## Walk 750 operations, generated for it, and print what they cost
	rm -rf $(BUDGETS)
	PYTHONPATH=. THENGA_GROWN=$(GROWN) THENGA_BUDGETS=$(BUDGETS) $(BIN)/pytest -p tests.suites.growing -s -q \
		$(WALKS)
	PYTHONPATH=. $(BIN)/python -m tests.budgets $(BUDGETS) walks

alone: ## Run every test file by itself, which takes long
	PYTHONPATH=. $(BIN)/python -m tests.alone

bench: ## Run the benchmarks
	PYTHONPATH=. $(BIN)/python -m tests.bench.run

docs: ## Write the generated pages of docs/
	$(BIN)/thenga docs

where: ## Find a path, code, event, permission or rule: make where Q=BIL-7
	$(BIN)/thenga where "$(Q)"

migrate: ## Update the database
	$(BIN)/thenga migrate
