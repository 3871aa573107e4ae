#!/usr/bin/env bash
# lessons_test.sh PROGRAM: each lesson has the same parts and fits on two slides; its commands work and print the numbers and tables
# that it shows; the commands of its exercise print the numbers of the check. A number counts if it has two digits or more, a decimal
# point or a percent sign, and is not a year. Numbers of a page of results that the lesson links count as printed. The commands run in
# a folder with the recipes; runs take one sample on the CPU.
set -euo pipefail
export LC_ALL=C
program=$(realpath -- "$1")
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Numbers that no command prints: those of caches and warps, and sums that a reader makes.
declare -A elsewhere=(
    [2]="14 15 18" # steps, and those that the paper counts
    [5]="12 1,536" # the cache
    [6]="3.5"      # the paper
    [8]="31"
    [9]="16 255 256"
)
parts=(Aim "Predict first" Commands Picture Explanation Exercise)
most_words=360 # of two slides, without code, pictures and the check

# part NAME: the part of the lesson in standard input that begins with **NAME.**
part() { awk -v name="$1" '/^\*\*[A-Z][a-z ]+\.\*\*/ { inside = index($0, "**" name ".**") == 1 } inside'; }

blocks() { awk -v kind="$1" '/^```/ { code = $0 == "```" kind; next } code'; }
without_code() { awk '/^```/ { code = !code; next } !code && !/^#/'; }

# commands: in blocks of code and in lines of text; the words after `workbench`.
commands() {
    local text
    text=$(cat)
    blocks sh <<<"$text" | sed -nE 's/ +#.*//; s/^workbench ([a-z]+ .+)/\1/p'
    without_code <<<"$text" | tr '\n' ' ' | grep -oE '`workbench [a-z]+ [^`]+`' | sed -E 's/^`workbench //; s/`$//' || true
}

# numbers: those in standard input, one per line, with " %" if it follows.
numbers() {
    sed -E 's/`[^`]*`//g; s/\]\([^)]*\)//g; s/<[^>]*>//g' | grep -oE '[0-9][0-9,]*(\.[0-9]+)?( %)?' |
        sed -E 's/,( %)?$//' | grep -E '..' | grep -vE '^(19|20)[0-9]{2}$' | sort -u || true
}
known_numbers() { # those in standard input; with a percent sign also without it
    numbers | tee >(sed 's/ %$//') | sort -u
}

# output_of COMMAND
output_of() {
    local words code=0
    set -f
    eval "words=($1)"
    set +f
    case ${words[0]} in
        run) words+=(--backend kokkos --samples 1 --seconds 0 --cache warm --no-pictures) ;;
        draw | animate) words+=(--force --width 320) ;;
        cache) words+=(--force) ;;
    esac
    "$program" "${words[@]}" 2>&1 || code=$?
    ((code == 0)) || echo "error: docs/lessons/$lesson: 'workbench $1' ends with $code" >&2
}

# check_lesson PAGE: writes what is wrong to standard error.
check_lesson() {
    local page=$1 lesson number line words pages
    lesson=$(basename "$page")
    complain() { echo "error: docs/lessons/$lesson: $*" >&2; }
    mkdir "$scratch/$lesson"
    cd "$scratch/$lesson"
    ln -s "$root/recipes" .

    [[ $(grep -oE '^\*\*[A-Z][a-z ]+\.\*\*' "$page") == "$(printf '**%s.**\n' "${parts[@]}")" ]] ||
        complain "expected the parts ${parts[*]}, in this order"
    part Picture <"$page" | grep -q '^!\[' || complain "shows no picture"
    words=$(without_code <"$page" | awk '/^<details>/ { exit } !/^!/' | sed -E 's/\]\([^)]*\)//g' | wc -w)
    ((words <= most_words)) || complain "has $words words, expected at most $most_words"

    sed '/^\*\*Exercise/,$d' "$page" | commands >lesson
    part Exercise <"$page" | commands >exercise
    touch printed
    while read -r line; do output_of "$line" >>printed; done <exercise
    known_numbers <printed >known
    part Exercise <"$page" | awk '/^<details>/ { inside = 1 } inside' | grep -oE '\*\*[0-9][^*]*\*\*' | numbers >checks
    [[ -s checks ]] || complain "the exercise has no number to check"
    while read -r number; do complain "no command of the exercise prints '$number'"; done < <(comm -23 checks known)

    while read -r line; do output_of "$line" >>printed; done <lesson
    pages=$(grep -oE '\.\./results/[a-z0-9_]+\.md' "$page" | sed "s|^\.\.|$root/docs|") || true
    # shellcheck disable=SC2086 # no page has a blank in its name
    cat printed $pages | known_numbers >known
    tr ' ' '\n' <<<"${elsewhere[${lesson%%-*}]:-}" >allowed
    without_code <"$page" | tr '\n' ' ' | numbers >stated
    while read -r number; do
        grep -qxF -- "$number" allowed || complain "no command prints '$number'"
    done < <(comm -23 stated known)
    while read -r number; do
        grep -qxF -- "$number" stated || complain "states no '$number'; remove it from $0"
    done < <(sed '/^$/d' allowed)
    while read -r line; do
        grep -qF -- "$line" printed || complain "no command prints the line '$line'"
    done < <(blocks text <"$page")
}

for page in "$root"/docs/lessons/[0-9]*.md; do
    check_lesson "$page" 2>"$scratch/$(basename "$page").errors" &
done
wait
cat "$scratch"/*.errors >&2
[[ -z $(cat "$scratch"/*.errors) ]]
