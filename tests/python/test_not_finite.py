"""NaN and infinities in x reach the rows that have their column, and no others, whatever recipes pad rows with."""

import numpy as np
import pytest
from conftest import laplace

import spmv_workbench as wb


EXCEPTIONS = {"bccoo", "bsr", "hybrid_bsr_coo"}  # docs/library.md


def with_gaps():
    """A matrix [144, 144] with rows and columns of several lengths, some of them empty, and a long row."""
    A = laplace().tolil()
    A[7, ::2] = 1.5
    A[20:25, :] = 0
    A[:, 60:63] = 0
    return A.tocsr()


@pytest.mark.parametrize("recipe", sorted(set(wb.recipes()) - EXCEPTIONS))
@pytest.mark.parametrize("A", [laplace(), with_gaps()], ids=["grid", "gaps"])
def test_reach_of_nan(host, recipe, A):
    A.eliminate_zeros()
    try:
        op = host(recipe, A)
    except (wb.MatrixError, wb.RecipeError) as reason:
        pytest.skip(str(reason))
    pattern = A.tocsc()
    for column in range(144):
        x = np.ones(144)
        x[column] = (np.nan, np.inf, -np.inf)[column % 3]
        reached = np.zeros(144, bool)
        reached[pattern.indices[pattern.indptr[column] : pattern.indptr[column + 1]]] = True
        np.testing.assert_array_equal(~np.isfinite(op @ x), reached, f"{recipe}, column {column}")
        y = np.ones(144)
        op.multiply(x, out=y, add=True)
        np.testing.assert_array_equal(~np.isfinite(y), reached, f"{recipe}, column {column}, added")
        assert np.isfinite(op @ np.ones(144)).all()
