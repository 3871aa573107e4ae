#!/usr/bin/env bash
# Takes the figures of docs/results/h200-tiled.md. To be run in the unpacked package, on a machine with a GPU:
#
#   measure_tiled.sh OUT NAME MATRIX...     MATRIX is a file, or a generator's KIND:key=value,...; writes OUT/NAME_1.json, ...
#
# All recipes of a matrix run in one process, so that their times can be compared.
set -euo pipefail
out=$1 name=$2
shift 2
recipes=$(mktemp -d)
trap 'rm -r "$recipes"' EXIT

# variant RECIPE LABEL SED...: a recipe of the package with another name and other parameters.
variant() {
    local from=$1 label=$2
    shift 2
    sed -E -e "s/^(name +=).*/\1 \"$label\"/" "$@" "recipes/$from.toml" >"$recipes/${label//[^A-Za-z0-9_-]/_}.toml"
}

# Widths of segments in columns of 8 bytes: the K20X's 12 KiB of the recipes, half of an H200's L1, 1 MiB, 8 MiB.
for width in 1536 16384 131072 1048576; do
    for recipe in s_jds s_sell_c_sigma; do
        variant $recipe "$recipe $width" -e "s/^fit .*/width = $width/"
    done
done
variant nus_jds "nus_jds 2 x 768"
variant nus_sell_c_sigma "nus_sell_c_sigma 2 x 768"
for recipe in nus_jds nus_sell_c_sigma; do
    variant $recipe "$recipe 4 x 16384" -e 's/^segment_count .*/segment_count = 4/' -e 's/^segment_size .*/segment_size = 16384/' \
        -e 's/^level_widths .*/level_widths = "65536, 262144"/'
done
for size in "512 4096" "512 65536" "4096 65536"; do
    read -r height width <<<"$size"
    for recipe in hbp hbp_sorted hbp_dynamic_program tiles_2d; do
        variant $recipe "$recipe ${height}x$width" -e "s/^height .*/height = $height/" -e "s/^width .*/width = $width/"
    done
done
variant sell_c_sigma "SELL-32-1024"
variant jds JDS
variant csr CSR

number=0
for matrix in "$@"; do
    number=$((number + 1))
    source=(--matrix "$matrix")
    [[ -e $matrix ]] || source=(--generate "$matrix")
    bin/workbench run "$recipes"/*.toml "${source[@]}" --cache cold --precision both --backend cuda,cusparse \
        --samples 40 --seconds 0.005 --no-pictures --out "$recipes/out" --json "$out/${name}_$number.json" \
        >"$out/${name}_$number.log" 2>&1 || echo "$matrix: exit code $?"
done
