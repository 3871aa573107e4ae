"""Arrays as callers hold them: types, strides, alignment, nothing in them, and results that are already in use."""

import numpy as np
import pytest
import scipy.sparse
from conftest import SOURCE, drawn, laplace

import spmv_workbench as wb

ORDERED = {"stage": [{"use": "random_order"}], "layout": {"use": "sell"}}


def unaligned(count):
    return np.frombuffer(bytearray(8 * count + 1), np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize("index", [np.int64, np.int16, np.uint64, ">i4"])
def test_indices_of_all_types(host, vector, index):
    A = drawn(40, 40)
    x = vector(40)
    expected = A @ x
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    op = host(ORDERED, A)
    np.testing.assert_allclose(op @ x, expected)
    op.set_values(2 * A.data)
    np.testing.assert_allclose(op @ x, 2 * expected)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_arrays_of_a_matrix_that_are_strided_or_read_only(host, vector, form):
    A = (drawn(40, 40) * (1 + 2j)).asformat(form).real  # a strided view of complex values
    x = vector(40)
    expected = A @ x
    for name in ("indptr", "indices", "row", "col"):
        if hasattr(A, name):
            setattr(A, name, np.repeat(getattr(A, name), 2)[::2])
    for name in ("data", "indptr", "indices", "row", "col", "offsets"):
        if hasattr(A, name):
            getattr(A, name).flags.writeable = False
    op = host(ORDERED, A)
    np.testing.assert_allclose(op @ x, expected)
    op.set_values(np.asfortranarray(2 * A.data))
    np.testing.assert_allclose(op @ x, 2 * expected)


@pytest.mark.parametrize("dtype", [bool, int, complex, object, np.float16, np.longdouble])
def test_values_of_other_types_are_refused(host, dtype):
    A = drawn(40, 40)
    A = scipy.sparse.csr_matrix((np.ones(A.nnz, dtype), A.indices, A.indptr), A.shape)
    with pytest.raises(TypeError, match=f"A: found values of type {A.dtype}, expected float32 or float64: A."):
        host(ORDERED, A)


def test_vectors_of_all_types(host, vector):
    A = drawn(40, 30)
    of_64, of_32 = host({"layout": {"use": "csr"}}, A), host({"layout": {"use": "csr"}}, A.astype(np.float32))
    x = np.arange(30) % 2
    for dtype in (bool, np.int8, int, np.uint64, np.float16, np.float32, ">f4"):
        for op in (of_64, of_32):
            np.testing.assert_allclose(op @ x.astype(dtype), A @ x, rtol=1e-6)
    for dtype in (complex, object, "U3", "M8[s]", np.longdouble):
        for op in (of_64, of_32):
            for multiply in (op.multiply, op.matvec, op.__matmul__, op.in_recipe_order.multiply):
                with pytest.raises(TypeError, match=f"x: found values of type .*, expected {op.dtype}"):
                    multiply(x.astype(dtype))
    with pytest.raises(TypeError, match=r"expected float64: x\.real"):
        of_64 @ x.astype(complex)
    masked = np.ma.masked_array(np.ones(30), mask=x)
    for multiply in (of_64.multiply, of_64.matvec, of_64.__matmul__):
        with pytest.raises(TypeError, match="x: found an array with a mask"):
            multiply(masked)


def test_vectors_of_all_shapes_and_strides(host, vector):
    A = drawn(40, 30)
    op = host({"layout": {"use": "csr"}}, A)
    X = np.asfortranarray(vector(90).reshape(30, 3))
    place = unaligned(30)
    place[:] = X[:, 0]
    for x in (X[:, 1], X[::-1, 0], X[:, :1], np.ascontiguousarray(X)[:, 2], np.broadcast_to(2.5, 30), place, list(X[:, 1])):
        np.testing.assert_allclose(op.multiply(x), A @ np.ravel(x))
        np.testing.assert_allclose(op.matvec(x).ravel(), A @ np.ravel(x))
    for columns in (X, X[:, :0], X[:, ::2]):
        np.testing.assert_allclose(op @ columns, A @ columns)
        np.testing.assert_allclose(op.in_recipe_order @ columns, A @ columns)
    for x in (X[:1].T, X[:, :1].T, np.ones(0), np.ones((30, 1, 1)), 1.0, None):
        with pytest.raises(ValueError, match=r"x: found shape .*, expected \(30,\)"):
            op.multiply(x)


def test_results_that_are_already_in_use(host, vector):
    A = laplace(6)
    op = host(ORDERED, A)
    place = np.empty(3 * 36)
    x = vector(36)
    for given, out, is_apart in ((place[:36], place[36:72], True), (place[:36], place[:36], False), (place[:36], place[35:71], False),
                                 (place[:72:2], place[:36], True), (place[35::-1], place[:36], True)):  # fmt: skip
        place[:] = np.nan
        given[:] = x
        if is_apart:  # or x is copied, as it is strided
            np.testing.assert_allclose(op.multiply(given, out=out), A @ x)
        else:
            with pytest.raises(ValueError, match="x and y overlap"):
                op.multiply(given, out=out)
    np.testing.assert_allclose(op.multiply(x, out=np.asfortranarray(np.ones((36, 2)))[:, 1]), A @ x)
    for wrong in (np.matrix(x), np.ma.masked_array(x), x.astype(">f8"), x[:, None], unaligned(36), np.ones((36, 2))[:, 0], list(x)):
        with pytest.raises(ValueError, match="out: expected an array"):
            op.multiply(x, out=wrong)


@pytest.mark.parametrize("file", sorted((SOURCE / "recipes").glob("*.toml")), ids=lambda file: file.stem)
def test_products_do_not_depend_on_what_out_was(host, vector, file):
    A = laplace(6) + scipy.sparse.csr_matrix(drawn(36, 36, seed=6) > 0, dtype=float)
    try:
        op = host(file, A, verify=False)
    except wb.Error:
        pytest.skip("no kernel for this matrix on the host")
    x, y = vector(36), np.full(36, np.nan)
    np.testing.assert_allclose(op.multiply(x, out=y), A @ x, rtol=0.02, atol=0.1)
    y[:] = np.nan
    np.testing.assert_array_equal(op.in_recipe_order.multiply(op.to_recipe_order(x), out=y), op.in_recipe_order @ op.to_recipe_order(x))
    op_of_nan = op.multiply(x, out=np.full(36, np.nan), add=True)
    assert np.isnan(op_of_nan).all()


@pytest.mark.parametrize("layout", ["csr", "sell", "coo", "dia", "bsr", "jds"])
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (3, 3), (1, 7)])
def test_matrices_without_entries(host, layout, shape):
    for A in (scipy.sparse.csr_matrix(shape), scipy.sparse.coo_matrix(shape)):
        try:
            op = host({"layout": {"use": layout}}, A)
        except wb.MatrixError:
            continue
        rows, columns = shape
        for x in (np.ones(columns), np.ones((columns, 1)), np.ones((columns, 2)), np.ones((columns, 0))):
            np.testing.assert_array_equal(op @ x, np.zeros((rows, *x.shape[1:])))
        np.testing.assert_array_equal(op.multiply(np.ones(columns), out=np.full(rows, np.nan)), np.zeros(rows))
        op.set_values(np.ones(0))
        op.set_values(A)
        assert op.facts.nonzeros == 0 and op.row_order.size == rows and op.to_recipe_order(np.ones(columns)).size == columns
