#!/usr/bin/env bash
# The example of a paper makes what its page says: tables and five figures as wide as a column, and a paper of them where there is LaTeX.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
WORKBENCH=$1 "$2/docs/examples/paper/figures.sh" "$folder/figures" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
cd "$folder/figures"
figures=$(echo *.pdf)
[[ $figures == "graph.pdf roofline.pdf speedups.pdf stages.pdf storage.pdf" ]] || { echo "found $figures"; exit 1; }
for figure in *.pdf plots/*.pdf; do
    grep -aq "/MediaBox [[] 0 0 237.5" "$figure" || { echo "$figure is not 237.5 points wide"; exit 1; }
done
(($(grep -c toprule tables.tex) >= 3)) || { echo "tables.tex has fewer than three tables"; exit 1; }  # the fourth: break-even
for figure in *.pdf; do
    grep -q "includegraphics{${figure%.pdf}}" paper.tex || { echo "paper.tex lacks $figure"; exit 1; }
done
if command -v pdflatex >/dev/null && kpsewhich booktabs.sty >/dev/null; then
    pdflatex -interaction=nonstopmode paper.tex >"$folder/log" || { cat "$folder/log"; exit 1; }
fi
