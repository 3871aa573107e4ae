#!/usr/bin/env bash
# figures_test.sh PROGRAM: each command of docs/figures.md works. Commands run in the order of the page, in a folder with the recipes
# and suites, on stand-ins: a small matrix for every matrix and folder that is not there, small numbers for a generator's, the
# reference backend for a GPU's, one sample. fetch asks a server that does not answer. Every run and solve would measure the bandwidth
# of the machine, so these stop at a missing matrix, when recipes and options have been checked; then one run has all of their recipes.
set -euo pipefail
program=$(realpath -- "$1")
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
page=$root/docs/figures.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$root/recipes" "$root/suites" "$root/docs" .
"$program" generate elasticity3d nx=3 -o tiny.mtx >/dev/null
export WORKBENCH_COLLECTION=http://127.0.0.1:9
kernels=$("$program" list kernels)

status=0
complain() {
    echo "error: docs/figures.md: $*" >&2
    status=1
}
trap 'complain "stopped at line $LINENO: $BASH_COMMAND"' ERR

# small TEXT: the parameters of a generator with small values.
small() {
    sed -E 's/\b(rows|columns)=[0-9]+/\1=60/g; s/\b(n[xyz]|scale)=[0-9]+/\1=5/g; s/\b(degree|shortest|longest)=[0-9]+/\1=4/g' <<<"$1"
}

is_missing() { [[ ! -e $1 && ($1 == PATTERNS || $1 =~ \.(npz|mtx|mtx\.gz|tar\.gz)$) ]]; }

# stand_in WORD...: sets `words` to the command on stand-ins, and adds the recipes of a run or solve to `recipes`.
recipes=()
stand_in() {
    words=("$1")
    local command=$1 measures=false gpu=false before=
    [[ $command =~ ^(run|compare|solve)$ ]] && measures=true
    [[ " $* " =~ " --backend cuda" ]] && gpu=true
    shift
    while (($# > 0)); do
        if [[ $1 == --backend || $1 == --matrix ]] && $measures; then
            shift # below
        elif [[ $1 == --backend ]]; then
            shift
        elif [[ $1 == --generate ]] && $measures; then
            "$program" draw --generate "$(small "$2")" -o drawn.png --force >output 2>&1 || complain "$2: $(cat output)"
            shift
        elif [[ $1 == --only ]] && $gpu; then # a program without CUDA lacks the kernel
            while (($# > 1)) && [[ $2 != --* ]]; do
                [[ $kernels != *" cuda "* ]] || grep -qw -- "$2" <<<"$kernels" || complain "no kernel $2"
                shift
            done
        elif [[ $before != -o ]] && is_missing "$1"; then
            words+=(tiny.mtx)
        else
            words+=("$(small "$1")")
            ! $measures || [[ $1 != *.toml ]] || recipes+=("$1")
        fi
        before=$1
        shift
    done
    case $command in
        run | compare | solve) words+=(--backend kokkos --matrix missing.mtx) ;;
        bench)
            words+=(--backend kokkos --samples 1 --seconds 0 --no-page)
            [[ " ${words[*]} " == *" --matrices "* ]] || words+=(--matrices tiny.mtx)
            grep -q '^inside' "${words[1]}" || words+=(--cache warm) ;;
        draw | animate | generate | convert | export | summary) words+=(--force) ;;
        cache)
            words+=(--force)
            [[ " ${words[*]} " =~ " --matrix " ]] || words+=(--set matrix.rows=8) ;;
    esac
}

# expected_code WORD...: without a server, without a matrix, otherwise.
expected_code() {
    case $1 in
        fetch) echo 4 ;;
        run | compare | solve) echo 3 ;;
        *) echo 0 ;;
    esac
}

declare -A seen
while read -r line; do
    [[ -z ${seen[$line]:-} ]] || continue
    seen[$line]=yes
    set -f
    eval "set -- $line"
    set +f
    distributed=false
    while [[ $1 != workbench ]]; do distributed=true && shift; done # mpirun -n 2
    shift
    stand_in "$@"
    code=0
    "$program" "${words[@]}" >output 2>&1 || code=$?
    [[ $code == "$(expected_code "$@")" ]] || ($distributed && [[ $code == 4 ]]) ||
        complain "'$line', tried as 'workbench ${words[*]}', ends with $code: $(grep -m3 error output)"
done < <(grep '^|' "$page" | grep -oE '`(mpirun [^`]* )?workbench [^`]*`' | tr -d '`')
((${#seen[@]} >= 55)) || complain "found ${#seen[@]} commands, expected at least 55"

mapfile -t recipes < <(printf '%s\n' "${recipes[@]}" | sort -u)
"$program" run "${recipes[@]}" --matrix tiny.mtx --backend kokkos --cache warm --samples 1 --seconds 0 --no-pictures --json runs.json \
    >output 2>&1 || complain "a recipe of the page fails on the stand-in: $(grep -m3 error output)"
for recipe in "${recipes[@]}"; do
    grep -q "\"file\": \"$recipe\"" runs.json || complain "$recipe has not run"
done
exit "$status"
