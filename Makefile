# Needs Python 3.11 or later, git and make. Everything lives in .venv; nothing outside of the checkout changes.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash

export PYTHON BENCH_DATA
export PIP_DISABLE_PIP_VERSION_CHECK := 1

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install -qq

.PHONY: help demo test ui-test soak clients fixtures bench bench-speed reference mcpb fmt clean FORCE

help:
	@echo 'make demo         ask the example notes four questions, in a temporary folder'
	@echo 'make test         lint, types, architecture and every test'
	@echo 'make ui-test      the pages in Chromium, with pictures in build/ui (installs Chromium where apt-get can)'
	@echo 'make soak         ten and a hundred thousand requests to one server: no more memory, files or threads'
	@echo 'make clients      the real agents against a stand-in for their model (AGENTS=folder for the programs)'
	@echo 'make fixtures     stores that real memory tools write, imported (STORES=folder for the programs)'
	@echo 'make reference    docs/reference: every command, tool, route and method, from the operations'
	@echo 'make mcpb         build/bundles: clawmem.mcpb, and the plugin for clients of Agent Plugins'
	@echo 'make fmt          put imports and layout in order'
	@echo 'make bench        quality on judged collections: make bench DATA=/path/to/collections'
	@echo 'make bench-speed  speed and memory'
	@echo 'make clean        remove .venv and everything else that was made here'
	@echo 'PYTHON=/path/to/python chooses the interpreter of .venv.'

demo: $(VENV)/installed
	@PATH="$$PWD/$(BIN):$$PATH" bash examples/demo.sh

# Every check runs, whatever the others say; pytest last, so that its summary is the end of it.
test: $(VENV)/installed-dev
	@PATH="$$PWD/$(BIN):$$PATH"; failed=; \
	run() { echo "$$*"; "$$@" || failed="$$failed; $$*"; }; \
	run ruff check --quiet .; \
	run ruff format --check --quiet .; \
	run mypy; \
	run lint-imports --no-logo; \
	if [ -n "$$failed" ]; then echo "Failed: $${failed#; } (the tests run all the same)" >&2; fi; \
	run pytest -n auto --dist loadfile; \
	[ -z "$$failed" ]

# Two of the pictures, and the rest of it, are part of `make test` where a Chromium is.
ui-test: $(VENV)/installed-dev
	@command -v chromium chromium-browser google-chrome > /dev/null || apt-get install -y --no-install-recommends chromium
	@UI_ALL=1 $(BIN)/pytest -n 0 tests/integration/test_pages_browser.py tests/integration/test_pages_injection.py

# Its short twin is part of `make test`.
soak: $(VENV)/installed-dev
	@$(BIN)/pytest tests/integration/test_doors.py -m slow -k no_more_and_more_for_long -s

# The programs are installed once, by npm and pip.
AGENTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/clawmem-agents
clients: $(VENV)/installed-dev
	@bash tests/install_agents.sh "$(AGENTS)"
	@AGENTS_FOLDER="$(AGENTS)" CLAUDE_FOLDER="$(AGENTS)/bin" $(BIN)/pytest -m client -n 0 \
		tests/integration/test_real_agents.py tests/integration/test_real_client.py \
		tests/integration/test_real_openclaw.py tests/integration/test_real_sessions.py tests/integration/test_mcp_conformance.py

STORES ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/clawmem-stores
fixtures: $(VENV)/installed-dev
	@bash tests/install_stores.sh "$(STORES)"
	@STORES_FOLDER="$(STORES)" $(BIN)/pytest -m client -n 0 tests/integration/test_real_stores.py

# DATA is one judged collection, or a folder of them: NAME/dev/queries.jsonl and what belongs to it.
DATA ?= $(BENCH_DATA)
ifneq ($(DATA),)
bench: $(VENV)/installed-dev
	@PYTHONPATH=tests $(BIN)/python tools/bench/quality.py "$(DATA)"
	@PYTHONPATH=tests $(BIN)/python tools/bench/ablation.py "$(DATA)"
	@PYTHONPATH=tests $(BIN)/python tools/bench/surfacing.py "$(DATA)"
	@PYTHONPATH=tests $(BIN)/python tools/bench/notes.py "$(DATA)"
	@PYTHONPATH=tests $(BIN)/python tools/bench/write_benchmarks.py
else
bench:
	@echo 'Say where the judged collections are: make bench DATA=/path/to/collections' >&2; exit 2
endif

bench-speed: $(VENV)/installed-dev
	@$(BIN)/pytest tools/bench -m bench -s

reference: $(VENV)/installed-dev
	@$(BIN)/python tools/reference.py

mcpb: $(VENV)/installed-dev
	@$(BIN)/python tools/bundles.py

fmt: $(VENV)/installed-dev
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

clean:
	rm -rf $(VENV) build dist *.egg-info app/_version.py .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# -- the environment ----------------------------------------------------------------------------------

# A checkout that was moved or copied brings its .venv along, which still points to the old place: make it anew.
ifneq ($(shell cat $(VENV)/place 2>/dev/null),$(CURDIR))
$(VENV)/place: FORCE
endif

$(VENV)/place:
	@set --; \
	if [ -n "$$PYTHON" ]; then set -- "$$PYTHON"; else set -- python3 python3.13 python3.12 python3.11; fi; \
	for python; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$python ($$("$$python" --version))"; \
			"$$python" -m venv $$(if [ -f $@ ]; then echo --clear; fi) $(VENV) && pwd -P > $@; exit; \
		fi; \
	done; \
	echo "No Python 3.11 or later was found (tried: $$*). Install one, or name it: make PYTHON=/path/to/python" >&2; \
	exit 1

# What clawmem needs to run.
$(VENV)/installed: $(VENV)/place pyproject.toml
	@echo 'Installing clawmem'
	@$(PIP_INSTALL) --editable .
	@touch $@

# The same with everything that checks it. Dependency groups need a pip of 2025.
$(VENV)/installed-dev: $(VENV)/place pyproject.toml
	@echo 'Installing clawmem and the tools that check it'
	@$(PIP_INSTALL) --upgrade 'pip>=25.1'
	@$(PIP_INSTALL) --editable '.[contracts]' --group dev
	@touch $(VENV)/installed $@
