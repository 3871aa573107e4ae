#!/usr/bin/env python3
"""Times what an operator costs and gains in a program that has a matrix of scipy (docs/results/embedded.md).

    PYTHONPATH=build/release/python OMP_NUM_THREADS=1 benchmarks/beside_scipy.py [RECIPE...]

One line of JSON a matrix and recipe, f64, on the host: seconds to make an operator, without and with verification, of a product, of 8
columns, of new values, and of a whole solve by conjugate gradients to 1e-8 with the library's solver, its set-up included, beside scipy's and
Eigen's product in turns. Each is the least of several, as other work on a machine only adds.
"""

import json
import sys
import time

import numpy
import scipy.sparse.linalg
from scipy.sparse import diags, eye, kron

import spmv_workbench


def grid(n):
    line = diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return (kron(kron(line, eye(n)), eye(n)) + kron(kron(eye(n), line), eye(n)) + kron(kron(eye(n), eye(n)), line)).tocsr()


def scrambled(A):
    order = numpy.random.default_rng(1).permutation(A.shape[0])
    return A[order][:, order].tocsr()


MATRICES = {"grid of 20^3": grid(20), "grid of 50^3": grid(50), "the same, scrambled": scrambled(grid(50))}


def seconds(*functions, rounds=9):
    """The least of each, in turns; short ones are repeated."""
    repeats = []
    for function in functions:
        begin = time.perf_counter()
        function()
        repeats.append(max(1, int(0.02 / (time.perf_counter() - begin))))
    times = [[] for _ in functions]
    for _ in range(rounds):
        for function, repeat, mine in zip(functions, repeats, times):
            begin = time.perf_counter()
            for _ in range(repeat):
                function()
            mine.append((time.perf_counter() - begin) / repeat)
    return [min(mine) for mine in times]


def lines_of(name, recipe):
    A = MATRICES[name]
    x, X, b = (numpy.random.default_rng(0).random(shape) for shape in (A.shape[0], (A.shape[0], 8), A.shape[0]))
    y = numpy.empty_like(x)

    def made(verify=False):
        return spmv_workbench.Operator(recipe, A, device="host", verify=verify)

    def solved():
        return spmv_workbench.Solver(recipe, A, "cg", tolerance=1e-8, device="host", verify=False).solve(b)[1]

    eigen = spmv_workbench.Operator("csr", A, kernel="eigen", device="host", verify=False)
    operator = made()
    found = solved()
    assert found.converged and numpy.allclose(operator @ x, A @ x)
    product, in_order, of_eigen, of_scipy = seconds(lambda: operator.multiply(x, out=y), lambda: operator.in_recipe_order.multiply(x, out=y),
                                                    lambda: eigen.multiply(x, out=y), lambda: A @ x, rounds=21)
    columns, scipy_columns = seconds(lambda: operator @ X, lambda: A @ X)
    setup, verified, values = seconds(made, lambda: made(True), lambda: operator.set_values(A.data), rounds=5)
    solve, scipy_solve = seconds(solved, lambda: scipy.sparse.linalg.cg(A, b, tol=1e-8, maxiter=10000), rounds=5)
    return {"matrix": name, "recipe": recipe, "nonzeros": A.nnz, "setup": setup, "verified": verified, "product": product,
            "in_recipe_order": in_order, "eigen": of_eigen, "scipy": of_scipy, "columns_8": columns, "scipy_columns_8": scipy_columns,
            "set_values": values, "solve": solve, "iterations": found.iterations, "scipy_solve": scipy_solve}


for name in MATRICES:
    for recipe in sys.argv[1:] or ["csr", "rcm_csr", "sell"]:
        print(json.dumps(lines_of(name, recipe)), flush=True)
