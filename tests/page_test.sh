#!/usr/bin/env bash
# page_test.sh PROGRAM SOURCE: pages that the program writes, in headless Chromium (viz/page/test/browser.mjs). Exit code 77:
# skipped, with the reason.
# page_test.sh PROGRAM SOURCE FOLDER: writes the pages to FOLDER and opens none (tests/mutation/page.mjs).
set -euo pipefail
program=$1
source=$2
if [[ -n ${3:-} ]]; then
    folder=$3
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi

if ! command -v node >/dev/null; then
    echo "page tests skipped: no node"
    exit 77
fi
if [[ ! -d $source/viz/page/node_modules/playwright-core ]]; then
    echo "page tests skipped: 'npm ci' was not run in viz/page"
    exit 77
fi

quick=(--samples 5 --seconds 0 --cache warm --out "$folder" --backend kokkos)
"$program" run "$source/tests/page/small.toml" "${quick[@]}" >"$folder/log"
"$program" run "$source/recipes/ehyb.toml" "$source/recipes/hbp.toml" "${quick[@]}" >>"$folder/log"
"$program" run "$source/recipes/rcm_csr.toml" --set layout.use=sell --generate laplace2d:nx=600,ny=600 "${quick[@]}" >>"$folder/log"
thin=random_uniform:rows=20000,columns=12,shortest=1,longest=4
"$program" run "$source/recipes/sell.toml" --generate "$thin" "${quick[@]}" >>"$folder/log"
"$program" compare "$source/recipes/csr.toml" "$source/recipes/rcm_sell.toml" --samples 5 --seconds 0 --cache warm --backend kokkos \
    --page "$folder/compare/report.html" >>"$folder/log"
"$program" bench "$source/recipes/csr.toml" "$source/recipes/sell.toml" --generate laplace2d:nx=20 --backend kokkos --samples 5 \
    --seconds 0 --out "$folder/bench/report.jsonl" >>"$folder/log" 2>&1
"$program" solve "$source/recipes/csr.toml" "$source/recipes/rcm_sell.toml" --generate laplace2d:nx=40,scramble=1 --backend kokkos \
    --out "$folder/solve" >>"$folder/log"
"$program" choose "$source/recipes/csr.toml" "$source/recipes/rcm_sell.toml" --generate laplace2d:nx=40,scramble=1 --backend kokkos \
    --budget 1 -o "$folder/winner.toml" --json "$folder/choose/choice.json" --page "$folder/choose/report.html" >>"$folder/log" 2>&1
cp "$folder/solve/solve.html" "$folder/solve/report.html"
[[ -z ${3:-} ]] || exit 0
node "$source/viz/page/test/browser.mjs" "$folder"/{small,ehyb,hbp,rcm_csr,sell,compare,bench,solve,choose}/report.html
"$source/docs/lessons/slides" >"$folder/slides.html"
node "$source/viz/page/test/slides.mjs" "$folder/slides.html"
