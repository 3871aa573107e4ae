#!/usr/bin/env python3
"""Shows how well each state of the caches predicts the time of a product inside `workbench solve` (docs/measuring.md).

    benchmarks/states_against_solve.py [--backend kokkos|cuda] [--lines RAW.jsonl] [--matrices FIRST-LAST] WORKBENCH

For ten matrices and three recipes: `run` with --cache cold, --cache warm and --inside cg, and `solve` (CG, f64). On a CPU `solve` times each
product, whose median is compared. On a GPU the iterations are one graph; there, the difference of the times of an iteration with two
recipes, whose vectors are the same, is compared with the difference of their products, in units of the product. Prints a table in Markdown,
of these lines and those that RAW.jsonl has already.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MATRICES = ["laplace2d:nx=400", "laplace2d:nx=1200", "laplace3d:nx=70", "laplace3d:nx=60,points=27", "elasticity3d:nx=24",
            "elasticity3d:nx=24,scramble=1", "curlcurl3d:nx=32", "delaunay:nx=400,scramble=1", "finite_volume:nx=48",
            "random_laplacian:rows=200000,degree=8"]
RECIPES = ["recipes/csr.toml", "recipes/sell.toml", "recipes/rcm_sell.toml"]
STATES = {"cold": ["--cache", "cold"], "warm": ["--cache", "warm"], "inside CG": ["--inside", "cg"]}


def output_of(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode not in (0, 5):  # 5: a solve reached its iteration limit
        sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)


def kernels_of(run, backend):
    """The kernel of each recipe that solve uses, with its median."""
    found = {}
    for report in run["runs"]:
        for kernel in report["kernels"]:
            if kernel["backend"] == backend and kernel["status"] == "measured":
                found[(report["recipe"]["name"], kernel["kernel"])] = kernel["median_seconds"]
    return found


def lines(program, backend, matrices):
    backends = backend if backend != "cuda" else "cuda,cusparse"
    prepare = ["--prepare", "gpu"] if backend == "cuda" else []
    for matrix in matrices:
        with tempfile.TemporaryDirectory() as folder:
            common = [*RECIPES, *prepare, "--generate", matrix, "--out", folder, "--json", "-"]
            solve = output_of([program, "solve", *common, "--backend", backends, "--iterations", "300", "--tolerance", "1e-12"]
                              + (["--engine", "graph"] if backend != "kokkos" else []))
            times = {state: kernels_of(output_of([program, "run", *common, "--backend", backend, "--precision", "f64", "--no-pictures", "--no-page",
                                                 *options]), backend)
                     for state, options in STATES.items()}
        for one in solve["solves"]:
            key = (one["recipe"], one["kernel"])
            if one["iterations"] < 20 or any(key not in times[state] for state in STATES):
                continue
            yield {"matrix": matrix, "recipe": one["recipe"], "kernel": one["kernel"], "iteration_seconds": one["iteration_seconds"],
                   "product_inside_seconds": one["product_inside_seconds"], "noise": one["noise"],
                   "states": {state: times[state][key] for state in STATES}}


def errors_on_host(found):
    """For each state, the relative errors, signed: above 0 if the state's time is too long."""
    return {state: [one["states"][state] / one["product_inside_seconds"] - 1 for one in found] for state in STATES}


def errors_of_differences(found):
    errors = {state: [] for state in STATES}
    for _, group in itertools.groupby(found, key=lambda one: one["matrix"]):
        for a, b in itertools.combinations(list(group), 2):
            real = a["iteration_seconds"] - b["iteration_seconds"]
            for state in STATES:
                error = a["states"][state] - b["states"][state] - real
                errors[state].append(error / max(a["states"]["inside CG"], b["states"]["inside CG"]))
    return errors


def percentile(numbers, share):
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(errors):
    print("| state | products | error, median | 95th percentile | bias, median |\n|---|--:|--:|--:|--:|")
    for state, signed in errors.items():
        sizes = [abs(error) for error in signed]
        print(f"| {state} | {len(sizes)} | {100 * statistics.median(sizes):.1f} % | {100 * percentile(sizes, 0.95):.1f} % | "
              f"{100 * statistics.median(signed):+.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["kokkos", "cuda"], default="kokkos")
    parser.add_argument("--lines", help="file for the raw lines")
    parser.add_argument("--matrices", default="1-10", help="measure only these of the ten: FIRST-LAST")
    parser.add_argument("program")
    arguments = parser.parse_args()
    first, last = map(int, arguments.matrices.split("-"))
    found = []
    if arguments.lines and Path(arguments.lines).exists():
        found = [json.loads(line) for line in Path(arguments.lines).read_text().splitlines()]
    for line in lines(arguments.program, arguments.backend, MATRICES[first - 1:last]):
        found.append(line)
        print(json.dumps(line), file=open(arguments.lines, "a") if arguments.lines else sys.stderr, flush=True)
    if not found:
        sys.exit("no recipe was measured in all states")
    if arguments.backend == "kokkos":
        print("The time of a product inside `solve` (CPU):\n")
        table(errors_on_host(found))
        print()
    print("The difference of the times of an iteration with two recipes:\n")
    table(errors_of_differences(found))


if __name__ == "__main__":
    main()
