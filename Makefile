# make demo    set up, capture a small training run here, open it
# make test    set up, then every test
# make fuzz    set up, then try many damaged and hostile files (FUZZ=5000 of each kind)
# make screenshots   set up, then draw docs/screenshots anew
# make check   make test, then linters, types, layers, and the package built and installed from scratch
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
VERSION ?= 2.9.1
FUZZ ?= 5000

.DEFAULT_GOAL := help
.PHONY: help setup demo test fuzz screenshots browser check lint package proto bench test-torch clean

help:
	@sed -n 's/^# //p' Makefile

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "neuron-profile needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[torch,dev]'
	touch $@

demo: setup
	$(BIN)/neuron-explorer demo

# The browser tests drive Debian's chromium; NPROF_APT=1 lets make install it.
browser:
	@if ! command -v chromium >/dev/null && [ "$$NPROF_APT" = 1 ]; then \
		apt-get update -qq && apt-get install -y -qq chromium >/dev/null; fi
	@command -v chromium >/dev/null || printf '\n*** No chromium here: THE BROWSER TESTS WILL BE SKIPPED. Install it (Debian: apt-get install chromium). ***\n\n'

# One worker for each core; the tests of a file stay together.
test: setup browser
	$(BIN)/python -m pytest -n auto --dist loadfile

fuzz: setup
	NPROF_FUZZ_EXAMPLES=$(FUZZ) NPROF_FUZZ_SCALE=10 $(BIN)/python -m pytest tests/fuzz

screenshots: setup browser
	$(BIN)/python docs/screenshots.py

check: test lint package

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

package: setup
	.ci/package $(BIN)/python

# Generated with an old protoc on purpose: the code runs with every protobuf from 5.28 on.
proto:
	$(PYTHON) -m venv build/protoc
	build/protoc/bin/python -m pip install --quiet grpcio-tools==1.68.1
	build/protoc/bin/python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. trace_format/proto/trace.proto

bench: setup
	$(BIN)/python benchmarks/trace_format.py
	$(BIN)/python benchmarks/import.py
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/capture_overhead.py
	$(BIN)/python benchmarks/explorer.py

# The capture tests on another torch, e.g. make test-torch VERSION=2.9.1
test-torch:
	$(PYTHON) -m venv build/torch-$(VERSION)
	build/torch-$(VERSION)/bin/python -m pip install --quiet torch==$(VERSION) -e '.[dev]'
	build/torch-$(VERSION)/bin/python -m pytest tests/capture

clean:
	rm -rf $(VENV) build dist profile_output
