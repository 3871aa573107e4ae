#!/usr/bin/env bash
# docs_test.sh PROGRAM: links and file names of the pages exist, each page is in an index, the README is short, and the pages
# agree with the names and the output of the program.
set -euo pipefail
program=$1
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"

status=0
complain() {
    echo "error: $*" >&2
    status=1
}

# anchors PAGE: the anchors of the headings, derived as GitHub does.
anchors() {
    awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g; s/[]`~!@#$%^&*()+={}|\\:;"'"'"'<>,.?\/[]//g; s/×|∞|–|—|’|“|”//g; s/ /-/g'
}

# links PAGE: the targets of its links, without those in code.
links() { awk '/^```/ { code = !code } !code' "$1" | sed -E 's/`[^`]*`//g' | grep -oE '\]\([^) ]+\)' | sed -E 's/\]\((.*)\)/\1/' || true; }

pages=(README.md CONTRIBUTING.md docs/*.md docs/lessons/*.md docs/results/*.md)
for page in "${pages[@]}"; do
    while read -r link; do
        [[ $link == http* ]] && continue
        file=$page
        [[ ${link%%#*} == "" ]] || file=$(dirname "$page")/${link%%#*}
        if [[ ! -e $file ]]; then
            complain "$page: no $link"
        elif [[ $link == *'#'* && $file == *.md ]] && ! grep -qxF -- "${link#*#}" <<<"$(anchors "$file")"; then
            complain "$page: no heading for $link"
        fi
    done < <(links "$page")
done

# Files and folders that a page names exist. Results describe the program at their own commits.
for page in README.md CONTRIBUTING.md docs/*.md docs/lessons/*.md; do
    while read -r path; do
        compgen -G "$path" >/dev/null || complain "$page: no $path"
    done < <(grep -oE '`(core|stages|kernels|viz|pipeline|studies|frontends|tests|cmake|docs|recipes|spaces|suites|benchmarks|fuzz|packaging)/[A-Za-z0-9_./*-]+`' "$page" | tr -d '`' |
        grep -v NAME | sort -u)
done

# Scripts for schedulers on pages are valid.
for page in "${pages[@]}"; do
    script=$(awk '/^```/ { shown = 0 } /^#!\/bin\/bash/ { shown = 1 } shown' "$page")
    [[ $script == "" ]] || bash -n <<<"$script" || complain "$page: its script is not valid"
done
[[ $(grep -l '^#SBATCH' "${pages[@]}") == docs/collections.md ]] || complain "docs/collections.md: no script for Slurm"

# indexed INDEX PAGE...: the index links each page.
indexed() {
    local index=$1 page
    shift
    for page in "$@"; do
        [[ $page == "$index" ]] || grep -qE "^$(basename "$page")(#|$)" <<<"$(links "$index")" || complain "$index: no link to $page"
    done
}
indexed docs/README.md docs/*.md
indexed docs/lessons/README.md docs/lessons/*.md
indexed docs/results/README.md docs/results/*.md

lines=$(wc -l <README.md)
((lines <= 200)) || complain "README.md has $lines lines, expected at most 200"
shown=$(awk '/^```/ { toml = $0 == "```toml"; next } toml' README.md)
[[ $shown == "$(grep -v '^#' recipes/teaching/ehyb_in_three_lines.toml)" ]] ||
    complain "README.md shows another recipe than recipes/teaching/ehyb_in_three_lines.toml"

shown=$(awk '/^```/ { toml = $0 == "```toml"; next } toml' docs/spaces.md)
[[ $shown == "$(grep -v '^#' spaces/sell.toml)"* ]] || complain "docs/spaces.md begins with another space than spaces/sell.toml"

# The source of each stage and layout, and its place among the formats and orders.
for kind in stages layouts; do
    for name in $("$program" list "$kind" | sed -nE 's/^  ([a-z0-9_]+)  .*/\1/p'); do
        for page in docs/sources.md docs/formats.md; do
            grep -qF "\`$name\`" "$page" || [[ $page == docs/formats.md && -e recipes/$name.toml ]] || complain "$page: no \`$name\`"
        done
    done
done

# Output on pages equals that of this program, except for figures and the widths of columns.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
squeezed() { sed -E 's/^ +//; s/ +/ /g'; }
shows() { # PAGE PATTERN COMMAND...: the page's lines with the pattern are in the output
    local page=$1 pattern=$2 line output
    shift 2
    output=$("$program" "$@" 2>&1 | squeezed) || true
    while read -r line; do
        grep -qxF -- "$line" <<<"$output" || complain "$page: '$line' is not in the output of workbench $*"
    done < <(awk '/^```/ { text = $0 == "```text"; next } text' "$page" | grep -E -- "$pattern" | squeezed)
}
shows docs/first_run.md '^ +(stage|layout|metis_partition:|split:) ' run recipes/ehyb.toml --backend kokkos --samples 1 --seconds 0 \
    --cache warm --no-pictures --out "$scratch"
shows docs/first_run.md '^(error:|  [0-9]+ \||    \|)' check tests/golden/cli/wrong.toml
shows docs/spaces.md '.' check spaces/sell.toml
shows docs/storage.md '.' storage recipes/teaching/windows.toml --sweep stage.row_sort.window=1,4,8,12,24
shows docs/solve.md '^  (recipe  |\*:)|^      (recipe|and its)' solve recipes/rcm_csr.toml recipes/rcm_sell.toml \
    --generate laplace3d:nx=4,scramble=1 --backend kokkos --out "$scratch"
exit "$status"
