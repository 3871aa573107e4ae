#!/usr/bin/env bash
# Takes the figures of docs/results/h200-tiled.md. To be run in the unpacked package, on a machine with a GPU:
#
#   measure_tiled.sh systems OUT NAME MATRIX    every tiled system in several sizes: OUT/NAME.json
#   measure_tiled.sh sizes OUT NAME MATRIX      segments of widths near the size of L2, f64 alone: OUT/NAME.json
#   measure_tiled.sh caches OUT NAME MATRIX     hit rates by a profiler and by the model, S-SELL-C-sigma over segment widths:
#                                               OUT/NAME_WIDTH.csv and OUT/NAME_model.json; needs ncu
#
# MATRIX is a file, or a generator's KIND:key=value,... All recipes of a matrix run in one process, so that their times can be
# compared.
set -euo pipefail
what=$1 out=$2 name=$3 matrix=$4
source=(--matrix "$matrix")
[[ -e $matrix ]] || source=(--generate "$matrix")
recipes=$(mktemp -d)
trap 'rm -r "$recipes"' EXIT

# variant RECIPE LABEL SED...: a recipe of the package with another name and other parameters.
variant() {
    local from=$1 label=$2
    shift 2
    sed -E -e "s/^(name +=).*/\1 \"$label\"/" "$@" "recipes/$from.toml" >"$recipes/${label//[^A-Za-z0-9_-]/_}.toml"
}

segmented() {  # segmented WIDTH: S-JDS and S-SELL-C-sigma
    for recipe in s_jds s_sell_c_sigma; do
        variant $recipe "$recipe $1" -e "s/^fit .*/width = $1/"
    done
}

precision=both samples=40
case $what in
    systems)
        # Columns of 8 bytes: the K20X's 12 KiB of the recipes, half of an H200's L1, 1 MiB, 8 MiB.
        for width in 1536 16384 131072 1048576; do segmented $width; done
        variant nus_jds "nus_jds 2 x 768"
        variant nus_sell_c_sigma "nus_sell_c_sigma 2 x 768"
        for recipe in nus_jds nus_sell_c_sigma; do
            variant $recipe "$recipe 4 x 16384" -e 's/^segment_count .*/segment_count = 4/' \
                -e 's/^segment_size .*/segment_size = 16384/' -e 's/^level_widths .*/level_widths = "65536, 262144"/'
        done
        for size in "512 4096" "512 65536" "512 1048576" "2048 65536"; do
            read -r height width <<<"$size"
            for recipe in hbp hbp_sorted hbp_dynamic_program tiles_2d; do
                variant $recipe "$recipe ${height}x$width" -e "s/^height .*/height = $height/" -e "s/^width .*/width = $width/"
            done
        done
        ;;
    sizes)
        precision=f64 samples=20
        # 8 and 32 MiB of x.
        segmented 1048576
        variant s_jds "s_jds 4194304" -e "s/^fit .*/width = 4194304/"
        variant nus_jds "nus_jds 4 x 131072" -e 's/^segment_count .*/segment_count = 4/' \
            -e 's/^segment_size .*/segment_size = 131072/' -e 's/^level_widths .*/level_widths = "1048576, 4194304"/'
        ;;
    caches)
        profiler=$(command -v ncu || echo /usr/local/cuda/bin/ncu)
        loads=l1tex__t_sectors_pipe_lsu_mem_global_op_ld
        metrics=$loads.sum,${loads}_lookup_hit.sum
        metrics+=,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum,dram__sectors_read.sum
        widths=(1536 4096 16384 65536 262144 1048576)
        for width in "${widths[@]}"; do
            variant s_sell_c_sigma "width $width" -e "s/^fit .*/width = $width/"
            "$profiler" --csv --metrics "$metrics" --cache-control all --kernel-name regex:multiply_pieces --launch-count 1 \
                bin/workbench run "$recipes/width_$width.toml" "${source[@]}" --only two_phase --precision f64 --backend cuda \
                --samples 1 --seconds 0 --no-pictures --out "$recipes/out" --json "$out/${name}_$width.json" >"$out/${name}_$width.csv"
        done
        bin/workbench cache "$recipes/width_1536.toml" "${source[@]}" --device h200 --json "$out/${name}_model.json" \
            --sweep "stage.column_segmentation.width=$(IFS=,; echo "${widths[*]}")" >"$out/${name}_model.log"
        exit
        ;;
    *)
        echo "measure_tiled.sh: found '$what', expected systems, sizes or caches" >&2
        exit 2
        ;;
esac
variant sell_c_sigma "SELL-32-1024"
variant jds JDS
variant csr CSR

bin/workbench run "$recipes"/*.toml "${source[@]}" --cache cold --precision $precision --backend cuda,cusparse \
    --samples $samples --seconds 0.005 --no-pictures --out "$recipes/out" --json "$out/$name.json" \
    >"$out/$name.log" 2>&1 || echo "$matrix: exit code $?"
