"""Matrices of scipy as the library takes them, and where they have their values."""

from __future__ import annotations

import copy
import weakref
from typing import Any

import numpy as np
import scipy.sparse

from . import _core
from .gpu import on_host

LARGEST = 2**31 - 1
INDICES = {
    "csr": ("indptr", "indices"),
    "csc": ("indptr", "indices"),
    "bsr": ("indptr", "indices"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}  # the arrays that say where the values of a format are; LIL and DOK have none


def checked_matrix(A: Any, name: str = "A") -> Any:
    """A as a sparse matrix of scipy with values that recipes take; TypeError or ValueError otherwise."""
    A = on_host(A)
    if not scipy.sparse.issparse(A):
        raise TypeError(f"{name}: found {type(A).__name__}, expected a sparse matrix of scipy: scipy.sparse.csr_matrix({name})")
    if len(A.shape) != 2:
        raise ValueError(f"{name}: found shape {A.shape}, expected rows and columns")
    if A.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name}: found values of type {A.dtype}, expected float32 or float64: {real_advice(name, A.dtype, 'float64')}")
    if max(A.shape) > LARGEST:
        raise ValueError(f"{name}: found {A.shape[0]} rows and {A.shape[1]} columns, expected at most {LARGEST} of each")
    return A


def csr_arrays(A: Any, name: str = "A") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A in CSR as the library takes it: row offsets of 32 or 64 bits, columns of 32 bits, and values. A CSR matrix is not copied."""
    csr = A.tocsr()
    offsets = np.int32 if csr.indptr.dtype == np.int32 else np.int64
    indices = csr.indices
    if indices.dtype != np.int32 and indices.size and not 0 <= indices.min() <= indices.max() < csr.shape[1]:
        raise _core.MatrixError(f"{name}: found columns outside of 0 to {csr.shape[1] - 1}")  # which 32 bits might hide
    return plain(csr.indptr, offsets), plain(indices, np.int32), plain(csr.data, csr.dtype)


def plain(array: np.ndarray, dtype: Any) -> np.ndarray:
    """The array as the library reads it: contiguous and aligned; not copied if it is so."""
    return np.require(array, dtype, ("C", "A"))


def real_advice(name: str, dtype: np.dtype, wanted: Any) -> str:
    return f"{name}.real" if dtype.kind == "c" else f"{name}.astype('{wanted}')"


def numbers(array: Any, name: str, dtype: np.dtype) -> np.ndarray:
    """The array, contiguous and of this type; TypeError if the conversion may change anything but integers."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name}: found an array with a mask, expected one without: {name}.filled(0)")
    array = np.asarray(array)
    if not np.can_cast(array.dtype, dtype, "safe") and array.dtype.kind not in "iub":
        raise TypeError(f"{name}: found values of type {array.dtype}, expected {dtype}: {real_advice(name, array.dtype, dtype)}")
    return plain(array, dtype)


def rounded(array: Any, name: str, dtype: np.dtype) -> np.ndarray:
    """Like numbers, and rounds float64 to float32; ValueError if a number is beyond its range."""
    if isinstance(array, np.ndarray) and array.dtype == np.float64 and dtype == np.float32 and not isinstance(array, np.ma.MaskedArray):
        try:
            with np.errstate(over="raise"):
                return array.astype(dtype, order="C")
        except FloatingPointError:
            raise ValueError(f"{name}: found numbers beyond the range of float32, of which A is") from None
    return numbers(array, name, dtype)


def type_of_result(array: Any, dtype: np.dtype) -> np.dtype:
    """float64 if the vector is, otherwise A's type."""
    return np.dtype(np.float64) if getattr(array, "dtype", None) == np.float64 else dtype


def pattern_of(A: Any) -> tuple[Any, ...] | None:
    """The same for matrices whose data have their values in the same places, up to a checksum; None for LIL and DOK."""
    names = INDICES.get(A.format)
    return names and (A.format, A.shape, A.data.shape, *(_core.checksum(np.ascontiguousarray(getattr(A, name))) for name in names))


def values_of(A: Any) -> Any:
    """A checksum of the values; None for LIL and DOK, which have no array of them."""
    return _core.checksum(np.ascontiguousarray(A.data)) if A.format in INDICES else None


def with_values(A: Any, values: np.ndarray) -> Any:
    """A with other values, and with A's own arrays of indices."""
    changed = copy.copy(A)
    changed.data = values
    return changed


class GivenMatrix:
    """The matrix of an operator, whose values may be given anew in the order of its data. Keeps CSC, COO and BSR alive, to convert them."""

    def __init__(self, A: Any):
        self.format, self.pattern = A.format, pattern_of(A)
        self._matrix = (lambda: A) if A.format in ("csc", "coo", "bsr") else weakref.ref(A)
        if A.format == "dia":  # scipy drops its zeros
            self._offsets = A.offsets.copy()
            self._places = with_values(A, np.arange(1, A.data.size + 1).reshape(A.data.shape)).tocsr().data - 1
            self._kept = A.data.reshape(-1)[self._places] != 0

    def matrix(self) -> Any:
        """The matrix; None if it does not exist any more."""
        return self._matrix()

    def require_unchanged(self) -> None:
        """Raises ValueError if the matrix has its values elsewhere than it had, or is in a format without an array of values."""
        if self.pattern is None:
            raise ValueError(f"values: A is in {self.format.upper()}, which has no array of values; expected a matrix: op.set_values(A)")
        A = self._matrix()
        if A is not None and pattern_of(A) != self.pattern:
            raise ValueError(
                "values: A has its entries in another order or in other places than when the operator was made (some functions of "
                "scipy sort the entries of their arguments); expected a matrix: op.set_values(A)"
            )

    def values_of_csr(self, values: np.ndarray) -> np.ndarray:
        """Values in the order of the matrix's data in that of its CSR; see require_unchanged."""
        if values.shape != self.pattern[2]:
            raise ValueError(f"values: found shape {values.shape}, expected {self.pattern[2]}")
        if self.format == "csr":
            return values
        if self.format != "dia":
            return with_values(self._matrix(), values).tocsr().data
        given = values.reshape(-1)[self._places]
        lost = self._places[~self._kept & (given != 0)]
        if lost.size:
            diagonal, column = divmod(int(lost[0]), values.shape[1])
            row = column - int(self._offsets[diagonal])
            raise ValueError(f"values: found {values[diagonal, column]} in row {row} and column {column}, where A had 0, which has no entry "
                             "in the operator; expected 0 or a new operator")
        return given[self._kept]
