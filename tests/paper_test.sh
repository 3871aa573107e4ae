#!/usr/bin/env bash
# The example of a paper's figures makes what its page says: tables and twelve PDFs as wide as their column.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
WORKBENCH=$1 "$2/docs/examples/paper/figures.sh" "$folder/figures" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
cd "$folder/figures"
count=$(ls ./*.pdf | wc -l)
[[ $count == 12 ]] || { echo "found $count figures, expected 12"; exit 1; }
for figure in *.pdf; do
    width=237.5
    [[ $figure == split.pdf ]] && width=497
    grep -aq "/MediaBox \[ 0 0 $width" "$figure" || { echo "$figure is not $width points wide"; exit 1; }
done
grep -q toprule tables.tex || { echo "tables.tex has no table"; exit 1; }
