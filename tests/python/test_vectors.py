"""Several vectors, the transpose, and alpha and beta, beside scipy."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import spmv_workbench as wb

RECIPES = ["csr", "sell", "sell16", "csr16", "block_sell", "rcm_csr", "hyb", "hybrid_long_rows", "coo"]


def matrix(rows, columns, dtype=np.float64):
    """Integers, so that sums are exact."""
    A = scipy.sparse.random(rows, columns, 0.05, "csr", dtype, np.random.default_rng(rows))
    A.data[:] = np.random.default_rng(columns).integers(-9, 10, A.nnz)
    return A


def integers(*shape, dtype=np.float64):
    return np.random.default_rng(shape[0]).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_several_vectors_are_those_of_scipy(recipe, dtype):
    A = matrix(90, 90, dtype)
    op = wb.Operator(recipe, A, device="host")
    for vectors in (1, 2, 3, 4, 5, 8, 16, 17, 64, 130):
        X = integers(90, vectors, dtype=dtype)
        np.testing.assert_array_equal(op @ X, A @ X)
        np.testing.assert_array_equal(op @ np.asfortranarray(X), A @ X)
        Y = integers(90, vectors, dtype=dtype)
        expected = Y + A @ X
        assert op.multiply(X, out=Y, add=True) is Y
        np.testing.assert_array_equal(Y, expected)


def test_a_matrix_that_is_not_square():
    A = matrix(70, 40)
    op = wb.Operator("csr", A, device="host")
    X = integers(40, 6)
    np.testing.assert_array_equal(op @ X, A @ X)
    np.testing.assert_array_equal(op.T @ integers(70), A.T @ integers(70))
    np.testing.assert_array_equal(op.T @ integers(70, 5), A.T @ integers(70, 5))
    assert op.T.shape == (40, 70)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_transpose(recipe):
    A = matrix(90, 90)
    op = wb.Operator(recipe, A, device="host")
    x = integers(90)
    np.testing.assert_array_equal(op.rmatvec(x), A.T @ x)
    np.testing.assert_array_equal(op.H @ x, A.T @ x)
    assert op.T is op.T and op.T.T is op
    assert op.T.facts.seconds > 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(op.T)) @ x, A.T @ x)


def test_new_values_reach_the_transpose_and_several_vectors():
    A = matrix(60, 60)
    op = wb.Operator("sell", A, device="host")
    X = integers(60, 4)
    _ = op @ X, op.T @ X
    B = A.copy()
    B.data *= 3
    op.set_values(B)
    np.testing.assert_array_equal(op @ X, B @ X)
    np.testing.assert_array_equal(op.T @ X, B.T @ X)
    with pytest.raises(TypeError, match="found the transpose of an operator"):
        op.T.set_values(B)


def test_alpha_and_beta():
    A = matrix(80, 50)
    op = wb.Operator("csr", A, device="host")
    x, y = integers(50), integers(80)
    for alpha in (1, 2, -0.5, 0):
        for beta in (0, 1, -2):
            out = y.copy()
            assert op.multiply(x, out=out, alpha=alpha, beta=beta) is out
            np.testing.assert_array_equal(out, alpha * (A @ x) + beta * y)
    np.testing.assert_array_equal(op.multiply(x, alpha=3), 3 * (A @ x))
    out = np.full(80, np.nan)
    op.multiply(x, out=out, alpha=2, beta=0)  # y is not read
    np.testing.assert_array_equal(out, 2 * (A @ x))
    with pytest.raises(ValueError, match="expected the array that beta multiplies"):
        op.multiply(x, beta=1)
    with pytest.raises(ValueError, match="expected one vector"):
        op.multiply(integers(50, 2), alpha=2)


def test_wrong_shapes_are_refused():
    op = wb.Operator("csr", matrix(30, 20), device="host")
    with pytest.raises(ValueError, match=r"found shape \(21, 3\)"):
        op.multiply(np.ones((21, 3)))
    with pytest.raises(ValueError, match="expected an array of 30 x 3 values"):
        op.multiply(np.ones((20, 3)), out=np.ones((30, 2)))
    with pytest.raises(ValueError, match="contiguous"):
        op.multiply(np.ones((20, 3)), out=np.ones((30, 3), order="F"))


def test_lsqr_and_svds_use_the_transpose():
    A = matrix(90, 40)
    op = wb.Operator("csr", A, device="host")
    b = A @ np.ones(40)
    x = scipy.sparse.linalg.lsqr(op, b, atol=1e-12, btol=1e-12, iter_lim=500)[0]
    np.testing.assert_allclose(A @ x, b, atol=1e-6)
    found = scipy.sparse.linalg.svds(op, k=3, return_singular_vectors=False)
    np.testing.assert_allclose(np.sort(found)[-1], np.linalg.norm(A.toarray(), 2), rtol=1e-8)
