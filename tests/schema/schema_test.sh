#!/usr/bin/env bash
# schema_test.sh PROGRAM SOURCE: runs schema_test.py with a Python that has a validator of schemas. Exit code 77: there is none.
set -euo pipefail
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import jsonschema, tomllib' 2>/dev/null; then exec "$python" "$(dirname "$0")/schema_test.py" "$@"; fi
done
echo "schema tests skipped: no Python with jsonschema and tomllib"
exit 77
