#!/bin/sh
# Compile requirements.txt from pyproject.toml, at the one torch that the book's claims were established on.
# A local version label (+cpu) and the index that this machine uses are nobody else's business: neither stays.
set -eu
TORCH=2.13.0
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
echo "torch==$TORCH" >"$constraints"
rm -f requirements.txt
.venv/bin/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
    --no-annotate --no-header --constraint "$constraints" --extra grade --extra postgresql --extra cluster --extra book \
    --extra dev --output-file requirements.txt pyproject.toml
{
    echo "# Compiled from pyproject.toml by \`make lock\`; never edited by hand."
    sed -E 's/^([A-Za-z0-9_.-]+==[^ +]+)\+[a-z0-9.]+/\1/' requirements.txt
} >requirements.new
mv requirements.new requirements.txt
