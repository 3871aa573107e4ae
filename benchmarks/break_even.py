#!/usr/bin/env python3
"""Compares the break-even that `workbench run` predicts with one that is measured (docs/measuring.md).

    PYTHONPATH=build/release/python benchmarks/break_even.py [--lines RAW.jsonl] [--rounds N] WORKBENCH

Ten generated matrices whose numbering is bad, on the host, f64. Predicted: the set-up of CSR after reverse Cuthill-McKee over the time that one
of its products saves against CSR as given, from `run`. Measured: the operator is made by the library, without verification, and both operators
multiply in turns, 20 products each, until the time of the products with CSR as given reaches that of the set-up and the products after RCM, in
the recipe's order. Of N rounds the one with the median of the measured numbers is taken, and the median of N predictions. Prints a table in
Markdown.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import scipy.sparse

import spmv_workbench

MATRICES = ["delaunay:nx=300,scramble=1", "delaunay:nx=500,scramble=1", "laplace2d:nx=500,scramble=1", "laplace2d:nx=900,scramble=1",
            "laplace3d:nx=60,scramble=1", "laplace3d:nx=80,scramble=1", "laplace3d:nx=40,points=27,scramble=1", "elasticity3d:nx=24,scramble=1",
            "elasticity3d:nx=32,scramble=1", "random_laplacian:rows=200000,degree=8"]
RECIPE = Path(__file__).parent.parent / "recipes" / "rcm_csr.toml"
AT_ONCE = 20
MOST = 100_000  # products


def predicted(program, file, folder):
    """The products after which the recipe has paid, by `run`; None: it does not."""
    command = [program, "run", str(RECIPE), "--matrix", file, "--backend", "kokkos", "--only", "rows", "--no-pictures", "--no-page",
               "--out", folder, "--json", "-"]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout)
    baseline, kernel = report["kernels"]
    saved = baseline["median_seconds"] - kernel["median_seconds"]
    return {"setup": kernel["setup_seconds"], "saved": saved, "products": kernel["setup_seconds"] / saved if saved > 0 else None}


def measured(A):
    given = spmv_workbench.Operator("csr", A, device="host", kernel="rows", verify=False)
    start = time.perf_counter()
    after_rcm = spmv_workbench.Operator(str(RECIPE), A, device="host", kernel="rows", verify=False).in_recipe_order
    setup = time.perf_counter() - start
    x = numpy.random.default_rng(1).random(A.shape[1])
    y = numpy.empty(A.shape[0])
    times = {given: 0.0, after_rcm: setup}
    products = 0
    while times[given] < times[after_rcm] and products < MOST:
        for operator in (given, after_rcm):
            start = time.perf_counter()
            for _ in range(AT_ONCE):
                operator.multiply(x, out=y)
            times[operator] += time.perf_counter() - start
        products += AT_ONCE
    return {"setup": setup, "saved": (times[given] - times[after_rcm] + setup) / products, "products": products if products < MOST else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", help="file for the raw lines")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("program")
    arguments = parser.parse_args()
    print("| matrix | predicted | measured | difference | set-up, predicted | measured |\n|---|--:|--:|--:|--:|--:|")
    for matrix in MATRICES:
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/matrix.npz"
            subprocess.run([arguments.program, "generate", matrix, "--out", file], stdout=subprocess.DEVNULL, check=True)
            A = scipy.sparse.load_npz(file).tocsr()
            rounds = [(predicted(arguments.program, file, folder), measured(A)) for _ in range(arguments.rounds)]
        line = json.dumps({"matrix": matrix, "rounds": [{"predicted": one, "measured": other} for one, other in rounds]})
        print(line, file=open(arguments.lines, "a") if arguments.lines else sys.stderr, flush=True)
        if any(one["products"] is None or other["products"] is None for one, other in rounds):
            print(f"| {matrix} | does not pay in each round | | | | |")
            continue
        middle = [statistics.median(side[key] for side in sides) for key in ("products", "setup") for sides in zip(*rounds)]
        print(f"| {matrix} | {middle[0]:,.0f} | {middle[1]:,.0f} | {100 * (middle[0] / middle[1] - 1):+.0f} % | "
              f"{middle[2] * 1e3:.1f} ms | {middle[3] * 1e3:.1f} ms |", flush=True)


if __name__ == "__main__":
    main()
