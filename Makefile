# make run | test | lint | bench | clean
#
# Each target first makes .venv, if it is missing or older than pyproject.toml.
# Needs: Python 3.11 or newer, with venv or pip.
# PYTHON=... chooses the interpreter, PIP_FLAGS=-qq silences pip, ARGS=... is handed to the program that runs.

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
PIP_FLAGS ?=
ARGS ?=
PYTEST_FLAGS ?= -n 2 --dist loadgroup

BIN := .venv/bin
READY := .venv/.ready

.PHONY: help run test lint bench clean

help:
	@echo "make run     the demonstration: fuse, decompose and run real programs"
	@echo "make test    all tests (pytest and lit)"
	@echo "make lint    ruff and pyright"
	@echo "make bench   measure against peers"
	@echo "make clean   remove .venv and everything else that was made here"

run: $(READY)
	$(BIN)/python benchmarks/main_job.py $(ARGS)

test: $(READY)
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

# OpenBLAS is measured as it comes: no core type or cache size forced on it.
bench: $(READY)
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python benchmarks/run.py $(ARGS)

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .benchmarks *.egg-info
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# Debian without python3-venv has no ensurepip: then the system's pip puts pip into the environment.
$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer found; name one with PYTHON=..." >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	  echo "== making .venv with $(PYTHON)"; \
	  rm -rf .venv; \
	  "$(PYTHON)" -m venv .venv >/dev/null 2>&1 || { \
	    echo "== no ensurepip here; taking pip from the system's pip"; \
	    rm -rf .venv; \
	    "$(PYTHON)" -m venv --without-pip .venv && \
	    "$(PYTHON)" -m pip --python $(BIN)/python install $(PIP_FLAGS) pip; \
	  } || { \
	    rm -rf .venv; \
	    echo "error: cannot make .venv; install python3-venv or python3-pip (22.3 or newer)" >&2; \
	    exit 1; \
	  }; \
	}
	@echo "== installing xfuse with its development tools into .venv (some 400 MB to download the first time)"
	@$(BIN)/python -m pip install --disable-pip-version-check $(PIP_FLAGS) -e '.[dev]'
	@touch $@
