.DEFAULT_GOAL := help
.PHONY: help install up down lock lint types test half-domains half-kernel check check-domain domain-tests \
	domain-walks corpus prove bench docs where migrate

BIN := .venv/bin
UV := $(BIN)/uv
BUDGETS := .budgets
COMPILE := $(UV) pip compile pyproject.toml --universal --generate-hashes --no-header --no-annotate \
	--python-version 3.11 --quiet

help: ## Print these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: ## Make .venv from the lock, by hash, with this package in it
	test -x $(BIN)/python || python3 -m venv .venv
	test -x $(UV) || $(BIN)/python -m pip install --quiet uv
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .

up: ## Start PostgreSQL, NATS, Redis and ClamAV of one's own; .dev/env says where
	$(BIN)/thenga dev up

down: ## Stop them; the data stays
	$(BIN)/thenga dev down

lock: ## Write both locks anew from pyproject.toml; pins stay unless they must move
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --group dev --output-file requirements-dev.lock

lint: ## Style, format and the boundaries between domains
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: ## Types, strictly
	$(BIN)/mypy

test: ## All tests, on real servers: two halves side by side, each with servers of its own
	rm -rf $(BUDGETS)
	THENGA_BUDGETS=$(BUDGETS) $(MAKE) --no-print-directory -j2 --output-sync=target \
		half-domains half-kernel
	-PYTHONPATH=. $(BIN)/python -m tests.budgets $(BUDGETS)

# The walk of the matrix goes over the domains' routes, and makes the halves about equally long.
MATRIX := tests/suites/test_tenants_matrix.py

half-domains:
	$(BIN)/pytest tests/domains tests/flows $(MATRIX) -x -q

half-kernel:
	$(BIN)/pytest tests --ignore=tests/domains --ignore=tests/flows --ignore=$(MATRIX) -x -q

check: lint types test ## What CI runs

# The walks over all operations; a planted bug asks for operations of more than one domain.
WALKS := $(MATRIX) $(addprefix tests/suites/test_,schema_fuzz.py examples.py locations.py \
	sweeps_routes.py sweeps_moves.py sweeps_events.py sweeps_tables.py)

check-domain: lint types ## Lint, types, one domain's tests and flows, walks of its operations: D=billing
	@test -d tests/domains/$(D) -a -n "$(D)" || { echo "name a domain: make check-domain D=billing"; exit 2; }
	$(MAKE) --no-print-directory -j2 --output-sync=target domain-tests domain-walks D=$(D)

domain-tests:
	$(BIN)/pytest tests/domains/$(D) $$(grep -l "$(D)" tests/flows/test_*.py) -x -q

domain-walks:
	THENGA_DOMAIN=$(D) $(BIN)/pytest $(WALKS) -x -q -k "not planted"

corpus: ## Draw the fuzz corpus anew for operations whose description has changed
	PYTHONPATH=. $(BIN)/python -m tests.suites.corpus

prove: ## The suites in their full sizes, with their figures
	THENGA_PROVE=1 $(BIN)/pytest tests/suites tests/domains -s

bench: ## Measure
	PYTHONPATH=. $(BIN)/python -m tests.bench.run

docs: ## Write the generated pages of docs/ anew
	$(BIN)/thenga docs

where: ## Find a path, code, event, permission or rule: make where Q=BIL-7
	$(BIN)/thenga where "$(Q)"

migrate: ## Bring the database up to date
	$(BIN)/thenga migrate
