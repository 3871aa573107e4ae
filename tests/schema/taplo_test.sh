#!/usr/bin/env bash
# taplo_test.sh PROGRAM SOURCE: completion, hover and errors of taplo's language server (viz/page/test/taplo.mjs), as docs/editors.md
# describes them. Exit code 77: skipped, with the reason.
set -euo pipefail
program=$1
source=$2
if ! command -v node >/dev/null; then
    echo "taplo tests skipped: no node"
    exit 77
fi
if [[ ! -d $source/viz/page/node_modules/@taplo/lsp ]]; then
    echo "taplo tests skipped: 'npm ci' was not run in viz/page"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$source/.taplo.toml" "$folder"
mkdir -p "$folder/build/schema"
"$program" schema >"$folder/build/schema/recipe.json"
node "$source/viz/page/test/taplo.mjs" "$folder"
