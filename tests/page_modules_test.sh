#!/usr/bin/env bash
# page_modules_test.sh SOURCE: the modules of the page in node, without a browser (viz/page/test/modules.mjs). Exit code 77: skipped, with
# the reason.
set -euo pipefail
if ! command -v node >/dev/null; then
    echo "tests of the page's modules skipped: no node"
    exit 77
fi
node "$1/viz/page/test/modules.mjs"
