# The two commands of the README are `make run` and `make test`; `make` alone lists the rest.
# All paths are relative, so the checkout may live in a folder with spaces in its name.

PYTHON ?= python3
WORKERS ?= 4
EXAMPLES ?= 2000
MOVES ?= 20000
SEEDS ?= 10
GAMES ?= 1000000
VENV := .venv
PY := $(VENV)/bin/python

SOURCES = $(wildcard engine pbem migrations tests)
TYPED = $(wildcard engine pbem tests)
# What a command measures goes into the handbook, with what was typed; a part of one that ARGS chooses is no measurement.
FIGURES = PBEM_TEST_FIGURES='$(if $(ARGS),,$(1))'
SLOW_MARKS = slow or postgresql or browser or mail_tools or bench

# Without compiled files, each of the hundreds of processes that tests start would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sort | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

.PHONY: run
run: $(VENV)/.run-ready ## Start the server on this machine, with a mailbox, nothing to configure
	$(VENV)/bin/pbem serve

.PHONY: test
test: $(VENV)/.dev-ready ## Run the whole suite, PostgreSQL included (one test: make test ARGS="-k name")
	$(PY) -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

.PHONY: check
check: lint quick ## Everything to do before a commit: lint, types, walls, quick tests

.PHONY: lint
lint: $(VENV)/.dev-ready ## Style, types and the walls between packages
	$(PY) -m ruff check $(SOURCES)
	$(PY) -m ruff format --check $(SOURCES)
	$(PY) -m mypy $(TYPED)
	$(VENV)/bin/lint-imports

.PHONY: quick
quick: $(VENV)/.dev-ready ## Only the quick tests, with few examples each
	$(PY) -m pytest -n $(WORKERS) --dist loadgroup --hypothesis-profile=quick -m "not ($(SLOW_MARKS))" $(ARGS)

.PHONY: format
format: $(VENV)/.dev-ready ## Rewrite the sources in our style
	$(PY) -m ruff check --fix $(SOURCES)
	$(PY) -m ruff format $(SOURCES)

.PHONY: bench
bench: $(VENV)/.dev-ready ## Measure, and print ratios (never part of the tests; bots' strength takes hours: make bench ARGS="-k strength")
	$(call FIGURES,bench) $(PY) -m pytest -m bench -p no:randomly -p no:xdist --capture=no \
		$(or $(ARGS),--ignore=tests/bench/test_strength.py) tests/bench

.PHONY: scale
scale: $(VENV)/.dev-ready ## Measure among a million games and ten million emails (hours; fewer: make scale GAMES=10000)
	PBEM_TEST_GAMES=$(GAMES) $(call FIGURES,scale GAMES=$(GAMES)) $(PY) -m pytest -m bench -p no:randomly -p no:xdist --capture=no \
		--ignore=tests/scale/test_community.py tests/scale $(ARGS)

.PHONY: community
community: $(VENV)/.dev-ready ## Measure the pages around a million finished games of 100,000 people (half an hour or more)
	PBEM_TEST_GAMES=$(GAMES) $(call FIGURES,community GAMES=$(GAMES)) $(PY) -m pytest -m bench -p no:randomly -p no:xdist --capture=no \
		tests/scale/test_community.py $(ARGS)

.PHONY: soak
soak: $(VENV)/.dev-ready ## Play 20,000 moves on processes that die, and simulate ten seeds (an hour or more)
	PBEM_TEST_ALL=1 PBEM_TEST_MOVES=$(MOVES) $(call FIGURES,soak MOVES=$(MOVES)) $(PY) -m pytest -p no:xdist --capture=no tests/crash $(ARGS)
	$(MAKE) simulate ARGS='--seeds $(SEEDS) --games 100 --days 10'

.PHONY: twins
twins: $(VENV)/.dev-ready ## Look for anyone's address before others, with every address of every story changed
	PBEM_TEST_ALL=1 $(call FIGURES,twins) $(PY) -m pytest -n $(WORKERS) --dist loadgroup tests/twins/test_addresses.py $(ARGS)

.PHONY: faults
faults: $(VENV)/.dev-ready ## Break every transaction at every call to the database (a quarter of an hour; the tests try a slice)
	PBEM_TEST_ALL=1 $(call FIGURES,faults) $(PY) -m pytest -n $(WORKERS) --dist loadgroup tests/faults $(ARGS)

.PHONY: kit
kit: $(VENV)/.dev-ready ## Check every game with every set of options (an hour; the tests check one game so)
	PBEM_TEST_ALL=1 $(call FIGURES,kit) $(PY) -m pytest -n $(WORKERS) tests/engine/test_conformance.py -k every_set_of_options $(ARGS)

.PHONY: everything
everything: $(VENV)/.dev-ready ## The suite with all cases of which it usually tries a slice: make everything ARGS=tests/ops
	PBEM_TEST_ALL=1 $(PY) -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

.PHONY: fuzz
fuzz: $(VENV)/.dev-ready ## Try every door with thousands of hostile inputs (an hour or more; the tests try a slice)
	PBEM_TEST_ALL=1 PBEM_TEST_EXAMPLES=$(EXAMPLES) $(call FIGURES,fuzz EXAMPLES=$(EXAMPLES)) $(PY) -m pytest -n $(WORKERS) --timeout=3600 -m "bench or not bench" tests/fuzz $(ARGS)

.PHONY: laws
laws: $(VENV)/.dev-ready ## Try the laws of deadlines on generated histories: make laws EXAMPLES=100000 (an hour or more)
	PBEM_TEST_EXAMPLES=$(EXAMPLES) $(PY) -m pytest -n $(WORKERS) --timeout=0 --hypothesis-profile=thorough \
		tests/domain/test_deadline_laws.py tests/domain/test_bank.py tests/domain/test_week.py $(ARGS)

.PHONY: simulate
simulate: $(VENV)/.dev-ready ## Play simulated weeks with faults: make simulate ARGS="--seed 7 --games 50 --days 5"
	PBEM_TEST_FIGURES='simulate$(if $(ARGS), ARGS="$(ARGS)")' $(PY) -m tests.sim $(ARGS)

.PHONY: mutants
mutants: $(VENV)/.dev-ready ## Plant faults in the server and in the games, and see whether the simulator and the kit find them
	PBEM_TEST_ALL=1 $(call FIGURES,mutants) $(PY) -m pytest -n $(WORKERS) --dist loadgroup -k planted tests/sim tests/engine/test_conformance.py $(ARGS)

.PHONY: golden
golden: $(VENV)/.dev-ready ## Make the golden games anew, to be read in review (one game: make golden ARGS=bid)
	$(PY) -m engine.testing golden --remake $(ARGS)

.PHONY: reference
reference: $(VENV)/.dev-ready ## Write the handbook's reference page of the engine from its docstrings
	$(PY) -m engine reference > pbem/handbook/engine-reference.md

.PHONY: coverage
coverage: $(VENV)/.dev-ready ## The whole suite in one process, with branch coverage
	$(PY) -m coverage run -m pytest $(ARGS)
	$(PY) -m coverage report

.PHONY: audit
audit: $(VENV)/.dev-ready ## Ask for known vulnerabilities in what the lock installs; fails where one package is not known
	grep -q -- --hash= requirements.lock
	$(VENV)/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.lock

LOCK = $(VENV)/bin/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-config --no-emit-index-url --no-emit-find-links --all-extras \
	--no-emit-package pbem-engine --custom-compile-command "make lock"

.PHONY: lock
lock: $(VENV)/.dev-ready ## Write both lock files anew (newest versions: make lock ARGS=--upgrade)
	$(LOCK) --group install $(ARGS) -o requirements.lock
	$(LOCK) --group dev --constraints requirements.lock $(ARGS) -o requirements-dev.lock

.PHONY: migration
migration: $(VENV)/.dev-ready ## Write the database's next step: make migration ARGS="Say what changes"
	$(PY) migrations/write.py $(ARGS)
	$(PY) -m ruff check --quiet --fix migrations && $(PY) -m ruff format --quiet migrations

.PHONY: catalogue
catalogue: $(VENV)/.dev-ready ## Gather every message that people read, for translators, into build/messages.pot
	mkdir -p build && $(VENV)/bin/pybabel --quiet extract --mapping=pyproject.toml --keyword=mark --keyword=translate \
		--project=pbem --output=build/messages.pot .

.PHONY: wheel
wheel: $(VENV)/.dev-ready ## Build the two wheels, the engine's and the server's, into dist/
	$(PY) -m build --wheel --no-isolation --outdir dist engine
	$(PY) -m build --wheel --no-isolation --outdir dist

.PHONY: clean
clean: ## Remove the environment, caches and builds; never a server's data
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.*
	rm -rf .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name .git -prune -o -type d -name __pycache__ -exec rm -rf {} +

# The environment. A stamp file is written last, so an install that was cut short is
# repeated; the dev lock holds everything the run lock does, at the same versions, so one
# environment serves both and installing the larger set also satisfies the smaller. An
# environment names its own folder in its scripts: in a checkout that moved it is made anew.

MOVED := $(shell [ "$$(cat $(VENV)/.home 2>/dev/null)" = "$$(pwd)" ] || echo moved)
.PHONY: moved

$(VENV)/.run-ready: requirements.lock pyproject.toml engine/pyproject.toml $(MOVED)
	@bash .ci/environment '$(PYTHON)' $(VENV) requirements.lock
	@touch $@

$(VENV)/.dev-ready: requirements.lock requirements-dev.lock pyproject.toml engine/pyproject.toml $(MOVED)
	@bash .ci/environment '$(PYTHON)' $(VENV) requirements-dev.lock
	@touch $(VENV)/.run-ready $@
