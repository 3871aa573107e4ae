#!/usr/bin/env bash
# bootstrap_test.sh [PROGRAM]: the decisions of bootstrap, in a separate checkout with a stand-in for every tool that it calls.
# Nothing is installed or built.
set -uo pipefail
source_dir=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
checkout=$folder/checkout
tools=$folder/tools
mkdir -p "$checkout" "$tools" "$folder/kokkos"
cp "$source_dir/bootstrap" "$source_dir/CMakePresets.json" "$checkout"
mkdir -p "$checkout/tests/golden/cli" "$checkout/frontends"
cp "$source_dir"/tests/golden/cli/help*.txt "$checkout/tests/golden/cli"
cp -r "$source_dir/frontends/cli" "$checkout/frontends"

stand_in() { # NAME, its text on stdin
    { echo '#!/usr/bin/env bash' && cat; } >"$tools/$1"
    chmod +x "$tools/$1"
}
stand_in cmake <<'END'
echo "cmake $*" >>"$CALLS"
if [[ $1 == --build ]]; then
    echo "[1/2] one"
    sleep "${SLOW-0}"
    [[ ! -e broken ]] || { echo "FAILED: two" && exit 1; }
    # The program prints the folder of its sources.
    printf '#!/bin/sh\necho "built from %s:" "$@"\nexit 3\n' "$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "build/$3/CMakeCache.txt")" >"build/$3/workbench"
    chmod +x "build/$3/workbench"
else
    mkdir -p "build/$2/Testing/Temporary"
    printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nPython_EXECUTABLE:FILEPATH=%s\n' "$PWD" "${0%/*}/python" >"build/$2/CMakeCache.txt"
    [[ $* != *WORKBENCH_PYTHON=ON* ]] || mkdir -p "build/$2/python"
    touch "build/$2/build.ninja" "build/$2/Testing/Temporary/LastTest.log"
fi
END
stand_in ctest <<'END'
echo "ctest $*" >>"$CALLS"
END
stand_in dpkg-query <<'END'
format=$3
for package in "${@:4}"; do
    [[ $package == "${MISSING-}" ]] || if [[ $format == *Package* ]]; then echo "$package installed"; else echo installed; fi
done
END
stand_in apt-get </dev/null
stand_in ninja </dev/null
stand_in c++ </dev/null
stand_in nvcc <<<"printf 'sm_80\nsm_90\n'"
no_gpu() { stand_in nvidia-smi <<<'echo "No devices were found"; exit 6'; }
no_gpu

export CALLS=$folder/calls PATH=$tools:$PATH Kokkos_ROOT=$folder/kokkos WORKBENCH_NO_INSTALL=1
unset CUDAARCHS CUDACXX CXX WORKBENCH_PROGRESS
failures=0

bootstrap() { # runs it; its calls, output and exit code are looked at by the checks below
    : >"$CALLS"
    status=0
    "$checkout/bootstrap" "$@" >"$folder/out" 2>"$folder/err" || status=$?
}
fault() {
    failures=$((failures + 1))
    printf 'line %s: %s\n--- calls\n%s\n--- out\n%s\n--- err\n%s\n' "${BASH_LINENO[1]}" "$1" \
        "$(cat "$CALLS")" "$(cat "$folder/out")" "$(cat "$folder/err")"
}
exits() { [[ $status == "$1" ]] || fault "exit code $status instead of $1"; }
holds() { grep -qF -- "$2" "$folder/$1" || fault "$1 does not hold: $2"; }
lacks() { ! grep -qF -- "$2" "$folder/$1" || fault "$1 holds: $2"; }

# Every other command reaches the program, with its arguments and its exit code.
for command in run solve draw; do
    bootstrap "$command" "two words" --set a=1
    exits 3
    [[ $(cat "$folder/out") == "built from $checkout: $command two words --set a=1" ]] || fault "wrong arguments"
done

# Wrong command lines and requests for help build nothing.
refuses() { # MESSAGE ARGUMENT...
    local message=$1
    shift
    bootstrap "$@"
    exits 2
    holds err "$message"
    [[ ! -s $CALLS ]] || fault "something was built for a mistake"
}
refuses "error: unknown command 'biuld'" biuld
refuses "expected build, test, python, help or a command of the workbench: run serve choose" nonsense
refuses "error: unknown option '--samplse' (./bootstrap run --help lists all)" run recipes/csr.toml --samplse 3
refuses "error: unknown option '--matirx'" run recipes/csr.toml --matirx=a.mtx
bootstrap run --help
exits 0
holds out "Usage: workbench run"
[[ ! -s $CALLS ]] || fault "something was built to print a help text"
bootstrap help
exits 0
holds out "Subcommands:"
# No command or option of the workbench is refused.
for help in "$source_dir"/tests/golden/cli/help_*.txt; do
    command=${help##*/help_}
    # shellcheck disable=SC2046 # one word each
    bootstrap "${command%.txt}" $(grep -oE '^  (-[a-zA-Z],)?--[a-z-]+' "$help" | sed 's/.*--/--/' | grep -vx -e --help)
    exits 3
done
# bootstrap has the commands `build`, `test`, `python` and `help`, so the program must not.
if [[ -n ${1-} ]] && "$1" --help | grep -E '^  (build|test|python|help) '; then fault "the program has a command of that name"; fi

# Builds only the program, without CUDA if there is no GPU; the second time nothing is configured again.
rm -rf "$checkout/build"
bootstrap run csr.toml
holds calls "cmake --preset run -U Kokkos_DIR -U WORKBENCH_CUDA -U WORKBENCH_CHECK_ONLY -U CMAKE_CUDA_ARCHITECTURES"
holds calls " -DWORKBENCH_CUDA=OFF"
holds calls "cmake --build --preset run"
holds err "bootstrap: building the program without CUDA kernels, as no GPU was found ('./bootstrap build' is for every GPU)"
bootstrap run csr.toml
lacks calls "cmake --preset"
lacks err "bootstrap: "

# Builds for the GPU of the machine, and again if the GPU changes.
stand_in nvidia-smi <<<'echo 9.0'
bootstrap run csr.toml
holds calls "-DWORKBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real"
holds err "building the program for the GPU of this machine, sm_90 ("
bootstrap run csr.toml
lacks calls "cmake --preset"
stand_in nvidia-smi <<<"printf '9.0\n8.0\n9.0\n'"
bootstrap run csr.toml
holds calls "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real"
# nvcc does not support the GPU: the general list.
stand_in nvidia-smi <<<'echo 12.0'
bootstrap run csr.toml
holds calls "-DWORKBENCH_CUDA=ON"
lacks calls "-DCMAKE_CUDA_ARCHITECTURES"
holds err "building the program for every GPU, as $tools/nvcc does not know that of this machine (sm_120)"
# Requested architectures take precedence over the GPU of the machine.
CUDAARCHS=80-real bootstrap run csr.toml
holds calls "-DWORKBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=80-real"

# `build` and `test` build for every GPU, regardless of the machine.
bootstrap build
exits 0
holds calls "cmake --preset release"
lacks calls "CUDA="
holds calls "cmake --build --preset release"
lacks calls "ctest"
bootstrap test -R cli
exits 0
holds calls "ctest --preset release --no-tests=error --parallel 4 -R cli"

# `test` builds the Python module if its packages are there; `build` does not.
holds calls " -DWORKBENCH_PYTHON=ON"
bootstrap build
lacks calls "-DWORKBENCH_PYTHON"
MISSING=python3-pytest bootstrap test
exits 0
lacks calls "-DWORKBENCH_PYTHON"
holds err "these packages are missing, so the Python module is not tested: python3-dev python3-numpy"
holds calls "ctest"

# `python` builds the module beside the program, which stays there, and starts the Python that it was built for.
stand_in python <<<'echo "$PYTHONPATH: $*"; exit 3'
bootstrap run csr.toml
bootstrap python script.py "two words"
exits 3
holds calls "cmake --preset run"
holds calls "-DWORKBENCH_LIBRARY=ON -DWORKBENCH_PYTHON=ON"
holds calls "cmake --build --preset run"
[[ $(cat "$folder/out") == "$checkout/build/run/python: script.py two words" ]] || fault "Python was started in another way"
for command in run python; do
    bootstrap $command csr.toml
    lacks calls "cmake --preset"
done

# For the tests of the page: npm installs its packages if present, and a failure affects only these tests.
lacks calls "npm"
mkdir -p "$checkout/viz/page"
touch "$checkout/viz/page/package-lock.json"
for tool in node chromium; do stand_in "$tool" </dev/null; done
stand_in npm <<<'echo "npm $*" >>"$CALLS"; mkdir node_modules; touch node_modules/.package-lock.json'
WORKBENCH_NO_INSTALL=0 bootstrap test
exits 0
holds calls "npm ci"
holds calls "ctest"
WORKBENCH_NO_INSTALL=0 bootstrap test
lacks calls "npm"
rm -r "$checkout/viz/page/node_modules"
stand_in npm <<<'exit 1'
WORKBENCH_NO_INSTALL=0 bootstrap test
exits 0
holds err "the page's packages could not be installed: it is not tested in a browser"
holds calls "ctest"

# Without a GPU, `test` checks the syntax of CUDA kernels; `build` compiles them, for every GPU.
no_gpu
bootstrap test
exits 0
holds calls "-DWORKBENCH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-virtual -DWORKBENCH_CHECK_ONLY=ON"
bootstrap build
holds calls "-U WORKBENCH_CHECK_ONLY"
lacks calls "-DWORKBENCH"

# A copy builds its own sources, and the original is unchanged.
bootstrap run csr.toml
cp -r "$checkout" "$folder/copy"
original=$checkout
checkout=$folder/copy
for command in "run csr.toml" build; do
    # shellcheck disable=SC2086 # two words
    bootstrap $command
    holds calls "cmake --preset"
    holds err "came with a copy of $original: starting afresh"
    # shellcheck disable=SC2086
    bootstrap $command
    lacks err "starting afresh"
done
bootstrap run csr.toml
holds out "built from $folder/copy:"
checkout=$original
bootstrap run csr.toml
lacks calls "cmake --preset"
holds out "built from $original:"

# Progress without a terminal; a build that fails.
SLOW=2 WORKBENCH_PROGRESS=0.3 bootstrap run csr.toml
holds err "bootstrap: building ... [1/2]"
touch "$checkout/broken"
bootstrap run csr.toml
exits 4
holds err "FAILED: two"
holds err "error: the build failed"

bootstrap help
exits 0
holds out "usage: ./bootstrap COMMAND"
holds out "Usage: workbench"
((failures == 0)) || exit 1
