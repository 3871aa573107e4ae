#!/usr/bin/env bash
# package_test.sh BUILD_FOLDER CMAKE CXX: installs the library with its header, moves it, and builds and runs the programs of docs/examples against it.
set -euo pipefail
build=$1 cmake=$2 cxx=$3
source_dir=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
quietly() { "$@" >"$folder/log" 2>&1 || { echo "failed: $*" && cat "$folder/log" && exit 1; }; }
for part in library development; do quietly "$cmake" --install "$build" --component "$part" --prefix "$folder/before"; done
mv "$folder/before" "$folder/moved"
prefix=$folder/moved

failed=0
fault() { echo "$*" && failed=1; }
library=$prefix/lib/libspmv_workbench.so
[[ -L $library && -s $(readlink -f "$library") ]] || fault "lib/libspmv_workbench.so is no link to a library"
grep -rqF "$folder/before" "$prefix/lib/cmake" && fault "the package holds the place that it was installed to"
# The library exports only the names of the header, and its libraries are in the prefix.
nm -DC --defined-only "$library" | cut -d' ' -f3- >"$folder/exported"
others=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?spmv_workbench::' "$folder/exported" || true)
[[ -z $others ]] || fault "exported, too: $(head -5 <<<"$others")"
others=$(grep -E 'Applied|Checked' "$folder/exported" || true)
[[ -z $others ]] || fault "the implementation of the header is exported: $(head -5 <<<"$others")"
# Nothing that draws, serves or reads containers of matrices comes with it.
others=$(ldd "$library" | grep -E 'png|gif|hpdf|httplib|ssl|curl|mpi|hdf5|matio' || true)
[[ -z $others ]] || fault "the library is linked with $others"
[[ ! -e $prefix/bin ]] || fault "the library comes with programs"
[[ $(ldd "$library" | grep libfmt) == *"$prefix"* ]] || fault "the library does not take the libraries of the prefix"
[[ $(ldd "$library") != *"not found"* ]] || fault "a library is missing"

# As C++17, which the header requires.
for example in cg pagerank solver; do
    quietly "$cmake" -S "$source_dir/docs/examples/$example" -B "$folder/$example" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_STANDARD=17 \
        -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror"
    quietly "$cmake" --build "$folder/$example"
done
# With pkg-config, from any folder.
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs spmv_workbench)
    # shellcheck disable=SC2086
    quietly "$cxx" -std=c++17 "$source_dir/docs/examples/solver/solver.cpp" $flags -o "$folder/by_pkg_config"
    quietly "$folder/by_pkg_config"
    [[ $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion spmv_workbench) == "$(sed -n 's/.* VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt" | head -1)" ]] ||
        fault "pkg-config has another version"
fi
example=cg
expect() { # EXPECTED ARGUMENTS...: the last line that the example prints
    local expected=$1 found
    shift
    found=$(cd / && "$folder/$example/$example" "$@" 2>&1 | tail -1) || true
    [[ $found =~ $expected ]] || fault "$example $*: $found; expected $expected"
}
expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$'
expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$' "$source_dir/recipes/ehyb.toml" 30
# A recipe that permutes rows only; a hybrid; a file that is not a recipe.
expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$' "$source_dir/recipes/pellr.toml" 30
expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$' "$source_dir/recipes/hybrid_ehyb.toml" 30
expect 'tests/golden/cli/wrong.toml:[0-9]+:[0-9]+: |\^' "$source_dir/tests/golden/cli/wrong.toml"
# Helper programs are found next to the library, regardless of the folder of the program.
expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$' "$source_dir/recipes/teaching/my_csr_kernel.toml" 30
# A program with a METIS of wider integers under the same names gets an error.
echo 'extern "C" int METIS_SetDefaultOptions(long* options) { for (int i = 0; i < 40; ++i) options[i] = -1; return 1; }' >"$folder/metis.cpp"
quietly "$cxx" -shared -fPIC -o "$folder/metis.so" "$folder/metis.cpp"
LD_PRELOAD=$folder/metis.so expect '^metis_partition: the METIS in this program has longer integers' "$source_dir/recipes/ehyb.toml" 30
# A variable of the environment that is no number of threads is an error; threads beyond the processors are not started.
KOKKOS_NUM_THREADS=0 expect "^the environment variable KOKKOS_NUM_THREADS is '0'; expected a whole number, at least 1$"
OMP_NUM_THREADS=768 expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$'
# PageRank of a drawn graph by one value a page, of pages in another order, of three pages by hand, and of what is no graph.
example=pagerank
expect '^[0-9]+ iterations, sum of ranks 1.000000000, residual [0-9.]+e-1[0-9]$'
grep -q '^csr, .* 20000 pages, .* links' <<<"$("$folder/pagerank/pagerank" 2>&1)" || fault "pagerank does not say what it multiplies with"
expect '^[0-9]+ iterations, sum of ranks 1.000000000, residual [0-9.]+e-1[0-9]$' "$source_dir/recipes/rcm_csr.toml" 2000
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 3\n2 3\n3 1\n' >"$folder/graph.mtx"
grep -q '^page 3 has the highest rank, 0.486486$' <<<"$("$folder/pagerank/pagerank" "$source_dir/recipes/csr.toml" "$folder/graph.mtx")" ||
    fault "the rank of page 3 is not 0.486486"
expect ' is not a square matrix$' "$source_dir/recipes/csr.toml" "$folder/missing.mtx"
# Three solves with one solver, on the layout of a recipe that reorders rows alone, too.
example=solver
for recipe in "" "$source_dir/recipes/pellr.toml"; do
    expect '^[0-9]+ iterations, true residual [0-9.]+e-1[0-9]$' ${recipe:+"$recipe" 30}
done
exit "$failed"
