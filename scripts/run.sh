#!/bin/sh
# Grade the sample class, build the book, and serve both on this machine alone. SERVE=0 stops after building.
# Without walls the class's hostile submissions are left out, and that is said.
set -eu
cd "$(dirname "$0")/.."
out=build/course
mkdir -p build "$out"
if .venv/bin/autograder doctor >build/doctor.txt 2>&1; then
    set -- examples/submissions --out "$out"
else
    grep '^✗' build/doctor.txt >&2 || cat build/doctor.txt >&2
    echo "run: strangers' code cannot be confined here, so the sample class is graded without its hostile submissions" >&2
    set -- examples/submissions --out "$out" --unconfined --skip 'hostile*'
fi
status=0
.venv/bin/autograder grade "$@" --book book/ || status=$?
# 1 says that some submissions could not be graded: the sample class has damaged ones on purpose.
[ "$status" -le 1 ] || exit "$status"

echo
echo "Building the book (the first time takes a minute) ..."
sh scripts/book.sh
# Beside the class, so that feedback pages link into the book wherever the folder is opened.
ln -sfn ../book/_build/html "$out/book"

echo
echo "Read next:  $out/report/index.html   the class at a glance, with a link to what each student sees"
echo "            $out/grades.csv          every mark, with its reason"
echo "            $out/gradebook.db        nbgrader's gradebook: make formgrader"
echo "            $out/book/index.html     the book"
[ "${SERVE:-1}" != 0 ] || exit 0
echo
exec .venv/bin/python scripts/serve.py "$out" --port "${PORT:-8000}"
