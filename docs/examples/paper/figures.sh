#!/bin/sh
# Five figures and the tables of a paper, by one command: figures.sh [FOLDER]. paper.tex has them with their captions.
# Needs `workbench` on PATH, or in $WORKBENCH. Runs for about ten seconds on two cores; for a paper, name your own recipes and
# matrices and leave --samples and --seconds out.
set -eu
out=${1:-figures}
workbench=${WORKBENCH:-workbench}
here=$(dirname "$0")
recipes=$here/../../../recipes
draw() { "$workbench" draw "$@" --column 3.3in --palette okabe-ito --force; }
mkdir -p "$out/plots" "$out/matrices"

# Figures 1 to 3: the pattern after each stage, the graph in the colours of its partitions, and the stored arrays.
draw "$recipes/ehyb.toml" --generate laplace2d:nx=100,scramble=1 -o "$out/stages.pdf"
draw "$recipes/metis_sell.toml" --generate delaunay:nx=12 --set stage.metis_partition.parts=6 \
    --stage metis_partition --graph -o "$out/graph.pdf"
draw "$recipes/figures/sell_3_6.toml" --storage -o "$out/storage.pdf"

# Every recipe on every matrix of a folder. What was measured before is not measured again.
matrix() { "$workbench" generate "$2" "$3" "scramble=1" -o "$out/matrices/$1.mtx.gz" --force; }
matrix grid laplace2d nx=100
matrix mesh delaunay nx=80
matrix solid elasticity3d nx=10
matrix cube laplace3d nx=20
"$workbench" bench "$recipes/csr.toml" "$recipes/sell.toml" "$recipes/rcm_sell.toml" "$recipes/ehyb.toml" \
    --matrices "$out/matrices" --backend kokkos --samples 10 --seconds 0.01 --out "$out/lines.jsonl"
# Tables: \input{tables} with \usepackage{booktabs}.
"$workbench" summary "$out/lines.jsonl" --tex >"$out/tables.tex"
# Figures 4 and 5: speed-ups by matrix, and the roofline. plots/ has further ones: a map, a performance profile, speed-ups over
# metrics of the matrices, and the parts of the preprocessing.
"$workbench" summary "$out/lines.jsonl" --plots "$out/plots" --column 3.3in --palette okabe-ito --force \
    >"$out/summary.txt"
cp "$out/plots/bars_host_f64.pdf" "$out/speedups.pdf"
cp "$out/plots/roofline_host_f64.pdf" "$out/roofline.pdf"
cp "$here/paper.tex" "$out/"
ls "$out"
