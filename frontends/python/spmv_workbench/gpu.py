"""Arrays on the GPU, of any package with the CUDA array interface (CuPy, PyTorch, Numba), and matrices of such arrays.

Interface: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, versions 2 and 3.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import scipy.sparse

LEGACY_STREAM = 1  # how the interface names the default stream, which waits for all blocking streams


def is_on_gpu(array: Any) -> bool:
    return type(array) is not np.ndarray and hasattr(array, "__cuda_array_interface__")


def stream_number(stream: Any) -> int:
    """The cudaStream_t of a stream of CuPy (ptr) or PyTorch (cuda_stream), or given as a number; 0: the default stream."""
    number = getattr(stream, "ptr", getattr(stream, "cuda_stream", stream))
    if number is None:
        return 0
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
        raise TypeError(f"stream: found {stream!r}, expected a stream of CuPy or PyTorch, or its cudaStream_t as a number")
    return 0 if number == LEGACY_STREAM else int(number)


def array_on_gpu(
    array: Any, name: str, size: int | tuple[int, int], dtype: np.dtype, stream: int, written: bool = False
) -> tuple[int, int]:
    """Address and size of a vector, or of several row by row, on the GPU; ValueError or TypeError unless an operator on this stream can take it as it is."""
    if not is_on_gpu(array):
        raise TypeError(f"{name}: found an array on the host, expected one on the GPU, as the other vector is")
    facts = array.__cuda_array_interface__
    shape, found = tuple(facts["shape"]), np.dtype(facts["typestr"])
    if found != dtype:
        raise TypeError(f"{name}: found values of type {found}, expected {dtype}, as in A")
    expected = size if isinstance(size, tuple) else (size,)
    if shape != expected:
        raise ValueError(f"{name}: found shape {shape}, expected {expected}")
    if facts.get("mask") is not None:
        raise ValueError(f"{name}: found an array with a mask, expected one without")
    strides = facts.get("strides")
    contiguous = tuple(dtype.itemsize * math.prod(expected[axis + 1 :]) for axis in range(len(expected)))
    if strides is not None and math.prod(expected) > 1 and tuple(strides) != contiguous:
        raise ValueError(f"{name}: found strides {tuple(strides)}, expected a contiguous array")
    address, read_only = facts["data"]
    if written and read_only:
        raise ValueError(f"{name}: found an array that cannot be written")
    its = facts.get("stream")
    if its is not None and (0 if its == LEGACY_STREAM else its) != stream:
        raise ValueError(
            f"{name}: found an array that is being written on stream {its}, expected stream {stream or LEGACY_STREAM}, on which the "
            "operator runs: wb.Operator(..., stream=...)"
        )
    return int(address), math.prod(expected)


@dataclasses.dataclass(frozen=True)
class MatrixOnGpu:
    """The arrays of a matrix in CSR on the GPU, as the library takes them: address and size of each."""

    shape: tuple[int, int]
    dtype: np.dtype
    indptr: tuple[int, int]
    long_offsets: bool
    indices: tuple[int, int]
    data: tuple[int, int]


def matrix_on_gpu(A: Any, stream: int) -> MatrixOnGpu | None:
    """The arrays of a CSR matrix of CuPy or a CSR tensor of PyTorch on the GPU, with columns of 32 bits and values of float32 or
    float64; None for other objects, which are copied to the host. Raises TypeError or ValueError like array_on_gpu."""
    if callable(getattr(A, "crow_indices", None)):
        indptr, indices, data = A.crow_indices(), A.col_indices(), A.values().detach()
    elif getattr(A, "format", None) == "csr":
        indptr, indices, data = A.indptr, A.indices, A.data
    else:
        return None
    if not all(is_on_gpu(array) for array in (indptr, indices, data)):
        return None
    types = [np.dtype(array.__cuda_array_interface__["typestr"]) for array in (indptr, indices, data)]
    if types[0] not in (np.int32, np.int64) or types[1] != np.int32 or types[2] not in (np.float32, np.float64):
        return None
    rows, columns = (int(size) for size in A.shape)
    count = int(data.__cuda_array_interface__["shape"][0])
    return MatrixOnGpu(
        (rows, columns),
        types[2],
        array_on_gpu(indptr, "indptr", rows + 1, types[0], stream),
        types[0] == np.int64,
        array_on_gpu(indices, "indices", count, types[1], stream),
        array_on_gpu(data, "data", count, types[2], stream),
    )


def on_host(A: Any) -> Any:
    """A sparse matrix of CuPy, or a CSR tensor of PyTorch, as one of scipy: copied to the host. Other objects stay as they are."""
    if scipy.sparse.issparse(A):
        return A
    if callable(getattr(A, "crow_indices", None)):  # PyTorch, whose sparse tensors raise errors where arrays have attributes
        parts = [part.detach().cpu().numpy() for part in (A.values(), A.col_indices(), A.crow_indices())]
        return scipy.sparse.csr_matrix(tuple(parts), shape=tuple(A.shape))
    if is_on_gpu(getattr(A, "data", None)) and callable(getattr(A, "get", None)):
        return A.get()
    return A
