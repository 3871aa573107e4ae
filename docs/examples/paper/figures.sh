#!/bin/sh
# The figures and tables of a paper on reordering, by one command: figures.sh [FOLDER]
# Needs `workbench` on PATH, or in $WORKBENCH. Runs for about ten seconds on two cores; for a paper, name your own recipes and
# matrices and leave --samples and --seconds out.
set -eu
out=${1:-figures}
workbench=${WORKBENCH:-workbench}
recipes=$(dirname "$0")/../../../recipes
mkdir -p "$out"

# Every recipe on every matrix. What was measured before is not measured again.
"$workbench" bench "$recipes/csr.toml" "$recipes/sell.toml" "$recipes/rcm_sell.toml" "$recipes/ehyb.toml" \
    --generate laplace2d:nx=100 --generate laplace2d:nx=100,scramble=1 --generate delaunay:nx=80,scramble=1 \
    --generate elasticity3d:nx=10 --backend kokkos --samples 10 --seconds 0.01 --out "$out/lines.jsonl"

# Tables: \input{tables} with \usepackage{booktabs}.
"$workbench" summary "$out/lines.jsonl" --tex >"$out/tables.tex"
# Charts: speed-ups as bars, as a map, over the nonzeros, as a performance profile; the roofline; when preprocessing pays off.
"$workbench" summary "$out/lines.jsonl" --plots "$out" --column 3.3in --force >"$out/summary.txt"
# Patterns after each stage, for one column, and the last one alone for a whole page.
"$workbench" draw "$recipes/ehyb.toml" --generate laplace2d:nx=100,scramble=1 --column 3.3in -o "$out/stages.pdf" --force
"$workbench" draw "$recipes/ehyb.toml" --generate laplace2d:nx=100,scramble=1 --stage split --column 6.9in \
    -o "$out/split.pdf" --force
# The arrays that a layout stores, of a matrix of 26 rows.
"$workbench" draw "$recipes/figures/biell_26.toml" --storage --column 3.3in -o "$out/storage.pdf" --force
ls "$out"
