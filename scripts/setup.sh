#!/bin/sh
# Make .venv and install the pinned environment into it; say in one sentence what is missing.
set -eu

say() {
    echo "setup: $1" >&2
    exit 1
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 || say "there is no $python; install Python 3.11 or newer, or run: make PYTHON=/path/to/python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    say "$python is $("$python" -V 2>&1 | cut -d' ' -f2), but Python 3.11 or newer is needed; run: make PYTHON=python3.11 (or newer)"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    say "$python has no venv module; on Debian and Ubuntu: apt-get install python3-venv"

if [ "$(uname)" = Linux ] && ! command -v bwrap >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: installing bubblewrap, which confines students' code"
        { apt-get update -qq && apt-get install -y -qq bubblewrap; } >/dev/null 2>&1 ||
            echo "setup: bubblewrap could not be installed; without it only trusted code is graded" >&2
    else
        echo "setup: bubblewrap is missing; without it only trusted code is graded (on Debian: sudo apt-get install bubblewrap)" >&2
    fi
fi

[ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null || "$python" -m venv --clear .venv
log=.venv/setup.log
echo "setup: installing the pinned packages into .venv (the first time takes minutes)"
if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt >"$log" 2>&1 ||
    ! .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . >>"$log" 2>&1; then
    if grep -qiE 'connection|resolve|network|timed out|unreachable|from versions: none' "$log"; then
        say "the packages could not be downloaded: no network, or no way to the package index; the details are in $log"
    fi
    say "the packages could not be installed: $(grep -m1 '^ERROR' "$log" || tail -n 1 "$log"); the details are in $log"
fi
touch .venv/.ready
