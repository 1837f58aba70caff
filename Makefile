# Each target makes .venv and installs what it needs first, so that a fresh clone needs nothing but Python, make and cc.
# Modules are compiled when they are first imported: most of those that are installed never are.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Compiled modules are kept, whatever the environment says: without them each process that the tests start would compile
# all that it imports.
export PYTHONDONTWRITEBYTECODE :=
# Two workers of one thread each: two of two threads would wait for each other on two cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations 15

FUZZED := OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m

.PHONY: demo test all-tests test-fast lint bench fuzz fuzz-kill browser compiled clean

demo: $(READY)
	$(BIN)/egoequiv demo -o demo

# `make -j 3 test` does all that does not depend on each other side by side: lint is done while the tests run.
test: lint all-tests

all-tests: $(READY) browser compiled
	$(PYTEST)

test-fast: $(READY)
	$(PYTEST) -m "not slow and not real"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Compiled here once, not by each worker of the tests: the modules that are imported, and the worlds.
compiled: $(READY)
	PYTHONPATH=tests $(BIN)/python -c 'from fuzz.running import import_everything; import_everything()'
	$(BIN)/python -c 'from egoequiv.catalog import open_source; \
	  [open_source(world).recordings[0].image(0) for world in ("drive", "places", "turntable")]'

# The report is tested in a real browser. Where it may not be installed those tests are skipped, and say so.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } \
	  || echo "chromium is missing and cannot be installed here: the tests of the report in a browser are skipped"

# With options: make bench BENCH="--only norb --against earlier.json"
bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)

# Damaged inputs and odd options; then kills at random moments. With options: make fuzz FUZZ="--cases 500 --only kitti"
fuzz: $(READY)
	$(FUZZED) fuzz $(FUZZ)

fuzz-kill: $(READY)
	$(FUZZED) fuzz.kills $(FUZZ)

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[all,dev]' -c constraints.txt
	touch $(READY)
