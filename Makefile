# Two commands carry the project: `make lab` opens the notebooks, `make test` proves everything.
# Each does its own set-up, once, in .venv; a changed pyproject.toml brings it up to date.
#   make lab PORT=0 BROWSER=0      no browser is opened, the address with its token is printed
#   make lab PYTHON=python3.12     another Python for a new .venv
# `make bench` prints the tables of tests/qa/bench, some twenty minutes of them, each figure that has a
# goal beside it, and ends with an error if one is missed and not explained there.
#   make bench BENCHES=client      one of them
#   make bench BENCH_INSTALL=1     fetches wrk (apt-get, as root) and peers of Node (npm) first
# `make contract NAME=staging` checks every fact of the API document against an account of yours, by
# the name under which `chatkit login` keeps it, and prints which hold, differ, or are unknown.
#   make contract NAME=staging WRITES=1      creates records there, too, and removes them
# `make test SHOTS=1` leaves what the browser tests saw in tests/browser/shots.
# `make qa` is for the night: `make full`, `make days`, `make fuzz`, `make faults`, and the tests of
# the tools in tests/qa: oracles, fault harness, mutants, benches.
# `make full` runs every test of a resource under every service profile (`make test`: each under a
# share of them) and properties with ten times as many examples and more, in half an hour or so.
# `make days` runs the notebooks, and what compares times with now, on several other days.
# `make faults` applies 10,000 rows under faults and 1,000 kills, some 20 minutes, and ends with
# an error if one row was lost, doubled or falsely reported; of a fleet on a cluster it kills the
# worker, the scheduler, the notebook and the sessions of the database.
#   make faults ROWS=1000 KILLS=100 SEED=7
# `make fuzz` spoils every file that chatkit reads and prints raw exceptions, hangs, memory and files
# that are written outside; 2,000 of each kind take some eight minutes.
#   make fuzz MUTATIONS=100000 SEED=7
# `make mutants` plants small faults in the core modules and prints those that no test notices.
#   make mutants MODULES="listing bulk/undo" COUNT=20 SEED=7
# `make docs` builds the API reference in .cache/docs.
# `make pictures` takes the pictures of the README anew, half a minute, in real JupyterLab.
PYTHON  ?= python3
PORT    ?= 8888
BROWSER ?= 1
BENCHES ?= imports client throttle apply frames plan flatness sandbox telephone spreadsheets lint templates inbox account fleet plans
ROWS    ?= 10000
KILLS   ?= 1000
SEED    ?= 0
MUTATIONS ?= 2000
NAME    ?=
WRITES  ?=
INTERRUPTS ?= 100
MODULES ?=
COUNT   ?= 40
PY := .venv/bin/python
TOOLS := tests/qa:tests
# The notebooks, and the tests of what compares times of the service, of deliveries and of runs with
# now, must not notice what day it is: a late evening in another decade, and at night a leap day.
DAY   := 2031-12-31T23:30:00Z
DAYS  := $(DAY) 2028-02-29T12:00:00Z
DATED := tests/webhooks/test_health.py tests/inbox/test_frames.py tests/inbox/test_statuses.py \
         tests/inbox/test_inspection.py tests/inbox/test_delivered.py tests/sandbox/test_clock.py \
         tests/sandbox/test_access.py tests/sandbox/test_scenario.py tests/widgets/inbox tests/account/test_history.py

# Kernels and programs of these tests live on that day too.
on_day = env 'PYTHONPATH=$(CURDIR)/tests/qa/otherday' TODAY=$(1) $(PY)
DATED_RUN := --nbval --nbval-current-env --nbval-cell-timeout=60 notebooks $(DATED)

# As many processes as there are cores run the suite (conftest.py), four at most.
# Only the notebooks need nbval, which takes each process a second and a half to import.
SHARED := -p no:nbval -n auto --maxprocesses=4 --dist worksteal
# Each process of the browser tests has a Lab, a browser and kernels of its own beside it.
WINDOWS := -n 2 --dist loadfile
# What fails beside the others is run once more, alone (a notebook from its first cell). What fails
# again is red; what passes then stays on the page: it depends on load, and that is a fault to find.
AGAIN  := --last-failed --last-failed-no-failures=none
tested = { $(or $(4),$(PY)) -m pytest $(1) $(2) || { [ $$? -eq 1 ] && \
  echo "Once more, alone, what failed beside others:" && $(or $(4),$(PY)) -m pytest -n 0 $(3) $(2) && \
  echo "Green only alone: see what failed above."; }; }

EXTENSION := $(wildcard chatkit/widgets/labextension/* chatkit/widgets/labextension/static/*)
export UV_HTTP_TIMEOUT ?= 180
# Compiled once: otherwise each kernel, and each process that a test starts, compiles a thousand
# modules for itself, again and again where the shell says not to keep them.
export UV_COMPILE_BYTECODE ?= 1
unexport PYTHONDONTWRITEBYTECODE
# uv is quick; pip knows the mirrors and the authorities in its own configuration, and goes on where
# uv could not. Then one line says so; what uv wrote is in .venv/uv.log.
# UV_RESOLUTION=lowest-direct tries the lower bounds of pyproject.toml, which pip cannot.
install = @echo "Installing $(1): a minute or two, the first time."; \
  .venv/bin/uv pip install --python $(PY) $(1) 2>.venv/uv.log || \
  $(if $(filter lowest%,$(UV_RESOLUTION)),{ cat .venv/uv.log; exit 1; },{ \
    echo "uv could not install it: pip goes on, slower."; $(PY) -m pip install --quiet $(1); })
# Debian and Ubuntu ship Python without venv: fetched where this user may.
as_root := $(if $(filter 0,$(shell id -u)),,sudo -n) env DEBIAN_FRONTEND=noninteractive
# Lab asks about news on its first start unless the default says no; your own settings still win.
quiet := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}

.PHONY: lab test check docs contract bench faults full days fuzz qa mutants pictures clean compiled
.DELETE_ON_ERROR:

lab: compiled
	@$(PY) -m chatkit lab --port=$(PORT) $(if $(filter 0,$(BROWSER)),--no-browser)

test: check
	$(PY) tests/browser/chromium.py
	@$(call tested,$(SHARED),,$(AGAIN))
	@echo "The notebooks, and what compares times with now, on $(DAY):"
	@$(call tested,$(WINDOWS),$(DATED_RUN),,$(call on_day,$(DAY)))
	@$(call tested,$(WINDOWS),-p no:asyncio -p no:nbval tests/browser,$(AGAIN))

check: .venv/ready-test compiled
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	@$(PY) tests/size.py
	@$(PY) tests/wording.py
	@PYTHONPATH=tests $(PY) tests/crossings.py

# Without the conftest.py above it, which hides your connections from all other tests.
contract: .venv/ready-test
	@$(PY) -m pytest --confcutdir=tests/contract -p no:cacheprovider -p no:nbval -q --timeout=0 \
	  --tb=no -rN --account="$(or $(NAME),$(error make contract NAME=a connection of yours))" \
	  $(if $(filter 1,$(WRITES)),--writes) tests/contract/test_facts.py

bench: .venv/ready-test .venv/ready-bench
	@missed=; broken=; for each in $(BENCHES); do $(PY) tests/qa/bench/$$each.py; \
	  case $$? in 0) ;; 3) missed="$$missed $$each" ;; *) broken="$$broken $$each" ;; esac; done; \
	[ -z "$$missed$$broken" ] || { \
	  echo; echo "Goals are missed and not explained in:$${missed:- none}. Did not run:$${broken:- none}."; exit 1; }

faults: .venv/ready-test
	@PYTHONPATH=$(TOOLS) OPENBLAS_NUM_THREADS=1 $(PY) -m faults --rows $(ROWS) --kills $(KILLS) --seed $(SEED)
	@PYTHONPATH=$(TOOLS) $(PY) -m faults.interrupts $(INTERRUPTS)
	@PYTHONPATH=$(TOOLS) $(PY) -m faults.fleet
	@PYTHONPATH=$(TOOLS) $(PY) -m faults.inbox --kills $(shell expr $(KILLS) / 5) --seed $(SEED)

qa: full days fuzz faults .venv/ready-test .venv/ready-bench
	$(PY) -m pytest -n 0 -p no:nbval --timeout=1200 tests/qa

days: .venv/ready-test
	@for day in $(DAYS); do $(call on_day,$$day) -m pytest $(WINDOWS) $(DATED_RUN) || exit 1; done

full: .venv/ready-test
	TEST_VOLUME=full $(PY) -m pytest $(SHARED) --timeout=1200
	$(PY) tests/browser/chromium.py
	TEST_VOLUME=full $(PY) -m pytest -n 0 -p no:asyncio -p no:nbval tests/browser/test_player.py

fuzz: .venv/ready-test
	@$(PY) tests/qa/fuzz.py --mutations $(MUTATIONS) --seed $(SEED)

compiled: .venv/ready-lab  # what was edited since the installation
	@$(PY) -m compileall -q chatkit

mutants: .venv/ready-test
	@PYTHONPATH=$(TOOLS) $(PY) -m mutants $(MODULES) --count $(COUNT) --seed $(SEED)

docs: .venv/ready-docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --config-file docs/mkdocs.yml

pictures: .venv/ready-test compiled
	@$(PY) tests/browser/chromium.py
	@PYTHONPATH=tests $(PY) -m browser.pictures

clean:
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/ready-lab: pyproject.toml $(EXTENSION) $(PY)
	$(call install,-e .[fleet])
	@mkdir -p .venv/share/jupyter/lab/settings
	@echo '$(quiet)' > .venv/share/jupyter/lab/settings/overrides.json
	@touch $@

.venv/ready-test .venv/ready-bench .venv/ready-docs: .venv/ready-%: .venv/ready-lab
	$(call install,--group $*)
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "chatkit needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(as_root) apt-get update && \
	  $(as_root) apt-get install --yes --no-install-recommends python3-venv; } || \
	  { echo "This Python makes no virtual environments: install python3-venv, or pass PYTHON="; exit 1; }
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --upgrade pip
	@$(PY) -m pip install --quiet uv 2>.venv/uv.log || true
