#!/usr/bin/env bash
# Takes the figures of docs/results/h200-row-sorted.md. To be run in the unpacked package, on a machine with a GPU:
#
#   measure_row_sorted.sh formats OUT MATRIX...    every layout of the page on each matrix: OUT/MATRIX.json
#   measure_row_sorted.sh grid OUT MATRIX...       Staircase SELL over alpha and slice height: OUT/MATRIX_grid.json
#
# MATRIX is a file, or a generator's KIND:key=value,... All recipes of a matrix run in one process, so that their times can be
# compared.
set -euo pipefail
what=$1 out=$2
shift 2
recipes=$(mktemp -d)
trap 'rm -r "$recipes"' EXIT

# variant RECIPE LABEL [SED_OPTION...]: a recipe of the package with another name and other parameters.
variant() {
    local from=$1 label=$2
    shift 2
    sed -E -e "s/^(name +=).*/\1 \"$label\"/" -e '/^node_size/d' "$@" "recipes/$from.toml" \
        >"$recipes/${label//[^A-Za-z0-9_-]/_}.toml"
}

precision=both samples=60
case $what in
    formats)
        variant csr CSR
        variant coo COO
        variant csc CSC
        variant ell ELL
        variant ellr ELLR
        variant pellr PELLR
        variant hyb "HYB, one third"
        variant hyb "HYB, mean" -e 's/^k .*/k = "mean"/'
        variant jds JAD
        variant biell BiELL
        variant bijad BiJAD
        variant sell SELL-32
        variant sell_c_sigma SELL-32-1024
        variant sell_8_threads_4 "SELL-8-1024, 4 threads a row"
        variant rcm_sell "SELL-32-16384 after RCM"
        variant bsr BSR
        variant banded_block "Banded blocks"
        variant dia DIA
        variant staircase_sell "Staircase SELL"
        variant staircase_sell_natural "Staircase SELL, natural"
        ;;
    grid)
        precision=f64 samples=20
        for height in 32 64 128 256 512 1024; do
            for alpha in 0.002 0.01 0.04 0.1; do
                variant staircase_sell "CM $height $alpha" -e "s/^slice_height .*/slice_height = $height/" -e "s/^alpha .*/alpha = $alpha/"
                variant staircase_sell_natural "natural $height $alpha" \
                    -e "s/^slice_height .*/slice_height = $height/" -e "s/^alpha .*/alpha = $alpha/"
            done
        done
        ;;
    *)
        echo "measure_row_sorted.sh: found '$what', expected formats or grid" >&2
        exit 2
        ;;
esac

for matrix in "$@"; do
    source=(--matrix "$matrix")
    [[ -e $matrix ]] || source=(--generate "$matrix")
    name=$(basename "${matrix%%[.:]*}")
    [[ $what == grid ]] && name+=_grid
    bin/workbench run "$recipes"/*.toml "${source[@]}" --cache cold --precision $precision --backend cuda,cusparse \
        --samples $samples --seconds 0.005 --no-pictures --out "$recipes/out" --json "$out/$name.json" \
        >"$out/$name.log" 2>&1 || echo "$matrix: exit code $?"
done
