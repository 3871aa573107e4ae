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
    [2]="14 15 18 24" # steps, and those that the paper counts
    [3]="21"          # steps
    [5]="12 1,536" # the cache
    [6]="3.5"      # the paper
    [8]="31"
    [9]="16 255 256"
    [10]="12"
    [13]="11.9 17.9 100" # of a memory of 100 GB/s
    [14]="220" # nonzeros of 32 rows
)
parts="Aim | Predict first | Commands | Picture | Explanation | Exercise"
most_words=360 # of two slides, without code, pictures and the check

# Starting a program takes longer than reading a page: one awk reads the page, another compares.
# shellcheck disable=SC2016 # awk's variables
numbers='
    function complain(text) { print "error: docs/lessons/" lesson ": " text }
    # Adds the numbers of a text, with " %" if it follows.
    function numbers(text, found, number) {
        gsub(/`[^`]*`/, "", text)
        gsub(/\]\([^)]*\)/, "", text)
        gsub(/<[^>]*>/, "", text)
        while (match(text, /[0-9][0-9,]*(\.[0-9]+)?( %)?/)) {
            number = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/,( %)?$/, "", number)
            if (number ~ /../ && number !~ /^(19|20)[0-9][0-9]$/) found[number]
        }
    }'
# Reads a page. Writes the commands of the exercise and of the rest, the numbers of the check and of the page, the lines of printed
# tables and the linked pages of results to files, and what is wrong to standard output.
# shellcheck disable=SC2016
read_page=$numbers'
    function commands_in(text, file) {
        while (match(text, /`workbench [a-z]+ [^`]+`/)) {
            print substr(text, RSTART + 11, RLENGTH - 12) >file
            text = substr(text, RSTART + RLENGTH)
        }
    }
    match($0, /^\*\*[A-Z][a-z ]+\.\*\*/) {
        part = substr($0, 3, RLENGTH - 5)
        found_parts = found_parts (found_parts == "" ? "" : " | ") part
        details = 0
    }
    /^\*\*Exercise/ { after = 1 }
    /^<details>/ { details = no_words = 1 }
    {
        rest = $0
        while (match(rest, /\.\.\/results\/[a-z0-9_]+\.md/)) {
            print substr(rest, RSTART + 2, RLENGTH - 2) >"results"
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    part == "Picture" && /^!\[/ { picture = 1 }
    part == "Exercise" && details {
        rest = $0
        while (match(rest, /\*\*[0-9][^*]*\*\*/)) {
            bold = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            numbers(bold, checks)
        }
    }
    /^```/ { kind = kind == "" ? substr($0, 4) " code" : ""; next }
    kind == "sh code" {
        sub(/ +#.*/, "")
        if (sub(/^workbench /, "") && /^[a-z]+ ./) {
            if (!after) print >"lesson"
            if (part == "Exercise") print >"exercise"
        }
    }
    kind == "text code" && /./ { print >"tables" }
    kind != "" || /^#/ { next }
    {
        text = text $0 " "
        if (!after) text_of_lesson = text_of_lesson $0 " "
        if (part == "Exercise") text_of_exercise = text_of_exercise $0 " "
    }
    !no_words && !/^(!|<!--)/ {
        gsub(/\]\([^)]*\)/, "")
        words += split($0, unused, " ")
    }
    END {
        commands_in(text_of_lesson, "lesson")
        commands_in(text_of_exercise, "exercise")
        numbers(text, stated)
        for (number in stated) print number >"stated"
        for (number in checks) {
            print number >"checks"
            has_check = 1
        }
        if (found_parts != parts) complain("expected the parts " parts ", in this order")
        if (!picture) complain("shows no picture")
        if (words > most_words) complain("has " words " words, expected at most " most_words)
        if (!has_check) complain("the exercise has no number to check")
    }'
# Compares what the page states with what its commands printed. Writes what is wrong to standard output.
# shellcheck disable=SC2016
compare=$numbers'
    FILENAME == "stated" { stated[$0]; next }
    FILENAME == "checks" { checks[$0]; next }
    FILENAME == "tables" { tables[$0]; next }
    {
        numbers($0, known)
        for (line in tables) if (index($0, line) && FILENAME !~ /\.md$/) delete tables[line]
    }
    FILENAME == "printed_by_exercise" { numbers($0, known_to_exercise) }
    function without_percent(set, number, bare) {
        for (number in set) {
            bare = number
            if (sub(/ %$/, "", bare)) bares[bare]
        }
        for (bare in bares) set[bare]
        split("", bares)
    }
    END {
        without_percent(known)
        without_percent(known_to_exercise)
        count = split(elsewhere, allowed, " ")
        for (i = 1; i <= count; ++i) {
            if (!(allowed[i] in stated)) complain("states no \"" allowed[i] "\"; remove it from tests/lessons_test.sh")
            known[allowed[i]]
        }
        for (number in checks) if (!(number in known_to_exercise)) complain("no command of the exercise prints \"" number "\"")
        for (number in stated) if (!(number in known)) complain("no command prints \"" number "\"")
        for (line in tables) complain("no command prints the line \"" line "\"")
    }'

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

# check_lesson PAGE: writes what is wrong to standard output.
check_lesson() {
    local page=$1 lesson=${1##*/} line pages
    mkdir "$scratch/$lesson"
    cd "$scratch/$lesson"
    ln -s "$root/recipes" .
    touch lesson exercise results tables checks stated printed printed_by_exercise
    awk -v lesson="$lesson" -v parts="$parts" -v most_words="$most_words" "$read_page" "$page"
    while read -r line; do output_of "$line" >>printed_by_exercise; done <exercise
    while read -r line; do output_of "$line" >>printed; done <lesson
    mapfile -t pages <results
    awk -v lesson="$lesson" -v elsewhere="${elsewhere[${lesson%%-*}]:-}" "$compare" stated checks tables printed_by_exercise printed \
        "${pages[@]/#/$root/docs}"
}

for page in "$root"/docs/lessons/[0-9]*.md; do
    check_lesson "$page" >"$scratch/${page##*/}.errors" 2>&1 &
done
wait
cat "$scratch"/*.errors >&2
for page in "$scratch"/*.errors; do [[ ! -s $page ]]; done
