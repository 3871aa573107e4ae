"""Operators: a recipe applied to a matrix."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from . import _core
from .gpu import MatrixOnGpu, array_on_gpu, is_on_gpu, matrix_on_gpu, on_host, stream_number
from .recipe import RecipeLike, change_texts, errors_of_stages, text_and_file

LARGEST = 2**31 - 1


def checked_matrix(A: Any) -> Any:
    """A as a sparse matrix of scipy with values that recipes take; TypeError or ValueError otherwise."""
    A = on_host(A)
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
              of its values; other formats are converted, and of these the operator keeps a reference to A, for set_values. A CSR
              matrix of CuPy or PyTorch on the GPU, with columns of 32 bits, is read there, without a copy on the host, if the recipe is
              one that the GPU applies (docs/library.md); otherwise it is copied to the host
    device    "auto": the GPU if there is one and the recipe has a kernel for it; "host"; "gpu"
    kernel    the name of a kernel; default: the recipe's own or chosen one, or that of the layout
    verify    verify the kernel, bit for bit on integers and within rounding on A; costs about ten products
    stream    a stream of CuPy or PyTorch, or its cudaStream_t, on which an operator on the GPU runs; default: the default stream
    changes   as for --set, with "__" for ".": stage__metis_partition__parts=64, or **{"stage.metis_partition.parts": 64}

    Raises RecipeError (with all errors and their places), MatrixError (A is wrong or does not suit the recipe), MachineError,
    WrongResult, and TypeError or ValueError for arguments of wrong types and shapes. Ctrl-C raises KeyboardInterrupt when the stage
    that is running ends.

    An operator has the buffers of one product: only one thread at a time may use it. Products release the GIL.
    """

    def __init__(self, recipe: RecipeLike, A: Any, *, device: str = "auto", kernel: str = "", verify: bool = True, stream: Any = None, **changes: Any):
        if device not in ("auto", "host", "gpu"):
            raise ValueError(f"device: found {device!r}, expected 'auto', 'host' or 'gpu'")
        self._stream = stream_number(stream)
        text, file = text_and_file(recipe)
        settings = change_texts(changes)
        self._recipe = _core.Recipe.from_file(file, settings) if text is None else _core.Recipe.from_text(text, settings, file)
        self._stages = recipe  # whose functions in Python must live
        there = None if device == "host" else matrix_on_gpu(A, self._stream)
        with errors_of_stages():
            self._core = self._from_host(A, device, kernel, verify) if there is None else self._from_gpu(there, device, kernel, verify)
        self._on_gpu = self._core.facts()["device"] == "gpu"

    def _from_gpu(self, A: MatrixOnGpu, device: str, kernel: str, verify: bool) -> Any:
        super().__init__(A.dtype, A.shape)
        self._count = A.data[1]
        self._given = None
        core = _core.OperatorF32 if A.dtype == np.float32 else _core.OperatorF64
        return core.on_gpu(self._recipe, A.shape, A.indptr, A.long_offsets, A.indices, A.data, device, kernel, verify, self._stream)

    def _from_host(self, A: Any, device: str, kernel: str, verify: bool) -> Any:
        A = checked_matrix(A)
        csr = A.tocsr()  # CSR: A itself
        super().__init__(csr.dtype, csr.shape)
        self._count = A.data.size  # of the values that set_values takes
        self._given = None if A.format == "csr" else A
        if csr.indices.dtype != np.int32 and csr.nnz and not 0 <= csr.indices.min() <= csr.indices.max() < csr.shape[1]:
            raise _core.MatrixError(f"A: found columns outside of 0 to {csr.shape[1] - 1}")  # which 32 bits might hide
        make = _core.OperatorF32 if self.dtype == np.float32 else _core.OperatorF64
        indices, data = csr.indices.astype(np.int32, copy=False), np.ascontiguousarray(csr.data)
        return make(self._recipe, self.shape, csr.indptr, indices, data, device, kernel, verify, self._stream)

    def _vector(self, x: Any) -> np.ndarray:
        """x [columns] as an array that the library reads."""
        if type(x) is np.ndarray and x.shape == (self.shape[1],) and x.dtype == self.dtype and x.flags.c_contiguous:
            return x
        if is_on_gpu(x):
            self._require_gpu("x")
            raise ValueError("x: found an array on the GPU, and there is none for the result; expected out, as in op.multiply(x, out=y)")
        x = np.asarray(x)
        if x.shape not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError(f"x: found shape {x.shape}, expected ({self.shape[1]},)")
        if not np.can_cast(x.dtype, self.dtype, "safe") and x.dtype.kind not in "iub":
            raise TypeError(f"x: found values of type {x.dtype}, expected {self.dtype}, as in A: x.astype('{self.dtype}')")
        return np.ascontiguousarray(x.reshape(-1), self.dtype)

    def _require_gpu(self, name: str) -> None:
        if not self._on_gpu:
            raise ValueError(f"{name}: found an array on the GPU, expected one on the host, where this operator runs: {name}.get() of "
                             f"CuPy, {name}.cpu().numpy() of PyTorch")

    def _both_on_gpu(self, x: Any, size: int, out: Any, size_of_out: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The vectors as the library takes them. It reads and writes them where they are."""
        for name, array in (("x", x), ("out", out)):
            if is_on_gpu(array):
                self._require_gpu(name)
        given = array_on_gpu(x, "x", size, self.dtype, self._stream)
        return given, array_on_gpu(out, "out", size_of_out, self.dtype, self._stream, written=True)

    def _product(self, x: Any, recipe_order: bool) -> np.ndarray:
        return self._core.product(self._vector(x), recipe_order)

    def _multiply(self, x: Any, out: Any, add: bool, recipe_order: bool) -> Any:
        if out is not None and (is_on_gpu(x) or is_on_gpu(out)):
            self._core.multiply_on_gpu(*self._both_on_gpu(x, self.shape[1], out, self.shape[0]), recipe_order, add)
            return out
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
        if (type(x) is np.ndarray and x.ndim == 1) or is_on_gpu(x):
            return self._product(x, False)
        return super().__matmul__(x)

    def _matvec(self, x: Any) -> np.ndarray:
        return self._product(x, False)

    def matvec(self, x: Any) -> np.ndarray:
        """y = A x. x: [columns] or [columns, 1]; the result has as many dimensions."""
        y = self._product(x, False)
        return y if np.ndim(x) == 1 else y.reshape(-1, 1)

    def multiply(self, x: Any, out: Any = None, *, add: bool = False) -> Any:
        """y = A x, or with `add` y += A x, written to `out` if it is given. x: [columns]; out: [rows], of the operator's type.

        An operator on the GPU takes x and out with __cuda_array_interface__ (CuPy, PyTorch), both contiguous, and does not copy them.
        Such a product runs on the operator's stream, and does not wait for it.
        Raises ValueError if x and out overlap, have wrong shapes, or are on another device than the operator.
        """
        return self._multiply(x, out, add, False)

    @property
    def in_recipe_order(self) -> InRecipeOrder:
        """The same operator for vectors in the recipe's order, in which a product permutes less (docs/library.md)."""
        return InRecipeOrder(self)

    def _permuted(self, v: Any, out: Any, to_recipe: bool) -> Any:
        if out is None:
            return self._core.permuted(self._vector(v), to_recipe)
        self._core.permute_on_gpu(*self._both_on_gpu(v, self.shape[1], out, self.shape[1]), to_recipe)
        return out

    def to_recipe_order(self, v: Any, out: Any = None) -> Any:
        """The vector v [columns] in the recipe's order: element i is v[column_order[i]]. `out`: for v on the GPU, as in multiply."""
        return self._permuted(v, out, True)

    def from_recipe_order(self, v: Any, out: Any = None) -> Any:
        """The vector v [columns] of the recipe's order in the caller's. `out`: for v on the GPU, as in multiply."""
        return self._permuted(v, out, False)

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

        Orders, layout and kernel stay, and the kernel is not verified again. The first call finds out where the layout has each value;
        later ones copy values (CSR of scipy; other formats are converted first). Raises MatrixError if the layout cannot store them,
        as its values are coded or symmetric pairs are stored once. If it raises, the operator stays as it was.
        """
        if is_on_gpu(values):
            self._require_gpu("values")
            if self._given is not None:
                raise TypeError(f"values: found an array on the GPU, expected one on the host, as A is in {self._given.format.upper()}")
            self._core.set_values_on_gpu(array_on_gpu(values, "values", self._count, self.dtype, self._stream))
            return
        values = np.ascontiguousarray(values, self.dtype)
        expected = (self._count,) if self._given is None else self._given.data.shape
        if values.shape != expected:
            raise ValueError(f"values: found shape {values.shape}, expected {expected}")
        if self._given is not None:
            changed = self._given.copy()
            changed.data = values
            values = changed.tocsr().data
        self._core.set_values(values)

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
        return self._matvec(x) if (type(x) is np.ndarray and x.ndim == 1) or is_on_gpu(x) else super().__matmul__(x)

    def multiply(self, x: Any, out: Any = None, *, add: bool = False) -> Any:
        """Like Operator.multiply."""
        return self.operator._multiply(x, out, add, True)
