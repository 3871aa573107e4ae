"""The matrix after each stage of a recipe, and pictures of it."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import tempfile
from typing import Any

import numpy as np
import scipy.sparse

from .program import call, matrix_option, options_of
from .recipe import RecipeLike, recipe_file


@dataclasses.dataclass
class Stage:
    """The matrix after a stage, or the input."""

    id: str  #: of the stage in the recipe; "input"
    matrix: scipy.sparse.csr_matrix  #: [rows, columns]: matrix[i, j] = A[rows[i], columns[j]]
    rows: np.ndarray  #: [rows]: the row of A that is row i now
    columns: np.ndarray  #: [columns]: likewise
    cuts: dict[str, np.ndarray]  #: boundaries of each kind: piece i is from cuts["partition"][i] to before [i + 1]
    shares: dict[str, np.ndarray]  #: the nonzeros of each share, as positions in matrix.data, in their order of storage
    metrics: dict[str, Any]  #: as in report.json: bandwidth, row_length, partition, ... (docs/report.md)

    @classmethod
    def read(cls, folder: pathlib.Path) -> Stage:
        """Reads a folder that `workbench export --each-stage` wrote."""
        shares = {}
        if (folder / "shares.npz").exists():
            stored = np.load(folder / "shares.npz")
            rows_before, begins = stored["row_begins"], stored["nonzero_begins"]
            for i, name in enumerate(stored["names"]):
                shares[name.decode()] = stored["nonzeros"][begins[rows_before[i]] : begins[rows_before[i + 1]]]
        return cls(
            id=folder.name.split("_", 1)[1],
            matrix=scipy.sparse.load_npz(folder / "matrix.npz"),
            rows=np.load(folder / "row_old_of_new.npy"),
            columns=np.load(folder / "column_old_of_new.npy"),
            cuts={file.stem[len("cuts_") :]: np.load(file) for file in sorted(folder.glob("cuts_*.npy"))},
            shares=shares,
            metrics=json.loads((folder / "metrics.json").read_text()),
        )

    def _repr_png_(self) -> bytes:
        return spy(self.matrix)


def stages(recipe: RecipeLike, A: Any = None, **options: Any) -> list[Stage]:
    """The input and the matrix after each stage of the recipe, in f64, without running kernels.

    A        a sparse matrix of scipy, the name of a matrix file, or None: the matrix of the recipe
    options  of `workbench export`: set={"stage.metis_partition.parts": 16}, generate="laplace2d:nx=9"
    """
    with tempfile.TemporaryDirectory() as folder, recipe_file(recipe) as file, matrix_option(A) as matrix:
        out = pathlib.Path(folder, "stages")
        call("export", file, "--each-stage", "--format=numpy", f"--out={out}", *matrix, *options_of(options))
        return [Stage.read(each) for each in sorted(out.iterdir()) if each.is_dir()]


def reorder(A: Any, stage: str, **parameters: Any) -> tuple[scipy.sparse.csr_matrix, np.ndarray, np.ndarray]:
    """A after one stage, such as "cuthill_mckee": B, rows, columns with B[i, j] = A[rows[i], columns[j]]. Values are f64 in B.

    parameters: of the stage; `workbench explain cuthill_mckee` lists them.
    """
    recipe = {"stage": [{"use": stage, **parameters}], "layout": {"use": "csr"}}
    after = stages(recipe, A)[-1]
    return after.matrix, after.rows, after.columns


def draw(recipe: RecipeLike, A: Any = None, format: str = "png", **options: Any) -> Picture:
    """The pictures of the stages of a recipe on one sheet, or with stage="ID" of one of them.

    Returns a Picture with the bytes of a PNG or SVG, which a notebook shows. options: of `workbench draw`, such as width=1280, flow=True.
    """
    with tempfile.TemporaryDirectory() as folder, recipe_file(recipe) as file, matrix_option(A) as matrix:
        return _drawn(folder, format, file, *matrix, *options_of(options))


def spy(A: Any, format: str = "png", **options: Any) -> Picture:
    """The pattern of a matrix (of scipy, or a file): darker where there are more nonzeros. Returns a Picture, as draw does."""
    with tempfile.TemporaryDirectory() as folder, matrix_option(A) as matrix:
        return _drawn(folder, format, *matrix, *options_of(options))


def _drawn(folder: str, format: str, *arguments: str) -> Picture:
    if format not in ("png", "svg"):
        raise ValueError(f"format: found {format!r}, expected 'png' or 'svg'")
    out = pathlib.Path(folder, f"picture.{format}")
    call("draw", *arguments, f"--format={format}", f"--out={out}")
    return Picture(out.read_bytes())


class Picture(bytes):
    """The bytes of a PNG or SVG."""

    def __repr__(self) -> str:
        return f"<Picture of {len(self)} bytes>"

    def _repr_png_(self) -> bytes | None:
        return bytes(self) if self.startswith(b"\x89PNG") else None

    def _repr_svg_(self) -> str | None:
        return None if self.startswith(b"\x89PNG") else self.decode()
