#!/usr/bin/env bash
# A schedule whose hooks are misspelt does not compile. Usage: schedule_hooks_test.sh COMPILER SOURCE_FOLDER
set -uo pipefail
compiler=$1
folder=$2
source=$folder/tests/compile/schedule_hooks.cpp
failed=0

# The headers are read once.
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
grep '^#include' "$source" >"$headers/all.hpp"
"$compiler" -std=c++20 -I"$folder" -x c++-header "$headers/all.hpp" -o "$headers/all.hpp.gch" || exit 1

# compiles EDIT: the source compiles after a sed expression
compiles() {
    sed -E "$1" "$source" | "$compiler" -std=c++20 -fsyntax-only -I"$folder" -include "$headers/all.hpp" -x c++ - 2> /dev/null
}

# refused WHAT EDIT: the edit changes the source, and it no longer compiles
refused() {
    if sed -E "$2" "$source" | cmp -s - "$source"; then
        echo "nothing to change: $1" && failed=1
    elif compiles "$2"; then
        echo "compiles: $1" && failed=1
    fi
}

compiles '' || { echo "the schedule itself does not compile"; exit 1; }
for function in threads threads_side_by_side run values columns column has_plain_columns row_of state next_column choose; do
    refused "misspelt function $function" "s/ $function\(/ mis${function}(/"
done
for property in $(sed -nE 's/.*[{ ]\.([a-z_]+) = .*/\1/p' "$source"); do
    refused "misspelt property $property" "s/\.$property =/.mis$property =/"
done
for hook in values columns column has_plain_columns row_of state; do
    refused "$hook(), which Hooks does not name" "s/\.own_$hook = true/.own_$hook = false/"
done
refused "threads_side_by_side(), which Hooks does not name" 's/AdjacentRuns::any/AdjacentRuns::none/'
refused "a property beside Hooks" 's/^(struct Rows .*)/\1/; s/^(    static constexpr Offset threads)/    static constexpr int lanes = 4;\n\1/'
refused "a schedule that others can be derived from" 's/struct Rows final/struct Rows/'
exit $failed
