# Everything runs in .venv, which the first command makes. On another Python: make PYTHON=python3.12 run
PYTHON ?= python3
SERVE ?= 1
PORT ?= 8000
BIN := .venv/bin
STAMP := .venv/.ready

.PHONY: run test test-long setup book grade release prove lint format lock formgrader lab bench clean

run: setup  ## grade the sample class, build the book, serve both (SERVE=0: do not serve; PORT=8000)
	@SERVE="$(SERVE)" PORT="$(PORT)" sh scripts/run.sh

test: setup lint  ## every test but the long ones
	$(BIN)/python -m pytest -n 3
	$(BIN)/autograder release --check
	$(BIN)/autograder prove

test-long: setup lint  ## what takes minutes, too
	$(BIN)/python -m pytest -n 3 -m "long or not long"
	$(BIN)/autograder release --check
	$(BIN)/autograder prove --stock all

setup: $(STAMP)  ## the environment

$(STAMP): requirements.txt pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh

book: setup  ## the book, into build/book/_build/html
	@sh scripts/book.sh

grade: setup  ## grade the class in build/course/submitted
	$(BIN)/autograder grade build/course/submitted --out build/course

release: setup  ## student notebooks, nbgrader source notebooks, recorded expectations
	$(BIN)/autograder release

prove: setup  ## every exercise folder keeps its promises
	$(BIN)/autograder prove

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check autograder tests bench
	$(BIN)/mypy autograder

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format autograder tests bench

formgrader: setup  ## nbgrader's own page over build/course
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter lab --NotebookApp.open_browser=True build/course

lab: setup  ## JupyterLab with the exercises
	$(BIN)/jupyter lab exercises

bench: setup  ## measurements, each a ratio of two things in one run (ARGS="grading scale": these alone)
	$(BIN)/python -m bench $(ARGS)

lock: setup  ## requirements.txt from pyproject.toml
	sh scripts/lock.sh

clean:
	rm -rf build .venv
