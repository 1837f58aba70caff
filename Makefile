# Each target makes .venv and installs what it needs first, so that a fresh clone needs nothing but Python, make and cc.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Two workers of one thread each: two of two threads would wait for each other on two cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo test test-fast lint bench clean

demo: $(READY)
	$(BIN)/egoequiv demo -o demo

test: $(READY) lint
	$(PYTEST)

test-fast: $(READY)
	$(PYTEST) -m "not slow and not real"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]' -c constraints.txt
	touch $(READY)
