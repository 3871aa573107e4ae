#!/usr/bin/env bash
# live_test.sh PROGRAM SOURCE [PART...]: the page of `workbench serve` in headless Chromium (viz/page/test/live.mjs, which names the
# parts; default: all). Exit code 77: skipped, with the reason.
# live_test.sh PROGRAM SOURCE speed [CHANGES [LIMIT [RECIPE SLIDER]]]: how long the page takes from a change to the new picture, for
# 10^5 nonzeros unless a recipe and the name of a slider are given (viz/page/test/live_speed.mjs). The test suite does not run this,
# because it needs an idle machine.
set -euo pipefail
program=$(realpath -- "$1")
source=$2
test=live
own_recipe=
if [[ ${3:-} == speed ]]; then
    test=live_speed
    own_recipe=${6:-}
fi
folder=$(mktemp -d)
: >"$folder/log"
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT

if ! command -v node >/dev/null; then
    echo "tests of the live page skipped: no node"
    exit 77
fi
if [[ ! -d $source/viz/page/node_modules/playwright-core ]]; then
    echo "tests of the live page skipped: 'npm ci' was not run in viz/page"
    exit 77
fi
recipe=$folder/$test.toml
cp "$source/tests/page/$test.toml" "$recipe"
[[ -z $own_recipe ]] || recipe=$(realpath -- "$own_recipe") # with the matrix beside it
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n' >"$folder/grid.mtx"
(cd "$folder" && exec "$program" serve "$recipe" --backend kokkos --samples 3 --seconds 0) >"$folder/log" 2>&1 &
server=$!
for _ in {1..300}; do
    address=$(sed -n 's/.* is at \(http:.*\)/\1/p' "$folder/log")
    [[ -z $address ]] || break
    sleep 0.1
done
if grep -q 'without cpp-httplib' "$folder/log"; then
    echo "tests of the live page skipped: built without cpp-httplib"
    exit 77
fi
if [[ $test == live_speed ]]; then
    node "$source/viz/page/test/live_speed.mjs" "$address" "${@:4:2}" "${@:7}"
else
    export XDG_CACHE_HOME=$folder/cache # of the servers that the test starts
    node "$source/viz/page/test/live.mjs" "$address" "$program" "$folder/$test.toml" "$source" "${@:3}"
fi
