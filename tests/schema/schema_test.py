"""schema_test.py PROGRAM SOURCE: the schemas accept every file of the project and refuse planted mistakes, as the program does."""
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import jsonschema

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
BASE = """
[matrix]
generate = "laplace2d"
nx = 4
[[stage]]
id = "parts"
use = "metis_partition"
parts = 16
[layout]
use = "sell"
slice_height = 32
"""

# (text that is replaced, its replacement); an empty text is appended.
RECIPE_MISTAKES = [
    ('use = "sell"', 'use = "sel"'),
    ("slice_height = 32", "slice_heigth = 32"),
    ("slice_height = 32", "slice_height = 0"),
    ("slice_height = 32", "slice_height = 32.5"),
    ("slice_height = 32", 'slice_height = "tall"'),
    ("slice_height = 32", "slice_height = {sweep = []}"),
    ("slice_height = 32", 'slice_height = {sweep = "1..many"}'),
    ("slice_height = 32", "slice_height = {sweep = [16, 0]}"),
    ("slice_height = 32", "slice_height = {same_as = 3}"),
    ('use = "metis_partition"', 'use = "metis_partion"'),
    ("parts = 16", ""),
    ("parts = 16", "parts = true"),
    ("parts = 16", 'parts = "many"'),
    ("parts = 16", "parts = 16\nkeep = 1"),
    ("parts = 16", "parts = 16\nremove = true"),
    ('id = "parts"', 'id = "two words"'),
    ('id = "parts"', 'after = "parts"'),
    ('use = "metis_partition"\n', ""),
    ('generate = "laplace2d"', 'generate = "laplace9d"'),
    ('generate = "laplace2d"\n', ""),
    ("nx = 4", "nz = 4"),
    ("nx = 4", 'nx = 4\npath = "a.mtx"'),
    ("nx = 4", "nx = 4\nnode_size = 0"),
    ("[layout]\nuse", "[layout]\nshares"),
    ('[layout]\nuse = "sell"\nslice_height = 32\n', ""),
    ("", '[recipe]\ncolour = "blue"'),
    ("", "[recipe]\nname = 3"),
    ("", '[recipe]\ndevice = "h900"'),
    ("", '[kernel]\nkokos = "rows"'),
    ("", "[kernel]\nkokkos = 3"),
    ("", "[kernel]\nthreads_per_block = 2048"),
    ("", '[colour]\nuse = "blue"'),
    ("", "[stage2]"),
    ("[layout]", '[[stage]]\nuse = "split"\nby = "row_length"\nlonger_than = ""\n[layout]'),
]
SPACE = """
[space]
name = "orders"
[[stage]]
id = "order"
optional = true
use = { sweep = ["cuthill_mckee", { use = "metis_partition", parts = [16, 132] }] }
[[stage]]
id = "sort"
use = "row_sort"
within = "window"
window = [64, 128]
when = "skew > 1.2"
[layout]
use = ["csr", { use = "sell", slice_height = [16, 32], when = "mean_row > 12" }]
"""
SPACE_MISTAKES = [
    ('"cuthill_mckee"', '"cuthill"'),
    ("parts = [16, 132]", "parts = [16, 0]"),
    ("parts = [16, 132]", "part = [16, 132]"),
    ("optional = true", "optional = 1"),
    ("window = [64, 128]", 'window = [64, "wide"]'),
    ('when = "skew > 1.2"', "when = 1"),
    ('["csr", {', '["csrr", {'),
    ("slice_height = [16, 32]", "slice_height = [16, 32.5]"),
    ('name = "orders"', 'extends = "a.toml"'),
    ("", '[kernel]\ncuda = "scalar"'),
]
SUITE = '[suite]\nrecipes = []\nprecisions = ["f64"]\nnamed = [{ name = "Williams/cant" }]\nmatrices = []\n'
SUITE_MISTAKES = [
    ("recipes = []", "recipe = []"),
    ("recipes = []", "recipes = [3]"),
    ('["f64"]', '["f16"]'),
    ('name = "Williams/cant"', "rows = 3"),
    ("", "samples = 0"),
    ("", 'cache = "hot"'),
    ("", '[recipe]\nname = "a"'),
]

failures = []


def fault(text):
    failures.append(text)
    print("error:", text)


def validator(kind):
    schema = json.loads(subprocess.run([PROGRAM, "schema", kind], check=True, capture_output=True).stdout)
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema)


def program_accepts(text, command):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "file.toml")
        file.write_text(text)
        return subprocess.run([PROGRAM, *command, str(file)], capture_output=True, cwd=folder).returncode == 0


def check_mistakes(schema, base, mistakes, command):
    if not schema.is_valid(tomllib.loads(base)):
        fault(f"the schema refuses the file in which mistakes are planted:\n{base}")
    if command and not program_accepts(base, command):
        fault(f"{command} refuses the file in which mistakes are planted:\n{base}")
    for before, after in mistakes:
        assert before in base, before
        text = base.replace(before, after, 1) if before else base + after + "\n"
        if schema.is_valid(tomllib.loads(text)):
            fault(f"the schema accepts {after!r} instead of {before!r}")
        if command and program_accepts(text, command):
            fault(f"the program accepts {after!r} instead of {before!r}")


def check_place_of_mistake(schema, base, before, after, place):
    """An editor marks the value, and not only its table, if all that have the parameter take the same values."""
    errors = schema.iter_errors(tomllib.loads(base.replace(before, after, 1)))
    if place not in [list(error.absolute_path) for error in errors]:
        fault(f"the schema does not mark {after!r}")


schemas = {kind: validator(kind) for kind in ("recipe", "suite", "space")}
accepted = 0
for file in sorted(path for folder in ("recipes", "suites", "spaces", "tests/layouts", "docs/examples") for path in (SOURCE / folder).rglob("*.toml")):
    tables = tomllib.loads(file.read_text())
    kind = next((name for name in ("suite", "space") if name in tables), "recipe")
    errors = list(schemas[kind].iter_errors(tables))
    if errors and kind == "recipe" and subprocess.run([PROGRAM, "check", file], capture_output=True).returncode != 0:
        continue  # a recipe that others extend and that is not complete
    for error in errors:
        fault(f"{file}: {list(error.absolute_path)}: {error.message[:200]}")
    accepted += 1
check_mistakes(schemas["recipe"], BASE, RECIPE_MISTAKES, ["check"])
check_mistakes(schemas["recipe"], BASE.replace("[layout]", '[[stage]]\nuse = "split"\nby = "row_length"\nlonger_than = "8"\n[layout]'), [], None)
check_place_of_mistake(schemas["recipe"], BASE, "parts = 16", 'parts = "many"', ["stage", 0, "parts"])
check_mistakes(schemas["space"], SPACE, SPACE_MISTAKES, ["check"])
check_mistakes(schemas["suite"], SUITE, SUITE_MISTAKES, None)  # no command checks a suite alone
print(f"{accepted} files accepted; {len(RECIPE_MISTAKES) + len(SPACE_MISTAKES) + len(SUITE_MISTAKES)} mistakes planted")
sys.exit(bool(failures))
