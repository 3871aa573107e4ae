"""Matrices and vectors of CuPy and PyTorch on a GPU; skipped where there is none."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import laplace

import spmv_workbench as wb

cp = pytest.importorskip("cupy")
sparse = pytest.importorskip("cupyx.scipy.sparse")
if cp.cuda.runtime.getDeviceCount() == 0:
    pytest.skip("there is no GPU", allow_module_level=True)

THERE = {
    "stage": [{"use": "cuthill_mckee"}, {"use": "row_sort", "within": "window", "window": 512}],
    "layout": {"use": "sell", "slice_height": "auto", "column_index": "u16"},
}
ON_HOST = {"layout": {"use": "coo"}}


def sorted_laplace(dtype=np.float64):
    """With ascending columns, which the GPU needs to prepare a matrix."""
    A = laplace(dtype=dtype)
    A.sort_indices()
    return A


def place_of(op):
    """ "GPU", "host", or "" for a matrix that was given on the host."""
    notes = [note for note in op.facts.notes if note.startswith("prepared on the ")]
    return notes[0].split()[3].rstrip(":") if notes else ""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("recipe, place", [(THERE, "GPU"), (ON_HOST, "host")])
def test_matrices_of_cupy(dtype, recipe, place):
    A = sorted_laplace(dtype)
    there = sparse.csr_matrix(A)
    x = cp.random.default_rng(1).standard_normal(A.shape[1]).astype(dtype)
    op = wb.Operator(recipe, there, device="gpu")
    assert op.dtype == dtype and op.shape == A.shape and op.facts.verified and place_of(op) == place
    tolerance = {"rtol": 50 * np.finfo(dtype).eps, "atol": 5000 * np.finfo(dtype).eps}
    y = cp.full(A.shape[0], np.nan, dtype)
    assert op.multiply(x, out=y) is y
    cp.testing.assert_allclose(y, there @ x, **tolerance)
    op.multiply(x, out=y, add=True)
    cp.testing.assert_allclose(y, 2 * (there @ x), **tolerance)
    p = cp.empty_like(x)
    op.to_recipe_order(x, out=p)
    np.testing.assert_array_equal(p.get(), x.get()[op.column_order])
    changed = there.copy()
    changed.data = there.data * 3 + 1
    op.set_values(changed.data)
    op.multiply(x, out=y)
    cp.testing.assert_allclose(y, changed @ x, **tolerance)
    op.set_values(A.data)
    np.testing.assert_allclose(op @ x.get(), A @ x.get(), **tolerance)


def test_a_stream_of_cupy():
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        A = sparse.csr_matrix(sorted_laplace())
        x = cp.ones(A.shape[1])
        y = cp.empty_like(x)
        wb.Operator(THERE, A, stream=stream).multiply(x, out=y)
        cp.testing.assert_allclose(y, A @ x, atol=1e-12)


@pytest.mark.parametrize("method", ["cg", "bicgstab"])
def test_right_sides_of_cupy(method):
    A = sorted_laplace() + scipy.sparse.identity(144)
    solver = wb.Solver(ON_HOST, A, method, device="gpu", engine="graph", tolerance=1e-10)
    B = cp.random.default_rng(1).standard_normal((144, 3))
    X = cp.full((144, 3), np.nan)
    x, facts = solver.solve(B, out=X)
    assert x is X and len(facts) == 3 and all(one.converged for one in facts) and facts[0].together == (3 if method == "cg" else 1)
    np.testing.assert_allclose(A @ X.get(), B.get(), atol=1e-8)
    assert all(one.iterations <= 1 for one in solver.solve(B, X, out=X).facts)


@pytest.mark.parametrize("index, place", [("int32", "GPU"), ("int64", "")])
def test_matrices_of_pytorch(index, place):
    torch = pytest.importorskip("torch")
    A = sorted_laplace()
    indices = [torch.tensor(part, dtype=getattr(torch, index)) for part in (A.indptr, A.indices)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its sparse tensors are announced as beta
        there = torch.sparse_csr_tensor(*indices, torch.tensor(A.data), size=A.shape, device="cuda")
    op = wb.Operator(THERE, there, device="gpu")
    assert place_of(op) == place
    x = torch.linspace(-1, 1, A.shape[1], dtype=torch.float64, device="cuda")
    y = torch.empty_like(x)
    op.multiply(x, out=y)
    np.testing.assert_allclose(y.cpu().numpy(), A @ x.cpu().numpy(), atol=1e-12)
