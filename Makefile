# `make demo` and `make test` need only Python 3.11+, make and the package registry.
PYTHON ?= python3
BIN := .venv/bin

# Made-up words, some often, some seldom: half a megabyte to compress.
define TEXT
import random; r = random.Random(1); \
w = [''.join(r.choices('etaoinshrdlu', k=r.randint(2, 9))) for _ in range(3000)]; \
print(*r.choices(w, weights=[1 / k for k in range(1, 3001)], k=80000))
endef

, := ,

.PHONY: demo test bench docs notebooks lint clean postgres chromium lowest newest dist-check

demo: .venv/kernels
	$(BIN)/prepex run covboost --rule information --rule frappe --rule uniform --delta 0.1 --delta 0.01 \
		--threshold heuristic --runs 30 --seed 0 --save out/covboost.csv --plot out/covboost.png
	$(BIN)/prepex pareto snw --cone angle:90 --cone angle:120 --plot out/snw.png --format json > out/snw.json
	@echo "All runs: out/covboost.csv, out/covboost.png. The fronts of the sorting networks: out/snw.png, out/snw.json"
	@echo "A race, for real: which levels of gzip and xz are worth keeping, by time and size?"
	@rm -f out/levels.db* out/levels.jsonl
	cd out && ../$(BIN)/python -c "$(TEXT)" > words.txt && (../$(BIN)/prepex race \
		'gzip -{level} -kc words.txt' --with level=1,3,6,9 -n 'gzip -{level}' \
		$(if $(shell command -v xz),'xz -{level} -kc words.txt' --with level=0$(,)3$(,)6 -n 'xz -{level}') \
		--minimise time --minimise output --tolerance time=10% --warmup 1 --budget 45s \
		--storage levels.db --study levels --report levels.html --export levels.md; test $$? -eq 0 -o $$? -eq 3)
	@echo "The race as a page: out/levels.html; as a table: out/levels.md. The same command goes on with it."

# What the tests need is installed while the code is checked. Three workers for two cores: many tests wait for others.
test: .venv/kernels
	$(MAKE) -j 2 lint chromium
	$(BIN)/python -m pytest -n 3 --dist loadfile

# The tests start a PostgreSQL server of their own.
postgres:
	@ls /usr/lib/postgresql/*/bin/pg_ctl > /dev/null 2>&1 || command -v pg_ctl > /dev/null \
		|| (apt-get update -qq && apt-get install -y -qq postgresql > /dev/null)

# The tests of the dashboard drive a Chromium; its driver comes from the same packages.
chromium: postgres
	@test -x /usr/bin/chromium -a -x /usr/bin/chromedriver \
		|| (apt-get update -qq && apt-get install -y -qq chromium chromium-driver > /dev/null)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Timings; `make bench PARTS=guarantee` measures the error of the certified threshold on 22 instances x 300 runs.
bench: .venv/kernels
	$(BIN)/python -m benchmarks $(PARTS)

# Execute the notebooks of the pages and keep what they show.
notebooks: .venv/kernels
	$(BIN)/python docs/notebooks/run.py

docs: .venv/ready
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# What pyproject.toml promises, each in a fresh environment, minutes in all and no part of `make test`:
#   lowest      the lowest versions that it names, on the oldest Python
#   newest      the newest versions there are, on the newest Python that is here
#   dist-check  wheel and sdist, installed bare: what needs an extra says which
OLDEST_PYTHON ?= $(call python,3.11)
NEWEST_PYTHON ?= $(call python,3.14 3.13 3.12 3.11)
CORE ?= tests/test_core_story.py tests/test_extras.py tests/test_cli.py tests/test_study_cli.py tests/test_study.py \
	tests/test_experiment.py tests/test_bound.py tests/test_study_check.py
USED := .[plot,frame,dask,study,postgres,server,optuna]
# The first of these versions that runs; pyenv runs those that it has only if it is told to.
python = $(shell for v in $(1); do PYENV_VERSION=$$v python$$v -c 'import sys; print(sys.executable)' 2> /dev/null && break; done)

lowest: INSTALL := --resolution lowest-direct
lowest: TRIED_PYTHON = $(OLDEST_PYTHON)
newest: TRIED_PYTHON = $(NEWEST_PYTHON)
lowest newest:
	rm -rf .venv-$@ && $(TRIED_PYTHON) -m venv .venv-$@
	.venv-$@/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-$@/bin/uv pip install --quiet --python .venv-$@/bin/python $(INSTALL) "$(USED)" "pytest>=8" "hypothesis>=6" "httpx2>=2"
	.venv-$@/bin/uv pip list --quiet --python .venv-$@/bin/python
	@# Old packages warn of what later ones changed; that is no failure.
	.venv-$@/bin/python -m pytest -W default $(CORE)

dist-check:
	tests/dist_check.sh "$(OLDEST_PYTHON)" out/dist

.venv/ready: pyproject.toml
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'prepex needs Python 3.11 or newer'"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@# A tenth of the time; pip knows places for packages that uv does not.
	$(BIN)/uv pip install --quiet --python $(BIN)/python -e ".[dev]" \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

# Machine code of the benchmarks' own loops holds kernels: forget all of it when any of them changes.
.venv/kernels: .venv/ready $(wildcard src/prepex/_kernels/*.py src/prepex/_kernels/*/*.py)
	find src benchmarks -name '*.nb[ic]' -delete
	mkdir -p out
	touch $@

clean:
	rm -rf .venv out docs/_build
	find . -name '__pycache__' -prune -exec rm -rf {} +
