"""Stages in Python, and the matrix after each stage."""

import numpy as np
import pytest
from conftest import RCM_SELL, SOURCE, drawn, laplace

import spmv_workbench as wb


@wb.stage(apply="rows")
def by_length(A, descending=True):
    order = np.argsort(np.diff(A.indptr), kind="stable")
    return (order[::-1] if descending else order), {"longest": np.diff(A.indptr).max()}


@wb.stage("partition")
def halves(A, parts=2):
    return np.arange(A.shape[0]) * parts // A.shape[0]


@wb.stage("shares", names=["large", "small"])
def by_size(A):
    return (np.abs(A.data) < 0.5).astype(int)


@pytest.mark.parametrize("descending", [True, False])
def test_a_function_as_a_stage_of_an_operator(host, vector, descending):
    A = drawn(40, 30)
    op = host({"stage": [{"use": by_length, "descending": descending}], "layout": {"use": "csr"}}, A)
    lengths = np.diff(A.indptr)[op.row_order]
    assert (np.diff(lengths) <= 0).all() if descending else (np.diff(lengths) >= 0).all()
    x = vector(30)
    np.testing.assert_allclose(op @ x, A @ x)
    assert any("longest" in note for note in op.facts.notes)
    op.set_values(2 * A.data)
    np.testing.assert_allclose(op @ x, 2 * (A @ x))


def test_partitions_and_shares_of_functions(host, vector):
    A = laplace()
    x = vector(144)
    sort = {"use": "row_sort", "within": "partition"}
    op = host({"stage": [{"use": halves, "parts": 3}, sort], "layout": {"use": "sell"}}, A)
    np.testing.assert_allclose(op @ x, A @ x)
    layouts = [{"share": "label_0", "use": "csr"}, {"share": "label_1", "use": "coo"}]
    by_label = {"use": by_size, "names": "label_0, label_1"}
    op = host({"stage": [by_label], "layout": layouts}, A)
    np.testing.assert_allclose(op @ x, A @ x)
    assert op.facts.layout == "csr + coo"


def test_errors_of_a_function_have_its_name_and_traceback(host):
    @wb.stage()
    def broken(A):
        return {}["no such key"]

    with pytest.raises(wb.Error, match="broken: KeyError: 'no such key' .*test_stage.py:") as raised:
        host({"stage": [broken], "layout": {"use": "csr"}}, laplace())
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError) and cause.__traceback__ is not None

    @wb.stage()
    def half(A):
        return np.arange(A.shape[0]) / 2

    with pytest.raises(wb.Error, match="expected a list of integers"):
        host({"stage": [half], "layout": {"use": "csr"}}, laplace())
    with pytest.raises(wb.Error, match="broken: KeyError"):
        wb.stages({"stage": [broken], "layout": {"use": "csr"}}, laplace())
    with pytest.raises(ValueError, match="gives: found 'labels'"):
        wb.stage("labels")
    with pytest.raises(TypeError, match="expected a function"):
        wb.stage()(3)
    assert broken.gives == "order" and by_length(drawn(4, 4), False)[0].shape == (4,)


def test_the_matrix_after_each_stage():
    A = laplace()
    recipe = SOURCE / "recipes/ehyb.toml"
    stages = wb.stages(recipe, A, set={"stage.metis_partition.parts": 4})
    assert stages[0].id == "input" and (stages[0].matrix != A).nnz == 0
    for stage in stages:
        assert (stage.matrix != A[stage.rows][:, stage.columns]).nnz == 0
        assert stage.metrics["metrics"]["nonzeros"] == A.nnz
    partition = stages[1]
    assert len(partition.cuts["partition"]) == 5
    split = stages[-1]
    assert set(split.shares) == {"inside", "outside"}
    stored = np.concatenate(list(split.shares.values()))
    np.testing.assert_array_equal(np.sort(stored), np.arange(A.nnz))
    assert wb.spy(split.matrix).startswith(b"\x89PNG")


def test_reorder():
    A = laplace()
    B, rows, columns = wb.reorder(A, "cuthill_mckee", variant="plain")
    assert (B != A[rows][:, columns]).nnz == 0
    far = B.tocoo()
    assert np.abs(far.row - far.col).max() < 30
    C, rows, _ = wb.reorder(A, "row_sort", apply="rows")
    assert (np.diff(np.diff(C.indptr)) <= 0).all()
    with pytest.raises(wb.RecipeError, match="unknown stage"):
        wb.reorder(A, "cuthill")


def test_pictures():
    assert wb.spy(laplace()).startswith(b"\x89PNG")
    svg = wb.draw(RCM_SELL, laplace(), format="svg", stage="cuthill_mckee")
    assert b"<svg" in svg and svg._repr_svg_().startswith("<") and svg._repr_png_() is None
    with pytest.raises(ValueError, match="format: found 'gif'"):
        wb.spy(laplace(), format="gif")
