"""Operators: a recipe applied to a matrix."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from . import _core
from .recipe import RecipeLike, change_texts, errors_of_stages, text_and_file

LARGEST = 2**31 - 1


def checked_matrix(A: Any) -> Any:
    """A as a sparse matrix of scipy with values that recipes take; TypeError or ValueError otherwise."""
    if not scipy.sparse.issparse(A):
        raise TypeError(f"A: found {type(A).__name__}, expected a sparse matrix of scipy: scipy.sparse.csr_matrix(A)")
    if A.dtype not in (np.float32, np.float64):
        raise TypeError(f"A: found values of type {A.dtype}, expected float32 or float64: A.astype('float64')")
    if max(A.shape) > LARGEST:
        raise ValueError(f"A: found {A.shape[0]} rows and {A.shape[1]} columns, expected at most {LARGEST} of each")
    return A


@dataclasses.dataclass(frozen=True)
class Facts:
    """Properties of an operator. Sizes are in bytes, times in seconds."""

    rows: int
    columns: int
    nonzeros: int
    device: str  #: "host" or "gpu"
    device_name: str
    layout: str  #: "ehyb"; "csr + sell" for a hybrid
    kernel: str
    backend: str  #: kokkos, eigen, cpu, cuda or cusparse
    bytes: int  #: of the stored matrix
    bytes_to_move: int  #: least traffic of a product
    seconds: float  #: time of the construction
    verified: bool
    notes: list[str]  #: of the recipe's stages


class Operator(LinearOperator):
    """A recipe applied to a matrix.

    recipe    a file, a TOML text, or a dict with the tables of a recipe (see `stage` for stages in Python)
    A         [rows, columns]: CSR, CSC or COO of scipy, float32 or float64, with offsets of 32 or 64 bits. CSR is read without a copy
              of its values; other formats are converted. The operator keeps a reference to the pattern, for set_values
    device    "auto": the GPU if there is one and the recipe has a kernel for it; "host"; "gpu"
    kernel    the name of a kernel; default: the recipe's own or chosen one, or that of the layout
    verify    verify the kernel, bit for bit on integers and within rounding on A; costs about ten products
    changes   as for --set, with "__" for ".": stage__metis_partition__parts=64, or **{"stage.metis_partition.parts": 64}

    Raises RecipeError (with all errors and their places), MatrixError (A is wrong or does not suit the recipe), MachineError,
    WrongResult, and TypeError or ValueError for arguments of wrong types and shapes. Ctrl-C raises KeyboardInterrupt when the stage
    that is running ends.

    An operator has the buffers of one product: only one thread at a time may use it. Products release the GIL.
    """

    def __init__(self, recipe: RecipeLike, A: Any, *, device: str = "auto", kernel: str = "", verify: bool = True, **changes: Any):
        if device not in ("auto", "host", "gpu"):
            raise ValueError(f"device: found {device!r}, expected 'auto', 'host' or 'gpu'")
        self._given = checked_matrix(A)
        csr = A.tocsr()  # CSR: A itself
        super().__init__(csr.dtype, csr.shape)
        self._options = (device, kernel, verify)
        if csr.indices.dtype != np.int32 and csr.nnz and not 0 <= csr.indices.min() <= csr.indices.max() < csr.shape[1]:
            raise _core.MatrixError(f"A: found columns outside of 0 to {csr.shape[1] - 1}")  # which 32 bits might hide
        self._pattern = (csr.indptr, csr.indices.astype(np.int32, copy=False))
        text, file = text_and_file(recipe)
        settings = change_texts(changes)
        self._recipe = _core.Recipe.from_file(file, settings) if text is None else _core.Recipe.from_text(text, settings, file)
        self._stages = recipe  # whose functions in Python must live
        self._core = self._made(csr.data)

    def _made(self, values: np.ndarray) -> Any:
        make = _core.OperatorF32 if self.dtype == np.float32 else _core.OperatorF64
        with errors_of_stages():
            return make(self._recipe, self.shape, *self._pattern, np.ascontiguousarray(values), *self._options)

    def _vector(self, x: Any) -> np.ndarray:
        """x [columns] as an array that the library reads."""
        if type(x) is np.ndarray and x.shape == (self.shape[1],) and x.dtype == self.dtype and x.flags.c_contiguous:
            return x
        x = np.asarray(x)
        if x.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError(f"x: found shape {x.shape}, expected ({self.shape[1]},)")
        if not np.can_cast(x.dtype, self.dtype, "safe") and x.dtype.kind not in "iub":
            raise TypeError(f"x: found values of type {x.dtype}, expected {self.dtype}, as in A: x.astype('{self.dtype}')")
        return np.ascontiguousarray(x.reshape(-1), self.dtype)

    def _product(self, x: Any, recipe_order: bool) -> np.ndarray:
        return self._core.product(self._vector(x), recipe_order)

    def _multiply(self, x: np.ndarray, out: np.ndarray | None, add: bool, recipe_order: bool) -> np.ndarray:
        x = self._vector(x)
        if out is None:
            if add:
                raise ValueError("out: found None, expected the array to add to")
            return self._core.product(x, recipe_order)
        if not isinstance(out, np.ndarray) or out.dtype != self.dtype or out.shape != (self.shape[0],):
            raise ValueError(f"out: expected an array of {self.shape[0]} values of type {self.dtype}")
        if not out.flags.writeable or not out.flags.c_contiguous:
            raise ValueError("out: expected an array that is contiguous and can be written")
        self._core.multiply(x, out, recipe_order, add)
        return out

    def __matmul__(self, x: Any) -> Any:
        if type(x) is np.ndarray and x.ndim == 1:
            return self._product(x, False)
        return super().__matmul__(x)

    def _matvec(self, x: Any) -> np.ndarray:
        return self._product(x, False)

    def matvec(self, x: Any) -> np.ndarray:
        """y = A x. x: [columns] or [columns, 1]; the result has as many dimensions."""
        y = self._product(x, False)
        return y if np.ndim(x) == 1 else y.reshape(-1, 1)

    def multiply(self, x: np.ndarray, out: np.ndarray | None = None, *, add: bool = False) -> np.ndarray:
        """y = A x, or with `add` y += A x, written to `out` if it is given. x: [columns]; out: [rows], of the operator's type.

        Raises ValueError if x and out overlap or have wrong shapes.
        """
        return self._multiply(x, out, add, False)

    @property
    def in_recipe_order(self) -> InRecipeOrder:
        """The same operator for vectors in the recipe's order, in which a product permutes less (docs/library.md)."""
        return InRecipeOrder(self)

    def to_recipe_order(self, v: Any) -> np.ndarray:
        """The vector v [columns] in the recipe's order: element i is v[column_order[i]]."""
        return self._core.permuted(self._vector(v), True)

    def from_recipe_order(self, v: Any) -> np.ndarray:
        """The vector v [columns] of the recipe's order in the caller's."""
        return self._core.permuted(self._vector(v), False)

    @property
    def row_order(self) -> np.ndarray:
        """[rows], read-only: row i of the reordered matrix is row row_order[i] of A."""
        return self._core.row_order()

    @property
    def column_order(self) -> np.ndarray:
        """[columns], read-only: column i of the reordered matrix is column column_order[i] of A."""
        return self._core.column_order()

    @property
    def facts(self) -> Facts:
        return Facts(**self._core.facts())

    @property
    def recipe(self) -> str:
        """The recipe as TOML with every default filled in."""
        return self._recipe.resolved()

    def set_values(self, values: Any) -> None:
        """Replaces the values of A: `values` [nonzeros] in the order of A.data, for the same pattern.

        The recipe is applied again, with its stages, which takes facts.seconds. If that fails, the operator stays as it was.
        """
        values = np.asarray(values, self.dtype)
        if values.shape != self._given.data.shape:
            raise ValueError(f"values: found shape {values.shape}, expected {self._given.data.shape}")
        if self._given.format == "csr":
            self._core = self._made(values)
            return
        changed = self._given.copy()
        changed.data = values
        self._core = self._made(changed.tocsr().data)

    def __repr__(self) -> str:
        facts = self.facts
        return f"<{facts.rows}x{facts.columns} Operator: {facts.layout}, kernel {facts.kernel} of {facts.backend}, {self.dtype}>"


class InRecipeOrder(LinearOperator):
    """An operator whose vectors are in the recipe's order (Operator.in_recipe_order)."""

    def __init__(self, operator: Operator):
        super().__init__(operator.dtype, operator.shape)
        self.operator = operator

    def _matvec(self, x: Any) -> np.ndarray:
        return self.operator._product(x, True)

    def __matmul__(self, x: Any) -> Any:
        return self._matvec(x) if type(x) is np.ndarray and x.ndim == 1 else super().__matmul__(x)

    def multiply(self, x: np.ndarray, out: np.ndarray | None = None, *, add: bool = False) -> np.ndarray:
        """Like Operator.multiply."""
        return self.operator._multiply(x, out, add, True)
