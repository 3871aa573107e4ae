"""Operators: a recipe applied to a matrix."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from . import _core
from .gpu import MatrixOnGpu, array_on_gpu, is_on_gpu, matrix_on_gpu, stream_number
from .matrix import GivenMatrix, checked_matrix, csr_arrays, numbers, pattern_of, rounded, type_of_result, values_of
from .recipe import STAGE_CLIENT, RecipeLike, change_texts, errors_of_stages, text_and_file

MOST_VECTORS = 64  # of one product
TRIANGLES = ("refused", "symmetric", "as_given")


def is_one_vector(x: Any) -> bool:
    """True also for arrays with a mask, which LinearOperator would drop."""
    return (isinstance(x, np.ndarray) and (x.ndim == 1 or isinstance(x, np.ma.MaskedArray))) or is_on_gpu(x)


def column_products(operator: Any, X: np.ndarray) -> np.ndarray:
    """The products with the columns of X, of which there may be none."""
    columns = np.asfortranarray(X) if type(X) is np.ndarray else X
    Y = np.empty((operator.shape[0], X.shape[1]), operator.dtype, order="F")
    for column in range(X.shape[1]):
        operator.multiply(columns[:, column], out=Y[:, column])
    return Y.astype(type_of_result(X, operator.dtype), copy=False)


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
    process_seconds: float  #: the part of it that a process pays once for a recipe on a GPU: loading kernels
    verification_seconds: float  #: the part of it that verify=False saves, for a matrix on the host
    verified: bool
    notes: list[str]  #: of the recipe's stages


class Operator(LinearOperator):
    """A recipe applied to a matrix.

    recipe    a file, a name of `recipes()`, a TOML text, or a dict with the tables of a recipe (see `stage` for stages in Python)
    A         [rows, columns]: CSR, CSC or COO of scipy, float32 or float64, with offsets of 32 or 64 bits. CSR is read without a copy
              of its values; other formats are converted, and of these the operator keeps a reference to A, for set_values. A CSR
              matrix of CuPy or PyTorch on the GPU, with columns of 32 bits, is read there, without a copy on the host, if the recipe is
              one that the GPU applies (docs/library.md); otherwise it is copied to the host
    device    "auto": the GPU if there is one and the recipe has a kernel for it; "host"; "gpu"
    kernel    the name of a kernel; default: the recipe's own or chosen one, or that of the layout
    verify    verify the kernel, bit for bit on integers (once for a recipe and a pattern), and within rounding on A
    triangle  what a square matrix stands for that has entries beside the diagonal, all on one side of it: "refused": it is a
              MatrixError; "symmetric": it is half of a symmetric matrix; "as_given": it is triangular
    stream    a stream of CuPy or PyTorch, or its cudaStream_t, on which an operator on the GPU runs; default: the default stream
    changes   as for --set, with "__" for ".": stage__metis_partition__parts=64, or **{"stage.metis_partition.parts": 64}

    Raises RecipeError (with all errors and their places), MatrixError (A is wrong or does not suit the recipe), MachineError,
    WrongResult, and TypeError or ValueError for arguments of wrong types and shapes. Ctrl-C raises KeyboardInterrupt when the stage
    that is running ends.

    An operator has the buffers of one product: only one thread at a time may use it. Products release the GIL. A forked process may
    use an operator on the host if no thread used or made one during the fork. A pickle has the recipe and A, and makes the operator
    again; TypeError if A does not exist any more or has changed.
    """

    def __init__(self, recipe: RecipeLike, A: Any, *, device: str = "auto", kernel: str = "", verify: bool = True, triangle: str = "refused",
                 stream: Any = None, **changes: Any):
        if device not in ("auto", "host", "gpu"):
            raise ValueError(f"device: found {device!r}, expected 'auto', 'host' or 'gpu'")
        if triangle not in TRIANGLES:
            raise ValueError(f"triangle: found {triangle!r}, expected one of {', '.join(map(repr, TRIANGLES))}")
        self._stream = stream_number(stream)
        text, file = text_and_file(recipe)
        for name in changes:
            if "." not in name and "__" not in name:
                raise TypeError(f"found the keyword {name}, expected device, kernel, verify, triangle, stream or TABLE__KEY of the recipe")
        settings = change_texts(changes)
        self._recipe = _core.Recipe.from_file(file, settings) if text is None else _core.Recipe.from_text(text, settings, file)
        self._stages = recipe  # whose functions in Python must live
        self._options = {"device": device, "kernel": kernel, "verify": verify, "triangle": triangle}
        self._replaced = False  # the values
        self._transposed: Operator | None = None  # made when it is first asked for
        self._transpose_of: Operator | None = None
        there = None if device == "host" else matrix_on_gpu(A, self._stream)
        with errors_of_stages():
            self._core = self._from_host(A, device, kernel, verify, triangle) if there is None else self._from_gpu(there, device, kernel, verify, triangle)
        self._on_gpu = self._core.facts()["device"] == "gpu"

    def _from_gpu(self, A: MatrixOnGpu, device: str, kernel: str, verify: bool, triangle: str) -> Any:
        super().__init__(A.dtype, A.shape)
        self._count = A.data[1]  # of values
        self._given = None
        arrays = (self._recipe, A.shape, A.indptr, A.long_offsets, A.indices, A.data)
        return self._make(True, *arrays, device, kernel, verify, triangle, self._stream)

    def _from_host(self, A: Any, device: str, kernel: str, verify: bool, triangle: str) -> Any:
        A = checked_matrix(A)
        super().__init__(A.dtype, A.shape)
        indptr, indices, data = csr_arrays(A)
        self._count = data.size
        self._given = GivenMatrix(A)
        self._checksum = values_of(A)
        return self._make(False, self._recipe, self.shape, indptr, indices, data, device, kernel, verify, triangle, self._stream)

    def _make(self, on_gpu: bool, *arguments: Any) -> Any:
        made = _core.OperatorF32 if self.dtype == np.float32 else _core.OperatorF64
        return made.on_gpu(*arguments) if on_gpu else made(*arguments)

    def __reduce__(self) -> Any:
        """Pickles and copies consist of the recipe and the matrix, from which the operator is made again."""
        if self._transpose_of is not None:
            return transpose_of, (self._transpose_of,)
        recipe = self.recipe
        A = None if self._given is None else self._given.matrix()
        reason = ("its matrix is on the GPU" if self._given is None
                  else "its matrix does not exist any more, as an operator keeps its own copy" if A is None
                  else "its matrix has changed since" if self._replaced or pattern_of(A) != self._given.pattern or values_of(A) != self._checksum
                  else "its recipe has a stage in Python, which only this process can run" if STAGE_CLIENT in recipe
                  else "its stream belongs to this process" if self._stream
                  else "")  # fmt: skip
        if reason:
            raise TypeError(f"found an operator that cannot be made again: {reason}; pickle the recipe and the matrix instead")
        return made_again, (recipe, A, self._options)

    def _vector(self, x: Any) -> np.ndarray:
        """x [columns] as an array that the library reads."""
        if type(x) is np.ndarray and x.shape == (self.shape[1],) and x.dtype == self.dtype and x.flags.c_contiguous and x.flags.aligned:
            return x
        if is_on_gpu(x):
            self._require_gpu("x")
            raise ValueError("x: found an array on the GPU, and there is none for the result; expected out, as in op.multiply(x, out=y)")
        if np.shape(x) not in ((self.shape[1],), (self.shape[1], 1)):
            raise ValueError(f"x: found shape {np.shape(x)}, expected ({self.shape[1]},)")
        return rounded(x, "x", self.dtype).reshape(-1)

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
        y = self._core.product(self._vector(x), recipe_order)
        return y if y.dtype == type_of_result(x, self.dtype) else y.astype(np.float64)

    def _vectors(self, X: Any) -> np.ndarray:
        """X [columns, vectors] as an array that the library reads."""
        if np.ndim(X) != 2 or np.shape(X)[0] != self.shape[1]:
            raise ValueError(f"x: found shape {np.shape(X)}, expected ({self.shape[1]},) or ({self.shape[1]}, vectors)")
        return np.require(rounded(X, "x", self.dtype), requirements=["C", "A"])

    def _several(self, X: Any, out: Any, add: bool) -> Any:
        """Y = A X, at most 64 vectors at a time."""
        if is_on_gpu(X) or is_on_gpu(out):
            return self._several_on_gpu(X, out, add)
        if out is None and add:
            raise ValueError("out: found None, expected the array to add to")
        given = self._vectors(X)
        vectors = given.shape[1]
        Y = np.empty((self.shape[0], vectors), self.dtype) if out is None else self._written(out, (self.shape[0], vectors))
        for first in range(0, vectors, MOST_VECTORS):
            some = slice(first, min(first + MOST_VECTORS, vectors))
            if vectors <= MOST_VECTORS:
                self._core.multiply_several(given, Y, add)
            else:
                part = np.ascontiguousarray(Y[:, some])
                self._core.multiply_several(np.ascontiguousarray(given[:, some]), part, add)
                Y[:, some] = part
        return Y.astype(type_of_result(X, self.dtype), copy=False) if out is None else out

    def _several_on_gpu(self, X: Any, out: Any, add: bool) -> Any:
        if not is_on_gpu(X) or not is_on_gpu(out):
            self._require_gpu("x")
            raise ValueError("x and out: found one array on the GPU, expected both, as in op.multiply(X, out=Y)")
        vectors = int(X.__cuda_array_interface__["shape"][1])
        if vectors < 1 or vectors > MOST_VECTORS:
            raise ValueError(f"x: found {vectors} vectors, expected 1 to {MOST_VECTORS}")
        self._require_gpu("x")
        given = array_on_gpu(X, "x", (self.shape[1], vectors), self.dtype, self._stream)
        written = array_on_gpu(out, "out", (self.shape[0], vectors), self.dtype, self._stream, written=True)
        self._core.multiply_several_on_gpu(given, written, vectors, add)
        return out

    def _written(self, out: Any, shape: tuple[int, ...]) -> Any:
        if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray) or out.dtype != self.dtype or out.shape != shape:
            sizes = shape[0] if len(shape) == 1 else " x ".join(map(str, shape))
            raise ValueError(f"out: expected an array of {sizes} values of type {self.dtype}")
        if not out.flags.writeable or not out.flags.c_contiguous or not out.flags.aligned:
            raise ValueError("out: expected an array that is contiguous and aligned, and can be written")
        return out

    def _scaled(self, x: Any, out: Any, alpha: float, beta: float) -> Any:
        """y = alpha A x + beta y."""
        if is_on_gpu(x) or is_on_gpu(out):
            raise ValueError("alpha, beta: found an array on the GPU, expected arrays on the host")
        if out is None:
            if beta != 0:
                raise ValueError("out: found None, expected the array that beta multiplies")
            y = np.empty(self.shape[0], self.dtype)
            self._core.multiply_scaled(alpha, self._vector(x), 0, y)
            return y.astype(type_of_result(x, self.dtype), copy=False)
        self._core.multiply_scaled(alpha, self._vector(x), beta, self._written(out, (self.shape[0],)))
        return out

    def _multiply(self, x: Any, out: Any, add: bool, recipe_order: bool) -> Any:
        if out is not None and (is_on_gpu(x) or is_on_gpu(out)):
            self._core.multiply_on_gpu(*self._both_on_gpu(x, self.shape[1], out, self.shape[0]), recipe_order, add)
            return out
        if out is None:
            if add:
                raise ValueError("out: found None, expected the array to add to")
            return self._product(x, recipe_order)
        x = self._vector(x)
        self._core.multiply(x, self._written(out, (self.shape[0],)), recipe_order, add)
        return out

    def __matmul__(self, x: Any) -> Any:
        y = self._core.product_if_plain(x, False)
        if y is not None:
            return y
        return self._product(x, False) if is_one_vector(x) else super().__matmul__(x)

    def _matvec(self, x: Any) -> np.ndarray:
        return self._product(x, False)

    def _matmat(self, X: Any) -> np.ndarray:
        return column_products(self, X) if self._given is None and self._transpose_of is None else self._several(X, None, False)

    def _rmatvec(self, x: Any) -> np.ndarray:
        return self._transpose()._matvec(x)

    def _rmatmat(self, X: Any) -> np.ndarray:
        return self._transpose()._matmat(X)

    def _transpose(self) -> Operator:
        """An operator for the transpose, kept until set_values."""
        if self._transposed is None:
            with errors_of_stages():
                core = self._core.transposed()
            other = object.__new__(Operator)
            LinearOperator.__init__(other, self.dtype, (self.shape[1], self.shape[0]))
            for name in ("_stream", "_recipe", "_stages", "_options", "_on_gpu", "_count"):
                setattr(other, name, getattr(self, name))
            other._core, other._given, other._replaced = core, None, False
            other._transposed, other._transpose_of = self, self
            self._transposed = other
        return self._transposed

    _adjoint = _transpose  # values are real

    def matvec(self, x: Any) -> np.ndarray:
        """y = A x. x: [columns] or [columns, 1]; the result has as many dimensions."""
        y = self._product(x, False)
        return y if np.ndim(x) == 1 else y.reshape(-1, 1)

    def multiply(self, x: Any, out: Any = None, *, add: bool = False, alpha: float = 1, beta: float = 0) -> Any:
        """y = A x, or with `add` y += A x, written to `out` if it is given. x: [columns]; out: [rows], of the operator's type.

        x may also be [columns, vectors] with out [rows, vectors], row by row (C order), which reads the matrix once for up to 64
        vectors, if the kernel can; a kernel for a number of vectors is prepared when it is first used.
        alpha, beta: y = alpha A x + beta y, for one vector on the host; with beta = 0, y is not read.
        An operator on the GPU takes x and out with __cuda_array_interface__ (CuPy, PyTorch), both contiguous, and does not copy them.
        Such a product runs on the operator's stream, and does not wait for it.
        Raises ValueError if x and out overlap, have wrong shapes, or are on another device than the operator.
        """
        if alpha != 1 or beta != 0:
            if add or np.ndim(x) != 1:
                raise ValueError("alpha, beta: found several vectors or add=True, expected one vector without it")
            return self._scaled(x, out, alpha, beta)
        shape = getattr(x, "shape", ())
        if len(shape) == 2 and (shape[1] != 1 if out is None else len(getattr(out, "shape", ())) == 2):
            return self._several(x, out, add)
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
    def nnz(self) -> int:
        """The number of entries of A."""
        return self.facts.nonzeros

    def diagonal(self) -> np.ndarray:
        """The diagonal of A, 0 where A has no entry. Raises MatrixError if A is in the memory of a GPU alone."""
        return self._core.diagonal()

    @property
    def facts(self) -> Facts:
        return Facts(**self._core.facts())

    @property
    def recipe(self) -> str:
        """The recipe as TOML with every default filled in."""
        return self._recipe.resolved()

    def set_values(self, values: Any) -> None:
        """Replaces the values of A: by those of a sparse matrix with A's pattern, in any format and order, or by `values` in the
        order that A.data had when the operator was made.

        Orders, layout and kernel stay, and the kernel is not verified again. The first call finds out where the layout has each value;
        later ones copy values (CSR of scipy; other formats are converted first, like A). Raises MatrixError if the matrix has another
        pattern, or if the layout cannot store the values, as they are coded or symmetric pairs are stored once; ValueError if A has its
        entries elsewhere by now, so that the order of `values` is not certain. If it raises, the operator stays as it was.
        """
        if self._transpose_of is not None:
            raise TypeError("values: found the transpose of an operator, expected that operator, whose transpose then has the new values, too")
        self._replaced = True
        self._transposed = None
        if is_on_gpu(values):
            self._require_gpu("values")
            if self._given is not None:
                self._given.require_unchanged()
                if self._given.format != "csr":
                    raise TypeError(f"values: found an array on the GPU, expected one on the host, as A is in {self._given.format.upper()}")
            self._core.set_values_on_gpu(array_on_gpu(values, "values", self._count, self.dtype, self._stream))
        elif scipy.sparse.issparse(values) or hasattr(values, "tocsr"):
            self._set_values_of(checked_matrix(values, "values"))
        elif self._given is None:
            self._core.set_values(numbers(values, "values", self.dtype))
        else:
            self._given.require_unchanged()
            self._core.set_values(self._given.values_of_csr(numbers(values, "values", self.dtype)))

    def _set_values_of(self, A: Any) -> None:
        if self._given is not None and A.format in ("csr", "dia") and self._given.pattern == pattern_of(A):
            self._core.set_values(self._given.values_of_csr(numbers(A.data, "values", self.dtype)))
            return
        indptr, indices, data = csr_arrays(A, "values")
        self._core.set_values_of(A.shape, indptr, indices, numbers(data, "values", self.dtype))

    def __repr__(self) -> str:
        facts = self.facts
        return f"<{facts.rows}x{facts.columns} Operator: {facts.layout}, kernel {facts.kernel} of {facts.backend}, {self.dtype}>"


def made_again(recipe: str, A: Any, options: dict[str, Any]) -> Operator:
    """The operator that a pickle or a copy describes."""
    return Operator(recipe, A, **options)


def transpose_of(operator: Operator) -> Operator:
    return operator.T


class InRecipeOrder(LinearOperator):
    """An operator whose vectors are in the recipe's order (Operator.in_recipe_order)."""

    def __init__(self, operator: Operator):
        super().__init__(operator.dtype, operator.shape)
        self.operator = operator

    def _matvec(self, x: Any) -> np.ndarray:
        return self.operator._product(x, True)

    def _matmat(self, X: Any) -> np.ndarray:
        return column_products(self, X)

    def __matmul__(self, x: Any) -> Any:
        return self._matvec(x) if is_one_vector(x) else super().__matmul__(x)

    def multiply(self, x: Any, out: Any = None, *, add: bool = False) -> Any:
        """Like Operator.multiply."""
        return self.operator._multiply(x, out, add, True)
