#!/bin/sh
# Build the book into build/book/_build/html. Warnings are errors; arguments go on to jupyter-book.
# BOOK_OUTPUT names another folder for the output.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
out=${BOOK_OUTPUT:-build/book}
log=$out/build.log

say() {
    echo "book: $1" >&2
    exit 1
}

[ -x "$bin/jupyter-book" ] || say "jupyter-book is not installed in .venv; run: make setup"
mkdir -p "$out"

sh scripts/assets.sh

# --all: every page is read again, else a second build would be silent about what the first one warned of. Executed
# cells come from the cache all the same. One thread, so that numbers do not depend on how many cores computed them.
if ! OMP_NUM_THREADS=1 "$bin/jupyter-book" build book --config _config.yml --path-output "$out" --all -W -n --keep-going \
    "$@" >"$log" 2>&1; then
    escape=$(printf '\033')
    sed -e "s/$escape\[[0-9;]*m//g" -e "s|$PWD/||g" "$log" |
        grep -aE '(: (WARNING|ERROR): |^([A-Za-z_.]*\.)?[A-Z][A-Za-z]*Error: )' | grep -v '^RuntimeError' |
        awk '!seen[$0]++' | head -n 20 >&2 || true
    say "the book could not be built, for the reasons above; the whole log is $log"
fi
echo "book: $out/_build/html/index.html"
