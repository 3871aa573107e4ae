"""The examples of docs/python.md work, one after another."""

import re

import numpy as np
import scipy.io
from conftest import SOURCE, laplace

import spmv_workbench as wb


def test_the_examples_of_the_page(monkeypatch):
    monkeypatch.chdir(SOURCE)
    blocks = re.findall(r"^```python\n(.*?)^```", (SOURCE / "docs/python.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 8
    names = {"A": laplace(24), "b": np.ones(576), "x": np.ones(576), "y": np.empty(576)}
    for block in blocks:
        try:
            exec(compile(block, "docs/python.md", "exec"), names)
        except ModuleNotFoundError as error:
            assert error.name in ("pyamg", "petsc4py")
        if "Solver" in block:
            assert names["facts"].converged
            np.testing.assert_allclose(names["A"] @ names["x"], names["b"], atol=1e-6)
    assert np.linalg.norm(names["A"] @ names["x"] - names["b"]) < 1e-3
    assert isinstance(names["wb"].__doc__, str) and names["B"].shape == (576, 576)


def test_every_public_name_is_documented():
    page = (SOURCE / "docs/python.md").read_text()
    for name in wb.__all__:
        assert getattr(wb, name).__doc__ or issubclass(getattr(wb, name), wb.Error), name
        if name not in ("Facts", "InRecipeOrder"):  # what op.facts and op.in_recipe_order return
            assert name in page, name


def test_matrices_of_files_that_scipy_reads(tmp_path):
    A = laplace()
    scipy.io.savemat(tmp_path / "a.mat", {"A": A, "Problem": {"A": A}})
    read = scipy.io.loadmat(tmp_path / "a.mat")
    for matrix in (read["A"], read["Problem"]["A"][0, 0]):
        assert (wb.stages({"layout": {"use": "csr"}}, matrix)[0].matrix != A).nnz == 0
