"""New values for an operator: those of the pattern that was given, in the order that it had, or an error."""

import gc

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from conftest import RCM_SELL, drawn, laplace

import spmv_workbench as wb

ORDERED = {"stage": [{"use": "random_order"}], "layout": {"use": "sell"}}
WITH_ARRAY = ["csr", "csc", "coo", "bsr", "dia"]
ALL_FORMATS = [*WITH_ARRAY, "lil", "dok"]
MOVED = "A has its entries in another order or in other places"


def shuffled(form, dtype=np.float64):
    """A matrix [12, 12] in CSR, CSC, COO or BSR whose entries are in no order."""
    A = scipy.sparse.random(12, 12, 0.4, "coo", random_state=4, dtype=dtype)
    order = np.random.default_rng(5).permutation(A.nnz)
    A = scipy.sparse.coo_matrix((A.data[order], (A.row[order], A.col[order])), A.shape)
    if form == "coo":
        return A
    make = {"csr": A.tocsr, "csc": A.tocsc, "bsr": lambda: A.tobsr((3, 2))}[form]
    A = make()
    for begin, end in zip(A.indptr, A.indptr[1:]):  # scipy has sorted them
        A.indices[begin:end], A.data[begin:end] = A.indices[begin:end][::-1].copy(), A.data[begin:end][::-1].copy()
    A.has_sorted_indices = False
    return A


def check(op, A):
    x = np.random.default_rng(3).standard_normal(A.shape[1])
    np.testing.assert_allclose(op @ x, A @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", ALL_FORMATS)
def test_new_values_of_all_formats(host, form, kind):
    A = getattr(scipy.sparse, f"{form}_{kind}")(drawn(40, 40))
    op = host(ORDERED, A)
    check(op, A)
    for factor, other in enumerate(ALL_FORMATS, start=2):  # as a matrix
        op.set_values((factor * A).asformat(other))
        check(op, factor * A)
    if form in WITH_ARRAY:
        op.set_values(-A.data)
        check(op, -A)
    else:
        with pytest.raises(ValueError, match=f"A is in {form.upper()}, which has no array of values; expected a matrix"):
            op.set_values(np.ones(A.nnz))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_the_order_of_new_values_is_that_of_the_construction(host, form):
    A = shuffled(form)
    op = host(ORDERED, A)
    values = 2 * A.data
    op.set_values(values)
    check(op, 2 * A)
    A.sum_duplicates() if form == "coo" else A.sort_indices()
    assert not np.array_equal(2 * A.data, values)
    for ambiguous in (values, A.data):
        with pytest.raises(ValueError, match=MOVED):
            op.set_values(ambiguous)
    check(op, 2 * A)
    op.set_values(A)
    check(op, A)


def test_a_solve_of_scipy_sorts_its_matrix(host):
    A = laplace(6)
    assert not A.has_sorted_indices
    op = host(ORDERED, A)
    scipy.sparse.linalg.spsolve(A, np.ones(36))
    with pytest.raises(ValueError, match=MOVED):
        op.set_values(A.data)
    op.set_values(3 * A)
    check(op, 3 * A)


def test_entries_that_moved(host):
    A = drawn(40, 40)
    op = host(ORDERED, A)
    before, count = A.copy(), A.nnz
    row, column = (int(each[0]) for each in A.nonzero())
    A[row, column] = 0
    A.eliminate_zeros()
    empty = next(c for c in range(40) if A[0, c] == 0 and (0, c) != (row, column))
    A = A.tolil()
    A[0, empty] = 1
    A = A.tocsr()
    assert A.nnz == count
    with pytest.raises(wb.MatrixError, match=r"row \d+ has (an|no) entry in column \d+; expected the pattern of the matrix"):
        op.set_values(A)
    with pytest.raises(wb.MatrixError, match="the matrix has 39 rows and 40 columns; expected 40 and 40"):
        op.set_values(before[:39])
    check(op, before)


def test_a_matrix_that_changed_in_place_or_is_gone(host):
    A = drawn(40, 40)
    before = A.copy()
    op = host(ORDERED, A)
    A.indices[:] = A.indices[::-1].copy()
    with pytest.raises(ValueError, match=MOVED):
        op.set_values(A.data)
    del A
    gc.collect()
    op.set_values(2 * before.data)  # in the order of the construction
    check(op, 2 * before)


def test_zeros_of_diagonals(host):
    """scipy drops them when it converts DIA, which must not move the values after them."""
    A = scipy.sparse.dia_matrix((np.array([[1.0, 0, 3, 4, 5], [6, 7, 8, 0, 9], [1, 2, 3, 4, 5]]), [-1, 0, 1]), shape=(5, 5))
    op = host(ORDERED, A)
    assert op.facts.nonzeros == A.tocsr().nnz == 11
    check(op, A)
    A.data *= 2
    op.set_values(A.data)
    check(op, A)
    values = A.data.copy()
    values[1, :2] = 0  # an entry may become 0
    op.set_values(values)
    zeros = A.copy()
    zeros.data = values
    check(op, zeros)
    op.set_values(A)
    check(op, A)
    values[1, 3] = 4.5
    with pytest.raises(ValueError, match="found 4.5 in row 3 and column 3, where A had 0, which has no entry in the operator"):
        op.set_values(values)
    values[1, 3] = 0
    values[0, 4] = np.nan  # outside of the matrix
    op.set_values(values)
    check(op, zeros)


def test_duplicates_are_added_as_at_the_construction(host):
    A = scipy.sparse.coo_matrix((np.arange(1.0, 8), ([0, 0, 1, 1, 1, 2, 0], [1, 1, 0, 0, 0, 2, 2])), (3, 3))
    op = host(ORDERED, A)
    check(op, A)
    op.set_values(A.data[::-1])
    reversed_values = A.copy()
    reversed_values.data = A.data[::-1].copy()
    check(op, reversed_values)
    op.set_values(A.tocsr())
    check(op, A)
    twice = scipy.sparse.csc_matrix((np.ones(3), [0, 0, 1], [0, 2, 3, 3]), (3, 3))
    with pytest.raises(wb.MatrixError, match="row 0 has column 0 twice"):
        op.set_values(twice)


def test_types_of_new_values(host):
    A = drawn(40, 40)
    of_64, of_32 = host(ORDERED, A), host(ORDERED, A.astype(np.float32))
    count = A.nnz
    for fits in (np.float32, np.float16, int, bool, ">f4"):
        of_64.set_values(np.ones(count, fits))
        check(of_64, scipy.sparse.csr_matrix((np.ones(count), A.indices, A.indptr), A.shape))
    of_64.set_values(np.arange(2.0 * count)[::2])
    check(of_64, scipy.sparse.csr_matrix((np.arange(2.0 * count)[::2], A.indices, A.indptr), A.shape))
    for wrong, name in ((complex, "complex128"), (object, "object"), ("U1", "<U1"), (np.longdouble, np.dtype(np.longdouble).name)):
        with pytest.raises(TypeError, match=f"values: found values of type {name}, expected float64"):
            of_64.set_values(np.ones(count, int).astype(wrong))
    with pytest.raises(TypeError, match="values: found values of type float64, expected float32"):
        of_32.set_values(A.data)
    with pytest.raises(TypeError, match="values: found values of type float64, expected float32"):
        of_32.set_values(A)
    with pytest.raises(TypeError, match=r"expected float32 or float64: values\.real"):
        of_64.set_values(A * 1j)
    with pytest.raises(TypeError, match="values: found an array with a mask"):
        of_64.set_values(np.ma.masked_array(A.data))
    for shape in (A.toarray(), np.ones((count, 1)), np.ones(count + 1), 1.0):
        with pytest.raises(ValueError, match="values: found shape"):
            of_64.set_values(shape)


def test_half_of_a_symmetric_matrix(host):
    A = laplace(5)
    for half in (scipy.sparse.tril(A), scipy.sparse.triu(A, format="csr")):
        with pytest.raises(wb.MatrixError, match=r"all entries are on the diagonal or (below|above) it; expected the option triangle"):
            host(ORDERED, half)
        check(host(ORDERED, half, triangle="as_given"), half)
        op = host(RCM_SELL, half, triangle="symmetric")
        assert op.facts.nonzeros == A.nnz
        check(op, A)
        op.set_values(2 * half.data)
        check(op, 2 * A)
        op.set_values(scipy.sparse.tril(A))  # either half
        check(op, A)
    with pytest.raises(wb.MatrixError, match="expected half of a symmetric matrix"):
        host(ORDERED, A, triangle="symmetric")
    with pytest.raises(ValueError, match="triangle: found 'lower', expected one of 'refused', 'symmetric', 'as_given'"):
        host(ORDERED, A, triangle="lower")
