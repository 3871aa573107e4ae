#!/usr/bin/env bash
# The pictures of the README and the lessons are those that docs/pictures/make draws now, no more and no less, and small.
#   pictures_test.sh PROGRAM
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
"$root/docs/pictures/make" "$1" "$drawn"

status=0
complain() {
    echo "error: $*" >&2
    status=1
}
# page.png is a browser's picture, looked at by hand.
pictures() { (cd "$1" && find pictures lessons -name '*.png' ! -name page.png | sort); }
diff <(pictures "$root/docs") <(pictures "$drawn") >&2 || complain "docs holds other pictures than docs/pictures/make draws"
while read -r picture; do
    cmp -s "$root/docs/$picture" "$drawn/$picture" ||
        complain "docs/$picture is not what is drawn now: look at it after docs/pictures/make $1"
    grep -q "($(basename "$picture"))" "$root"/docs/lessons/*.md || grep -q "$picture)" "$root/README.md" "$root"/docs/*.md ||
        complain "docs/$picture is shown nowhere"
done < <(pictures "$drawn")
bytes=$(cd "$drawn" && find lessons -name '*.png' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
((bytes < 3000000)) || complain "the pictures of the lessons take $bytes bytes, expected fewer than 3,000,000"

# What a lesson names is there.
while IFS=: read -r file link; do
    target=${link%%#*}
    [[ -z $target || $target == http* || -e $(dirname "$file")/$target ]] || complain "$file: no $link"
done < <(grep -oE '\]\([^)]+\)' "$root"/docs/lessons/*.md | sed -E 's/\]\(([^)]*)\)/\1/')
exit "$status"
