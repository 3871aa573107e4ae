#!/usr/bin/env bash
# python_test.sh PYTHON BUILD_FOLDER: the tests of the Python module. Exit code 77: skipped, because this Python has no pytest.
set -euo pipefail
python=$1 build=$2
if ! "$python" -c 'import pytest' 2>/dev/null; then
    echo "python tests skipped: $python has no pytest"
    exit 77
fi
cd "$(dirname "$0")"
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -p no:cacheprovider --durations=5 .
