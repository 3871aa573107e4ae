#!/usr/bin/env bash
# pictures_test.sh PROGRAM: docs/pictures/make draws exactly the stored pictures of the README, the lessons and docs/figures.md, and
# they are small.
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
# page.png and lesson.png are screenshots of a browser, compared by eye.
pictures() { (cd "$1" && find pictures lessons \( -name '*.png' -o -name '*.gif' -o -path '*/figures/*.svg' \) ! -name page.png ! -path pictures/lesson.png | sort); }
diff <(pictures "$root/docs") <(pictures "$drawn") >&2 || complain "docs holds other pictures than docs/pictures/make draws"
while read -r picture; do
    cmp -s "$root/docs/$picture" "$drawn/$picture" ||
        complain "docs/$picture is not what is drawn now: look at it after docs/pictures/make $1"
    grep -q "($(basename "$picture"))" "$root"/docs/lessons/*.md || grep -q "$picture)" "$root/README.md" "$root"/docs/*.md ||
        complain "docs/$picture is shown nowhere"
done < <(pictures "$drawn")
bytes=$(cd "$drawn" && find lessons -name '*.png' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
((bytes < 4200000)) || complain "the pictures of the lessons take $bytes bytes, expected fewer than 4,200,000"
bytes=$(stat -c %s "$drawn/pictures/ehyb.gif")
((bytes < 400000)) || complain "docs/pictures/ehyb.gif takes $bytes bytes, expected fewer than 400,000"

exit "$status"
