#!/usr/bin/env bash
# install_test.sh BUILD_FOLDER: installs under a new prefix, and checks that all files exist and work from any folder.
set -euo pipefail
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
cmake --install "$build" --prefix "$prefix" >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }

failed=0
fault() { echo "$*" && failed=1; }
for file in bin/workbench \
    share/spmv-workbench/recipes/ehyb.toml share/spmv-workbench/recipes/matrices/elasticity3d.mtx.gz \
    share/spmv-workbench/.taplo.toml share/spmv-workbench/suites/ehyb.toml share/spmv-workbench/spaces/default.toml \
    share/spmv-workbench/schema/recipe.json share/spmv-workbench/schema/suite.json share/spmv-workbench/schema/space.json lib/libspmv_workbench.so include/spmv_workbench/spmv_workbench.hpp \
    lib/cmake/spmv_workbench/spmv_workbenchConfig.cmake lib/cmake/spmv_workbench/spmv_workbenchConfigVersion.cmake \
    lib/spmv-workbench/workbench_trial lib/spmv-workbench/workbench_stage \
    include/spmv-workbench/format/core/contract/stage.hpp include/spmv-workbench/format/stages/order.hpp \
    include/spmv-workbench/format/kernels/format.hpp share/spmv-workbench/recipes/teaching/my_csr16.hpp \
    share/spmv-workbench/recipes/teaching/my_csr_kernel.cu \
    share/spmv-workbench/layouts/csr.toml libexec/spmv-workbench/check_gpu.sh libexec/spmv-workbench/gpu_test \
    share/doc/spmv-workbench/README.md share/doc/spmv-workbench/LICENSE share/doc/spmv-workbench/docs/recipes.md \
    share/man/man1/workbench.1 share/bash-completion/completions/workbench \
    share/zsh/site-functions/_workbench share/fish/vendor_completions.d/workbench.fish; do
    [[ -s $prefix/$file ]] || fault "$file is missing or empty"
done
for program in workbench_matlab workbench_hdf5; do # which are built if their libraries are found
    [[ ! -e $build/lib/$program || -s $prefix/lib/spmv-workbench/$program ]] || fault "$program is missing"
done
places=$(cd "$prefix" && find . -mindepth 1 -maxdepth 2 ! -name 'libspmv_workbench.so*' ! -name python3 | sort | xargs)
expected="./bin ./bin/workbench ./include ./include/spmv-workbench ./include/spmv_workbench ./lib ./lib/cmake ./lib/pkgconfig ./lib/spmv-workbench ./libexec ./libexec/spmv-workbench ./share ./share/bash-completion"
expected+=" ./share/doc ./share/fish ./share/man ./share/spmv-workbench ./share/zsh"
[[ $places == "$expected" ]] || fault "the prefix holds $places"

cd "$folder"
[[ $("$prefix/bin/workbench" check recipes/ehyb.toml) == "recipes/ehyb.toml: ok: "* ]] || fault "the installed recipes are not found"
[[ $("$prefix/bin/workbench" check spaces/sell.toml) == "spaces/sell.toml: ok: a space of "* ]] || fault "the installed spaces are not found"
cmp <("$prefix/bin/workbench" manual) "$prefix/share/man/man1/workbench.1" || fault "the manual page is another one's"
# The GPU tests load the libraries of the prefix; without a GPU they are skipped with exit code 77.
for program in bin/workbench libexec/spmv-workbench/gpu_test; do
    [[ $(ldd "$prefix/$program" | grep libfmt) == *"$prefix"* ]] || fault "$program does not take the libraries of the prefix"
done
# A kernel beside a recipe finds the helper program that tries it.
if command -v c++ >/dev/null; then
    "$prefix/bin/workbench" run recipes/teaching/my_csr_kernel.toml --generate laplace2d:nx=3 --backend cpu --samples 1 --seconds 0 \
        --cache warm --no-pictures >"$folder/log" 2>&1 || fault "a kernel beside a recipe does not run: $(cat "$folder/log")"
fi
# A format beside a recipe needs only the headers of the prefix.
if command -v c++ >/dev/null; then
    XDG_CACHE_HOME=$folder/cache "$prefix/bin/workbench" run recipes/teaching/my_csr16.toml --generate laplace2d:nx=3 --backend kokkos \
        --samples 1 --seconds 0 --cache warm --no-pictures >"$folder/log" 2>&1 || fault "a format beside a recipe does not run: $(cat "$folder/log")"
fi
# The Python module, if it was built, finds the library, the program and the recipes of the prefix.
if [[ -d $prefix/lib/python3 ]]; then
    python=$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
    PYTHONPATH=$prefix/lib/python3/dist-packages "$python" - "$prefix" >"$folder/log" 2>&1 <<'END' || fault "the module does not work: $(cat "$folder/log")"
import sys
import scipy.sparse
import spmv_workbench as wb
from spmv_workbench.program import program
assert program() == sys.argv[1] + "/bin/workbench", program()
A = scipy.sparse.eye(9, format="csr")
assert (wb.Operator("recipes/csr.toml", A, device="host") @ A.data == 1).all()
assert len(wb.stages("recipes/rcm_csr.toml", A)) == 2
END
fi
exit "$failed"
