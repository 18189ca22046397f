# Everything that these make stays in this folder: .venv, .cache and the software GPU's library. Only
# Jupyter and IPython keep settings, history and what they run in your home folder, as ever.
PYTHON ?= python3
RUN := .venv/bin/python -m
LAB := --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/work/00_first_kernel.ipynb
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
PARALLEL := -n logical
WEEK = $(or $(SEED),$(shell date +%G-W%V))
CHANGED = $(shell git diff --name-only $(or $(SINCE),HEAD) 2>/dev/null)
SAMPLE = --sample=$(FRACTION) --sample-tests=$(TESTS) --sample-seed=$(WEEK)
NBVAL := --nbval-lax --nbval-current-env --nbval-cell-timeout=120 \
	--nbval-sanitize-with tests/course/nbval_sanitize.cfg
CUDA = $$(find bench cuda_src exercises softgpu tests -name '*.cu' -o -name '*.cuh' -o -name '*.[ch]')

# SOLUTIONS=0: the students' edition of lab and book
export COURSE_SOLUTIONS ?= $(SOLUTIONS)
# or each of hundreds of processes would compile all of Python's packages again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: lab fresh book exercises figures translations mutants fuzz test test-all portable products check coverage size setup lint format record bench bench-gpu pycuda-tests numba-tests \
	cuda-core-tests cuda-bindings-tests numba-mlir-tests reikna-tests taichi-tests tinygrad-tests triton-tests cute-dsl-tests cutile-tests tilelang-tests lock wheel colab exam notes slides clean

# JupyterLab on notebook 00. HEADLESS=1: without a browser. COURSE_LANGUAGE=zh: in Chinese, as far as it is translated.
# SOLUTIONS=0: in a students' edition, without the solutions. ARGS goes to JupyterLab, whose log is .cache/lab.log.
lab: setup
	@.venv/bin/python scripts/work.py
	@.venv/bin/python scripts/lab.py $(LAB) $(AS_ROOT) $(if $(HEADLESS),--no-browser) $(ARGS)

# A notebook begun anew: make fresh NOTEBOOK=03. Your old copy goes to work/old.
fresh: setup
	@.venv/bin/python scripts/work.py --fresh $(or $(NOTEBOOK),$(error Which? make fresh NOTEBOOK=03))

# The course as a site, in build/book/index.html: for a browser, a phone, a printer. Needs no compiler.
# SOLUTIONS=0: a students' edition, without the solutions, in build/book-students.
book:
	@$(PYTHON) scripts/book.py

# Put the exercises of exercises/ into the notebooks.
exercises: setup
	@.venv/bin/python scripts/exercises.py

# Put what was recorded, or can be counted, where pages quote it.
figures: setup
	@$(RUN) tests.course.figures

# Bring the Chinese edition's catalogues and pages up to date with the English; says what is still in English.
translations: setup
	@.venv/bin/python scripts/translate.py

# Change each exercise's solution in small ways: does the judge notice? ARGS: some exercises only. ENGINE=1: change
# the software GPU's driver and compiler: do its tests notice? It goes on where it was stopped (build/mutants.jsonl).
# ARGS="--count 60 --only jit".
mutants: setup
	@.venv/bin/python scripts/$(if $(ENGINE),mutants_engine,mutants).py $(ARGS)

# Real kernels changed at random: does one end the compiler in a traceback? Random ones: do they answer alike
# plain, counted and watched? ARGS="SECONDS [SEED]".
fuzz: setup
	@$(RUN) softgpu.tests.ptx.fuzz $(or $(ARGS),60)

# All notebooks and tests, lint among them; of each test's cases a tenth, of slow ones a twenty-fifth, of wrong kernels of
# unchanged exercises a fortieth, and of a file's slow tests with fewer cases two fifths, by a hash of their names: others
# each week. SEED=TEXT: of that text. Where the driver, the compiler or a kernel of the course has changed since the last
# commit, or since the commit SINCE, all cases that this concerns. ARGS goes to pytest.
test: FRACTION := 0.1
test: TESTS := 1
test: setup
	@$(RUN) pytest $(PARALLEL) $(NBVAL) $(SAMPLE) --changed="$(CHANGED)" softgpu/tests tests notebooks $(ARGS)

# What CI runs: the same with all cases. Wrong kernels of exercises that have not changed since the commit SINCE (by
# default the last one) take turns: a tenth each week. ROTATING=1: all of them.
test-all: setup
	@$(RUN) pytest $(PARALLEL) $(NBVAL) --rotating=$(or $(ROTATING),0.1) --sample-seed=$(WEEK) softgpu/tests tests notebooks $(ARGS)

# What may differ between versions of Python: set-up, lint, the wheel, one notebook.
portable: lint
	@$(RUN) pytest $(PARALLEL) $(NBVAL) tests/course/test_setup.py softgpu/tests/test_wheel.py \
		notebooks/04_warp_shuffle_reduce.ipynb $(ARGS)

# A million fragments for each form of mma, against an H200's: half an hour. ARGS: a pattern of forms.
products: setup
	@$(RUN) softgpu.tests.conformance.products $(ARGS)
	@$(RUN) softgpu.tests.conformance.groups $(ARGS)

# The fast part of it, for every save: a fiftieth of the cases, of a file's tests with fewer two fifths, without what is slow.
check: FRACTION := 0.02
check: TESTS := 0.4
check: lint
	@$(RUN) pytest $(PARALLEL) $(SAMPLE) -m "not slow and not conformance" softgpu/tests tests $(ARGS)

# Which lines of Python and of C the tests reach, and which they do not: all of them at least the
# floor, in percent. ARGS: some tests only.
PYTHON_FLOOR := 90
C_FLOOR := 85
coverage: export SOFTGPU_BUILD := coverage
coverage: export COVERAGE_FILE := $(CURDIR)/build/coverage/python
coverage: export SOFTGPU_CACHE := $(CURDIR)/build/coverage/cache
coverage: setup
	@rm -rf build/coverage
	@mkdir -p build/coverage
	@find build/driver-coverage -name '*.gcda' -delete
	-@$(RUN) coverage run -m pytest $(PARALLEL) $(or $(ARGS),softgpu/tests tests)
	@$(RUN) coverage combine -q
	@$(RUN) coverage report $(if $(ARGS),,--fail-under=$(PYTHON_FLOOR))
	@$(RUN) gcovr --txt-metric line $(if $(ARGS),,--fail-under-line=$(C_FLOOR))

# Lines of code by room, and what changed since TAG, or the last tag.
size:
	@$(PYTHON) scripts/size.py $(TAG)

setup:
	@command -v $(PYTHON) >/dev/null || { echo "The lab needs Python 3.11 to 3.14." \
		"Install it with: sudo apt install g++ python3-dev python3-venv"; exit 1; }
	@$(PYTHON) scripts/setup.py

lint: setup
	@$(RUN) ruff check -q
	@$(RUN) ruff format -q --check
	@$(RUN) mypy --no-error-summary
	@.venv/bin/clang-format --dry-run -Werror $(CUDA)
	@.venv/bin/python scripts/style.py
	@.venv/bin/python scripts/translate.py --check >/dev/null || { \
		echo "The Chinese edition is not what its originals make: run make translations"; exit 1; }

# Python, notebooks, CUDA and C in the form that lint asks for.
format: setup
	@$(RUN) ruff check -q --fix
	@$(RUN) ruff format -q
	@.venv/bin/clang-format -i $(CUDA)

# Run the notebooks in place; on a GPU, write down what they measure. ARGS: some notebooks only.
record: setup
	@.venv/bin/python scripts/record.py $(ARGS)

# How fast the software GPU is, as ratios within one run; writes the table of speeds in softgpu/docs/results.md.
bench: setup
	@.venv/bin/python bench/bench_softgpu.py $(ARGS)

# helpers.ops beside CUB, PyTorch and CuPy, on a real GPU. ARGS: some topics only.
bench-gpu: setup
	@.venv/bin/python bench/bench_gpu.py $(ARGS)

# A client's own tests on the software GPU. ARGS goes to pytest. cuda-core's and cuda-bindings' need
# CUDA_PYTHON=CHECKOUT, of NVIDIA's cuda-python; others CUTILE=, CUTLASS=, NUMBA_CUDA_MLIR=, TAICHI=, TRITON= or
# TINYGRAD=CHECKOUT, and tinygrad's clang.
pycuda-tests numba-tests cuda-core-tests cuda-bindings-tests numba-mlir-tests reikna-tests taichi-tests \
tinygrad-tests triton-tests cute-dsl-tests cutile-tests tilelang-tests: setup
	@.venv/bin/python scripts/client_tests.py $(@:-tests=) $(ARGS)

# Pin in requirements.lock every package that pyproject.toml leads to.
lock: setup
	@.venv/bin/python scripts/lock.py

# softgpu as one file in build/wheel, for pip install; its driver is in it.
wheel: setup
	@$(RUN) pip wheel -q --disable-pip-version-check --no-index --no-deps --no-build-isolation -w build/wheel ./softgpu
	@ls build/wheel/softgpu-*.whl

# What a branch `colab` of REPOSITORY=https://github.com/OWNER/NAME holds, in build/colab.
colab: wheel
	@.venv/bin/python scripts/colab.py $(or $(REPOSITORY),$(error Which? make colab REPOSITORY=https://github.com/OWNER/NAME))

# Questions for an exam: does the software GPU find their answers? SEED=7: a paper with other numbers, and its
# answers, in build/exam; ARGS="--questions 1 5 12": of these.
exam: setup
	@.venv/bin/python publish/teach/exam.py $(if $(SEED),--seed $(SEED)) $(ARGS)

# Notes for teachers, from the notebooks' predictions and the judges' usual mistakes, in build/notes.md.
notes: setup
	@mkdir -p build
	@.venv/bin/python publish/teach/notes.py > build/notes.md && echo build/notes.md

# Slides of each notebook, in build/slides: for a browser, a projector, its printer. ARGS="03 04": of these.
slides: setup
	@.venv/bin/python publish/teach/slides.py $(ARGS)

# Back to a fresh clone.
clean:
	rm -rf .venv .cache build *.egg-info softgpu/*.egg-info softgpu/driver/libcuda.so* softgpu/clients/*.so
	find . -name __pycache__ -prune -exec rm -rf {} +
