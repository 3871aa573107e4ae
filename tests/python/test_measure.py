"""Reports of the program."""

import io
import json
import pathlib
import sys

import numpy as np
import pytest
from conftest import RCM_SELL, laplace

import spmv_workbench as wb

QUICK = {"backend": ["kokkos"], "samples": 1, "seconds": 0, "cache": "warm"}


def test_run():
    pytest.importorskip("pandas")
    report = wb.run(RCM_SELL, laplace(), **QUICK)
    frame = report.to_frame()
    assert set(frame["layout"]) == {"csr", "sell"} and (frame["median_seconds"] > 0).all()
    assert report.data["stages"][1]["id"] == "cuthill_mckee"
    assert report._repr_html_().startswith("<iframe") and len(report._repr_html_()) < 6_000_000
    assert report._repr_png_().startswith(b"\x89PNG")


def test_runs_of_a_sweep_and_of_several_recipes(tmp_path):
    pytest.importorskip("pandas")
    report = wb.run(RCM_SELL, laplace(), sweep={"layout.slice_height": [8, 16]}, no_pictures=True, out=tmp_path / "out", **QUICK)
    assert len(report.runs) == 2
    assert set(report.to_frame()["layout.slice_height"]) == {8, 16}
    assert report._repr_html_() is None and list((tmp_path / "out").rglob("report.json"))
    report = wb.run([{"layout": {"use": "csr"}}, {"layout": {"use": "coo"}}], laplace(), no_pictures=True, **QUICK)
    assert {run["layout"]["name"] for run in report.runs} == {"csr", "coo"}


def test_compare_and_choose(monkeypatch):
    report = wb.compare({"layout": {"use": "csr"}}, RCM_SELL, laplace(), **QUICK)
    assert report._repr_html_().startswith("<iframe")
    report = wb.choose(laplace(), [{"layout": {"use": "csr"}}, RCM_SELL], budget=0.2, backend=["kokkos"])
    assert "answer" in report.data and "[layout]" in report.data["recipe"]


def test_solve():
    report = wb.solve(RCM_SELL, laplace(), np.arange(144.0), backend=["kokkos"])
    assert report.data
    stopped = wb.solve(RCM_SELL, laplace(), iterations=2, backend=["kokkos"])
    assert stopped.data


def test_bench(tmp_path):
    frame = wb.bench(RCM_SELL, [laplace(), laplace(9)], out=tmp_path / "b.jsonl", **QUICK)
    assert len(frame) >= 4
    assert len(wb.read_results(tmp_path / "b.jsonl")) == len(frame)


def test_without_pandas(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pandas", None)
    (tmp_path / "b.jsonl").write_text('{"a": {"b": 1}}\n\n{"c": null}\n')
    assert wb.read_results(tmp_path / "b.jsonl") == [{"a.b": 1}, {"c": None}]


def test_errors_of_the_program(monkeypatch, tmp_path):
    with pytest.raises(wb.RecipeError, match="recipe.toml:2:7: unknown layout"):
        wb.run('[layout]\nuse = "sel"\n', laplace())
    with pytest.raises(wb.RecipeError, match="unknown option '--sample'"):
        wb.run(RCM_SELL, laplace(), sample=1)
    with pytest.raises(wb.MatrixError, match="none.mtx"):
        wb.spy("none.mtx")
    with pytest.raises(wb.MatrixError):
        wb.run(RCM_SELL, laplace()[:, :100], no_pictures=True)
    monkeypatch.setenv("WORKBENCH", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(pathlib.Path, "parents", property(lambda self: [tmp_path] * 9))
    with pytest.raises(wb.MachineError, match="the program workbench was not found"):
        wb.spy(laplace())


class NotebookStream(io.StringIO):
    """What ipykernel makes of sys.stderr."""


NotebookStream.__module__ = "ipykernel.iostream"


def test_progress_in_a_notebook(monkeypatch):
    monkeypatch.setattr(sys, "stderr", NotebookStream())
    wb.run(RCM_SELL, laplace(), no_pictures=True, **QUICK)
    assert " ..." in sys.stderr.getvalue() and "\033" not in sys.stderr.getvalue()
    with pytest.raises(wb.MatrixError, match="^none.mtx: there is no such file"):
        wb.run(RCM_SELL, "none.mtx", no_pictures=True, **QUICK)
    assert "error: none.mtx" in sys.stderr.getvalue()
