"""Runs of the program that measure: run, bench, compare, choose, solve."""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .matrix import numbers
from .program import call, matrix_option, options_of
from .recipe import RecipeLike, recipe_file


def frame_of(rows: list[dict[str, Any]]) -> Any:
    """The rows as a DataFrame of pandas, with nested keys joined by dots. Without pandas: the list of dicts."""
    flat = [dict(_flat(row)) for row in rows]
    try:
        import pandas
    except ImportError:
        return flat
    return pandas.DataFrame(flat)


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


class Report:
    """What a command measured.

    data   the JSON object that the command wrote (docs/report.md for run)
    page   its HTML page, which a notebook shows; None if there is none
    sheet  the picture of all stages as bytes of a PNG; None if there is none
    """

    def __init__(self, data: dict[str, Any], page: str | None = None, sheet: bytes | None = None):
        self.data, self.page, self.sheet = data, page, sheet

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The reports of run and compare, one for each recipe and point of a sweep."""
        return self.data.get("runs", [self.data])

    def to_frame(self) -> Any:
        """A row for each kernel of each run: recipe, values of the sweep, then the keys of report.json. pandas if it is there."""
        rows = []
        for run in self.runs:
            start = {"recipe": run["recipe"]["name"], "matrix": run["matrix"]["source"], **run["sweep"]}
            rows += [{**start, **kernel} for kernel in run["kernels"]]
        return frame_of(rows)

    def _repr_html_(self) -> str | None:
        if self.page is None:
            return None
        style = "width:100%;height:80vh;border:1px solid #ccc"
        return f'<iframe style="{style}" srcdoc="{html.escape(self.page)}"></iframe>'

    def _repr_png_(self) -> bytes | None:
        return self.sheet


@contextlib.contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[pathlib.Path]:
    if out is not None:
        yield pathlib.Path(out)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder)


def _text(file: pathlib.Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


@contextlib.contextmanager
def _recipes(recipes: RecipeLike | Sequence[RecipeLike]) -> Iterator[list[str]]:
    with contextlib.ExitStack() as files:
        if isinstance(recipes, str) or not isinstance(recipes, Sequence):
            yield [files.enter_context(recipe_file(recipes))]
        else:
            yield [files.enter_context(recipe_file(each, f"recipe_{i}")) for i, each in enumerate(recipes, 1)]


def run(recipes: RecipeLike | Sequence[RecipeLike], A: Any = None, *, out: str | os.PathLike[str] | None = None, **options: Any) -> Report:
    """Runs recipes on a matrix: every stage, every kernel verified and timed.

    recipes  a recipe (a file, TOML text or dict), or a list of them
    A        a sparse matrix of scipy, the name of a matrix file, or None: the matrix of the recipe
    out      a folder for the files of the run; default: none are kept
    options  of `workbench run`: precision="both", backend=["kokkos"], samples=5, set={"layout.slice_height": 64},
             sweep={"layout.slice_height": [16, 32]}

    Times in the report are in seconds, sizes in bytes. Raises Error, or WrongResult if a kernel is wrong.
    """
    with _folder(out) as folder, _recipes(recipes) as files, matrix_option(A) as matrix:
        data = json.loads(call("run", *files, *matrix, "--json=-", f"--out={folder}", *options_of(options)))
        report = Report(data)
        for each in folder.rglob("report.json"):
            if len(report.runs) == 1:
                report.page = _text(each.with_name("report.html"))
                if data["contact_sheet"]:
                    report.sheet = each.with_name(data["contact_sheet"]).read_bytes()
        return report


def compare(a: RecipeLike, b: RecipeLike, A: Any = None, **options: Any) -> Report:
    """Two recipes side by side on a matrix; arguments as of run, options of `workbench compare`."""
    with _folder(None) as folder, _recipes([a, b]) as files, matrix_option(A) as matrix:
        page = folder / "compare.html"
        data = json.loads(call("compare", *files, *matrix, "--json", f"--page={page}", *options_of(options)))
        return Report(data, _text(page))


def bench(recipes: RecipeLike | Sequence[RecipeLike], matrices: Sequence[Any] = (), *, out: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """Recipes, spaces or a suite on many matrices, each in its own process. Returns read_results of the file of results.

    matrices  sparse matrices of scipy, and names of files and folders of matrices
    out       the file of results, to which measurements are added that it lacks; default: none is kept
    options   of `workbench bench`: generate=..., limit=60, samples=5
    """
    with _folder(None) as folder, _recipes(recipes) as files, contextlib.ExitStack() as written:
        words = []
        for number, A in enumerate(matrices):
            (option,) = written.enter_context(matrix_option(A))
            name = option.removeprefix("--matrix=")
            if not isinstance(A, (str, os.PathLike)):  # the names of results are those of files
                name = os.fspath(pathlib.Path(name).rename(folder / f"matrix_{number}.npz"))
            words.append(f"--matrices={name}")
        results = pathlib.Path(out) if out is not None else folder / "bench.jsonl"
        call("bench", *files, *words, f"--out={results}", *options_of(options))
        return read_results(results)


def choose(A: Any, recipes: RecipeLike | Sequence[RecipeLike] = (), **options: Any) -> Report:
    """The fastest recipe for a matrix: report.data, with "answer" in words; the chosen recipe as TOML is report.data["recipe"].

    recipes  to choose from, and a space to search after them; default: all installed recipes, in several orders
    options  of `workbench choose`: budget=60 (seconds), products=1e4, precision="f32"
    """
    with _folder(None) as folder, _recipes(recipes) as files, matrix_option(A) as matrix:
        winner, page = folder / "winner.toml", folder / "choose.html"
        data = json.loads(call("choose", *files, *matrix, "--json=-", f"--out={winner}", f"--page={page}", *options_of(options)))
        data["recipe"] = _text(winner)
        return Report(data, _text(page))


def solve(recipes: RecipeLike | Sequence[RecipeLike], A: Any = None, b: Any = None, **options: Any) -> Report:
    """Solves A x = b with recipes and reports times, set-up included, iterations and residuals (docs/solve.md).

    b        [rows], or None: ones
    options  of `workbench solve`: method="bicgstab", preconditioner="jacobi", tolerance=1e-8 (of |b - A x| / |b|), iterations=1000

    A solve that does not converge is no error: report.data says how it ended. For x itself, use Operator with scipy's solvers.
    """
    with _folder(None) as folder, _recipes(recipes) as files, matrix_option(A) as matrix:
        words = list(matrix)
        if b is not None:
            import numpy as np
            import scipy.io

            scipy.io.mmwrite(folder / "b.mtx", numbers(b, "b", np.dtype(float)).reshape(-1, 1))
            words.append(f"--rhs={folder / 'b.mtx'}")
        converged = (0, 5, 6, 7, 8)
        data = json.loads(call("solve", *files, *words, "--json=-", f"--out={folder / 'solve'}", *options_of(options), accepted=converged))
        return Report(data)


def read_results(file: str | os.PathLike[str]) -> Any:
    """The lines of a file of results (bench.jsonl) as a DataFrame of pandas, a row a line; without pandas a list of dicts."""
    with open(file, encoding="utf-8") as lines:
        return frame_of([json.loads(line) for line in lines if line.strip()])
