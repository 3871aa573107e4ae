"""Recipes by name, the version, and what else a program asks of an operator."""

import re

import numpy as np
import pytest
import scipy.sparse
from conftest import RCM_SELL, SOURCE, drawn, laplace

import spmv_workbench as wb


def test_the_version_is_that_of_the_project():
    assert wb.__version__ == re.search(r'^version = "(.*)"', (SOURCE / "pyproject.toml").read_text(), re.MULTILINE)[1]


def test_recipes_by_name_in_any_folder(tmp_path, monkeypatch, host):
    monkeypatch.chdir(tmp_path)
    names = wb.recipes()
    assert {"csr", "ehyb", "rcm_sell"} <= set(names) and names == sorted(names) and all(".toml" not in name for name in names)
    A = laplace()
    x = np.arange(144.0)
    for name in ("ehyb", "rcm_sell", "recipes/csr.toml"):
        np.testing.assert_allclose(host(name, A) @ x, A @ x, atol=1e-11)
    assert [stage.id for stage in wb.stages("rcm_sell", A)][0] == "input"
    with pytest.raises(ValueError, match=r"recipe: found 'ehib', expected a file or a name of wb.recipes\(\), such as 'ehyb'"):
        host("ehib", A)
    with pytest.raises(wb.RecipeError, match="none.toml"):
        host("none.toml", A)
    (tmp_path / "csr").write_text('[layout]\nuse = "sell"\n')  # a file in the current folder takes precedence
    assert host("csr", A).facts.layout == "sell"


@pytest.mark.parametrize("recipe", ["csr", RCM_SELL, "sell_coded", "hyb", "bsr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_and_diagonal(host, recipe, dtype):
    A = laplace(dtype=dtype)
    op = host(recipe, A)
    assert op.nnz == A.nnz
    assert op.diagonal().dtype == dtype
    np.testing.assert_array_equal(op.diagonal(), A.diagonal())


def test_the_diagonal_is_that_of_the_present_values(host):
    A = drawn(40, 30)
    op = host("csr", A)
    np.testing.assert_array_equal(op.diagonal(), A.diagonal())  # of the shorter side, 0 where there is no entry
    op.set_values(3 * A.data)
    np.testing.assert_array_equal(op.diagonal(), 3 * A.diagonal())
    half = scipy.sparse.tril(laplace()).tocsr()
    np.testing.assert_array_equal(host("csr", half, triangle="symmetric").diagonal(), half.diagonal())


def test_verification_has_a_price(host):
    A = laplace(60)
    plain = host("csr", A, verify=False).facts
    assert not plain.verified and plain.verification_seconds == 0
    for values in (A.data, 2 * A.data):  # the second time without integers, as the recipe and the pattern are known
        B = A.copy()
        B.data = values
        op = host("csr", B)
        assert op.facts.verified and 0 < op.facts.verification_seconds < op.facts.seconds
        np.testing.assert_allclose(op @ np.ones(3600), B @ np.ones(3600), atol=1e-12)


@pytest.mark.parametrize("recipe", ["sell_rounded", "sell_coded", "hybrid_ehyb", "rcm_sell"])
def test_a_known_pattern_is_verified_on_its_own_values(host, recipe):
    A = laplace(20)
    for factor in (1, 0.3, -7):
        op = host(recipe, (factor * A).tocsr())
        assert op.facts.verified
        np.testing.assert_allclose(op @ np.ones(400), factor * (A @ np.ones(400)), atol=1e-2 if "rounded" in recipe else 1e-12)
