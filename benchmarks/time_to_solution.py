#!/usr/bin/env python3
"""Times solves from CSR in memory to x on a CPU: `workbench solve` beside Eigen and scipy (docs/results/time-to-solution.md).

    OMP_NUM_THREADS=2 benchmarks/time_to_solution.py [--rounds N] WORKBENCH CG_PEERS_BENCHMARK MATRIX.npz... > RAW.jsonl
    benchmarks/time_to_solution.py --table RAW.jsonl

Conjugate gradients, f64, b = 1, no preconditioner, |b - A x| < 1e-8 |b|. The programs take turns, N rounds for each matrix. A line
of JSON for each solve: set-up (all between the matrix in memory and the first iteration, and bringing x back) and iterations. The table
has the least of the rounds, which other work on the machine disturbs least, and the slowest one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

RECIPES = ["recipes/rcm_csr.toml", "recipes/rcm_sell.toml"]


def line_of(matrix, name, setup, solve, iterations, residual):
    return {"matrix": matrix, "solver": name, "setup_seconds": setup, "solve_seconds": solve, "iterations": iterations,
            "true_residual": residual}


def workbench_lines(program, file, name):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program, "solve", *RECIPES, "--matrix", file, "--backend", "kokkos", "--out", folder, "--json", "-"],
                             check=True, stdout=subprocess.PIPE)
    for solve in json.loads(run.stdout)["solves"]:
        label = "CSR (baseline)" if solve["baseline"] else solve["recipe"]
        yield line_of(name, label, solve["once_seconds"] + solve["vector_seconds"], solve["solve_seconds"], solve["iterations"],
                      solve["true_residual"])


def eigen_lines(program, file, name):
    run = subprocess.run([program, "--repeat", "1", file], check=True, stdout=subprocess.PIPE)
    for text in run.stdout.splitlines():
        found = json.loads(text)
        yield line_of(name, found["library"], found["setup_seconds"], found["solve_seconds"], found["iterations"],
                      found["true_residual"])


def scipy_lines(matrix, name):
    import numpy
    import scipy
    import scipy.sparse.linalg

    b = numpy.ones(matrix.shape[0])
    residuals = []
    begin = time.perf_counter()
    x, _ = scipy.sparse.linalg.cg(matrix, b, tol=1e-8, atol=0, callback=residuals.append)
    seconds = time.perf_counter() - begin
    residual = float(numpy.linalg.norm(b - matrix @ x) / numpy.linalg.norm(b))
    yield line_of(name, "scipy " + scipy.__version__, 0.0, seconds, len(residuals), residual)


def measure(arguments):
    import scipy.sparse

    workbench, eigen, *files = arguments.files
    for file in files:
        name = os.path.basename(file)
        matrix = scipy.sparse.load_npz(file)
        for _ in range(arguments.rounds):
            for lines in (workbench_lines(workbench, file, name), eigen_lines(eigen, file, name), scipy_lines(matrix, name)):
                for line in lines:
                    print(json.dumps(line), flush=True)


def print_table(file):
    groups = {}
    with open(file, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            groups.setdefault((line["matrix"], line["solver"]), []).append(line)
    print("| matrix | solver | set-up | iterations | ms each | in all | slowest round |\n|---|---|--:|--:|--:|--:|--:|")

    def in_all(run):
        return run["setup_seconds"] + run["solve_seconds"]

    for (matrix, solver), runs in groups.items():
        least = min(runs, key=in_all)
        each = 1e3 * least["solve_seconds"] / max(least["iterations"], 1)
        print(f"| {matrix} | {solver} | {least['setup_seconds']:.2f} s | {least['iterations']} | {each:.1f} | "
              f"{in_all(least):.2f} s | {max(map(in_all, runs)):.2f} s |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(arguments.files[0])
    elif len(arguments.files) < 3:
        sys.exit("expected WORKBENCH CG_PEERS_BENCHMARK MATRIX.npz...")
    else:
        measure(arguments)


if __name__ == "__main__":
    main()
