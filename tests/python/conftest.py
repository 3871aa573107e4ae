import glob
import pathlib
import sys

import numpy as np
import pytest
import scipy.sparse

import spmv_workbench as wb

SOURCE = pathlib.Path(__file__).parents[2]
RCM_SELL = '[[stage]]\nuse = "cuthill_mckee"\n[layout]\nuse = "sell"\nslice_height = 8\n'

sys.path += glob.glob("/usr/lib/petscdir/*/*-real/lib/python3/dist-packages")  # where Debian has petsc4py


def laplace(n=12, dtype=np.float64, seed=1):
    """A symmetric positive definite matrix [n * n] whose rows are in random order."""
    line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    grid = scipy.sparse.kronsum(line, line).tocsr()
    order = np.random.default_rng(seed).permutation(n * n)
    return grid[order][:, order].astype(dtype)


def drawn(rows, columns, dtype=np.float64, seed=2):
    """A random matrix [rows, columns]."""
    random = scipy.sparse.random(rows, columns, 0.1, "csr", random_state=seed)
    return random.astype(dtype)


@pytest.fixture
def vector():
    return lambda n, dtype=np.float64: np.random.default_rng(3).standard_normal(n).astype(dtype)


@pytest.fixture
def host():
    """Makes an operator on the host."""
    return lambda recipe, A, **options: wb.Operator(recipe, A, device="host", **options)
