#!/usr/bin/env python3
"""Times scipy's conjugate gradients from CSR in memory to x, beside `workbench solve` (docs/results/time-to-solution.md).

    benchmarks/cg_peers.py [--repeat N] MATRIX.npz...

b = 1, no preconditioner, |b - A x| < 1e-8 |b|. Prints a line of JSON for each run.
"""

import argparse
import json
import os
import time

import numpy
import scipy
import scipy.sparse
import scipy.sparse.linalg


def solve(name, matrix):
    b = numpy.ones(matrix.shape[0])
    iterations = 0

    def count(_):
        nonlocal iterations
        iterations += 1

    begin = time.perf_counter()
    x, info = scipy.sparse.linalg.cg(matrix, b, tol=1e-8, atol=0, callback=count)
    seconds = time.perf_counter() - begin
    residual = numpy.linalg.norm(b - matrix @ x) / numpy.linalg.norm(b)
    print(json.dumps({"library": "scipy " + scipy.__version__, "matrix": name, "rows": matrix.shape[0],
                      "nonzeros": int(matrix.nnz), "setup_seconds": 0.0, "solve_seconds": round(seconds, 6),
                      "iterations": iterations, "true_residual": float(residual), "converged": info == 0}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("matrices", nargs="+")
    arguments = parser.parse_args()
    for file in arguments.matrices:
        matrix = scipy.sparse.load_npz(file)
        for _ in range(arguments.repeat):
            solve(os.path.basename(file), matrix)


if __name__ == "__main__":
    main()
