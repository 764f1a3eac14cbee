# make run: install what is needed and serve the page. make test: install what is needed, run all checks.
# make check: only the checks that take less than two minutes, to run between commits.
# On Linux the standard torch package includes CUDA; the CPU build from another index is smaller:
#   make run TORCH_INDEX=https://download.pytorch.org/whl/cpu
# SERVE passes options to 'stickler serve': make run SERVE='--port 8000 --open'

PYTHON ?= python3
TORCH_INDEX ?=
SERVE ?=
BIN := .venv/bin
TORCH := $(shell grep '^torch==' requirements.lock)
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: run test check static pytest browser bench lock clean
.DELETE_ON_ERROR:

run: .venv/run
	$(BIN)/stickler serve $(SERVE)

# Two processes share the tests, file by file; the static checks run in parallel.
test: .venv/test browser
	$(MAKE) --no-print-directory --jobs=2 static pytest

check: .venv/test
	$(MAKE) --no-print-directory --jobs=2 static pytest TESTS="-m 'not slow and not browser'"

pytest: .venv/test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=2 --dist=loadfile $(TESTS)

static: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A stamp file marks a finished installation; changing the lock or pyproject.toml reinstalls.
.venv/run: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stickler needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(PIP) --constraint requirements.lock $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) '$(TORCH)'
	sed '/^# development/,$$d' requirements.lock > .venv/runtime.lock
	$(PIP) --no-deps -r .venv/runtime.lock
	$(PIP) --no-deps --editable .
	touch $@

.venv/test: .venv/run
	$(PIP) --no-deps -r requirements.lock
	touch $@

# The page's tests need a browser: an installed one, Playwright's own, or the system's package.
browser: .venv/test
	@$(BIN)/python tests/browser.py || $(BIN)/playwright install chromium \
	  || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }
	@$(BIN)/python tests/browser.py

bench: .venv/test
	$(BIN)/python -m bench

# First the runtime packages, then those that the development extras add.
lock:
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet '$(TORCH)' --editable .
	.venv-lock/bin/pip freeze --exclude-editable | sed 's/+cpu//' | sort -f > .venv-lock/run
	.venv-lock/bin/pip install --quiet --editable '.[dev,mcp,ray,tune]'
	.venv-lock/bin/pip freeze --exclude-editable | sed 's/+cpu//' | sort -f > .venv-lock/all
	{ sed '/^[^#]/,$$d' requirements.lock; cat .venv-lock/run; echo '# development'; \
	  comm -13 .venv-lock/run .venv-lock/all; } > .venv-lock/new
	mv .venv-lock/new requirements.lock && rm -rf .venv-lock

clean:
	rm -rf .venv .venv-lock build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
