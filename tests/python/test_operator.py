"""Operators against scipy."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from conftest import RCM_SELL, SOURCE, drawn, laplace

import spmv_workbench as wb
from spmv_workbench.gpu import matrix_on_gpu


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_products_are_those_of_scipy(host, vector, dtype, form):
    A = laplace(dtype=dtype)
    op = host(RCM_SELL, A.asformat(form))
    x = vector(A.shape[1], dtype)
    assert op.dtype == dtype and op.shape == A.shape
    tolerance = 50 * np.finfo(dtype).eps
    np.testing.assert_allclose(op @ x, A @ x, rtol=tolerance, atol=tolerance)
    assert (op @ x).dtype == dtype
    np.testing.assert_array_equal(op.matvec(x), op @ x)
    np.testing.assert_array_equal(op @ x[:, None], (op @ x)[:, None])
    X = np.stack([x, 2 * x], axis=1)
    np.testing.assert_allclose(op @ X, A @ X, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_offsets_of_both_sizes_and_read_only_arrays(host, vector, offsets):
    A = drawn(40, 30)
    A.indptr, A.indices = A.indptr.astype(offsets), A.indices.astype(offsets)
    x = vector(30)
    for array in (A.indptr, A.indices, A.data, x):
        array.flags.writeable = False
    np.testing.assert_allclose(host(SOURCE / "recipes/csr.toml", A) @ x, A @ x)


def test_multiply_writes_into_out(host, vector):
    A = drawn(40, 30)
    op = host({"layout": {"use": "sell"}}, A)
    x, y = vector(30), np.ones(40)
    assert op.multiply(x, out=y) is y
    np.testing.assert_allclose(y, A @ x)
    op.multiply(x, y, add=True)
    np.testing.assert_allclose(y, 2 * (A @ x))
    for wrong in (np.ones(30), np.ones(40, np.float32), np.ones(80)[::2], [0.0] * 40):
        with pytest.raises(ValueError, match="out: expected an array"):
            op.multiply(x, out=wrong)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="can be written"):
        op.multiply(x, out=y)
    with pytest.raises(ValueError, match="the array to add to"):
        op.multiply(x, add=True)
    square = host({"layout": {"use": "csr"}}, laplace())
    both = np.ones(144)
    with pytest.raises(ValueError, match="overlap"):
        square.multiply(both, out=both)


def test_vectors_that_do_not_fit(host):
    op = host({"layout": {"use": "csr"}}, drawn(40, 30, np.float32))
    assert (op @ np.arange(30)).dtype == np.float32  # integers are converted
    assert (op @ np.ones(60, np.float32)[::2]).shape == (40,)  # so are parts of arrays
    with pytest.raises(ValueError, match=r"x: found shape \(40,\), expected \(30,\)"):
        op @ np.ones(40, np.float32)
    with pytest.raises(TypeError, match="found values of type float128, expected float32"):
        op @ np.ones(30, np.longdouble)
    with pytest.raises(TypeError, match="found values of type complex"):
        op.multiply(np.ones(30, complex))


def test_the_orders(host, vector):
    A = laplace()
    op = host(RCM_SELL, A)
    rows, columns = op.row_order, op.column_order
    assert rows.dtype == np.int32 and not rows.flags.writeable
    np.testing.assert_array_equal(np.sort(rows), np.arange(144))
    np.testing.assert_array_equal(rows, columns)  # RCM orders both alike
    x = vector(144)
    np.testing.assert_array_equal(op.to_recipe_order(x), x[columns])
    np.testing.assert_array_equal(op.from_recipe_order(op.to_recipe_order(x)), x)
    inner = op.in_recipe_order
    y = op.from_recipe_order(inner @ op.to_recipe_order(x))
    np.testing.assert_allclose(y, A @ x)
    out = np.empty(144)
    np.testing.assert_array_equal(inner.multiply(x, out=out), inner @ x)
    del op, inner
    assert rows[0] >= 0  # the array keeps the operator alive


def test_scipy_solves_with_an_operator(host):
    A = laplace(20)
    b = np.ones(400)
    op = host(SOURCE / "recipes/ehyb.toml", A, stage__metis_partition__parts=4)
    x, info = scipy.sparse.linalg.cg(op, b, atol=0)
    assert info == 0
    assert np.linalg.norm(A @ x - b) < 1.1e-5 * np.linalg.norm(b)
    inner, info = scipy.sparse.linalg.cg(op.in_recipe_order, op.to_recipe_order(b), atol=0)
    assert info == 0
    assert np.linalg.norm(A @ op.from_recipe_order(inner) - b) < 1.1e-5 * np.linalg.norm(b)
    assert (2 * op + op) @ b == pytest.approx(3 * (A @ b))


def test_facts(host):
    op = host(RCM_SELL, laplace(), layout__slice_height=16)
    facts = op.facts
    assert (facts.rows, facts.columns, facts.nonzeros) == (144, 144, 672)
    assert (facts.device, facts.layout, facts.backend) == ("host", "sell", "kokkos")
    assert facts.bytes > 672 * 12 and facts.seconds > 0 and facts.verified
    assert "slice_height    = 16" in op.recipe
    assert "sell" in repr(op) and "144x144" in repr(op)
    assert not host(RCM_SELL, laplace(), verify=False).facts.verified


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_set_values(host, vector, form):
    A = drawn(40, 40).asformat(form)
    op = host(RCM_SELL, A)
    x = vector(40)
    B = A.copy()
    B.data = np.arange(1.0, B.nnz + 1)
    op.set_values(B.data)
    np.testing.assert_allclose(op @ x, B @ x)
    with pytest.raises(ValueError, match="values: found shape"):
        op.set_values(np.ones(3))
    np.testing.assert_allclose(op @ x, B @ x)


def test_matrices_that_do_not_fit(host):
    A = drawn(40, 30)
    csr = {"layout": {"use": "csr"}}
    for wrong, message in ((A.toarray(), "expected a sparse matrix of scipy"), (A.astype(int), "expected float32 or float64")):
        with pytest.raises(TypeError, match=message):
            host(csr, wrong)
    with pytest.raises(wb.MatrixError, match="square"):
        host(RCM_SELL, A)
    twice = scipy.sparse.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    with pytest.raises(wb.MatrixError, match="row 0"):
        host(csr, twice)
    beyond = scipy.sparse.csr_matrix((40, 30))
    beyond.data, beyond.indices, beyond.indptr = np.ones(1), np.array([2**32 + 1]), np.r_[0, np.ones(40, np.int64)]
    with pytest.raises(wb.MatrixError, match="columns outside of 0 to 29"):
        host(csr, beyond)
    with pytest.raises(TypeError, match="recipe: found csr_matrix, expected a file, a name, a TOML text or a dict"):
        host(A, csr)
    with pytest.raises(TypeError, match="found the keyword verfy, expected device, kernel, verify, triangle, stream or"):
        host(csr, A, verfy=False)
    with pytest.raises(ValueError, match="device: found 'cpu'"):
        wb.Operator(csr, A, device="cpu")


def test_recipes_that_are_wrong(host):
    A = laplace()
    with pytest.raises(wb.RecipeError, match=r"recipe.toml:2:7: unknown layout 'sel'; did you mean 'sell'"):
        host('[layout]\nuse = "sel"\n', A)
    with pytest.raises(wb.RecipeError, match="none.toml: no such file"):
        host("none.toml", A)
    with pytest.raises(wb.RecipeError, match="slice_height=0"):
        host(RCM_SELL, A, layout__slice_height=0)
    with pytest.raises(wb.RecipeError, match="no kernel of layout 'sell' runs with these options"):
        host(RCM_SELL, A, kernel="no_such")
    with pytest.raises(TypeError, match="expected a text, number"):
        host({"layout": {"use": object()}}, A)
    assert issubclass(wb.RecipeError, wb.Error) and issubclass(wb.Error, RuntimeError)


def test_other_threads_run_during_a_product(host, vector):
    A = laplace(300)
    op = host({"layout": {"use": "csr"}}, A, verify=False)
    x = vector(A.shape[1])
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    before = counted
    out = np.empty(A.shape[0])
    for _ in range(50):
        op._core.multiply(x, out, False, False)
    during = counted - before
    stop.set()
    counter.join()
    assert during > 0


def test_ctrl_c_ends_a_construction():
    """The signal arrives during the first of two stages."""

    @wb.stage()
    def slow(A):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        return np.arange(A.shape[0])

    with pytest.raises(KeyboardInterrupt):
        wb.Operator({"stage": [slow, {"use": "cuthill_mckee"}], "layout": {"use": "csr"}}, laplace(), device="host")


class OnGpu:
    """An array that says that it is on the GPU, at an address that nobody reads."""

    def __init__(self, size, dtype=np.float64, **changes):
        facts = {"shape": (size,), "typestr": np.dtype(dtype).str, "data": (0x7F000000, False), "strides": None, "version": 3, "stream": None}
        self.__cuda_array_interface__ = {**facts, **changes}


class Recorder:
    """In place of an operator on the GPU: records what the library is given."""

    def __init__(self):
        self.calls = []

    def product_if_plain(self, x, recipe_order):
        return None

    def multiply_on_gpu(self, *arguments):
        self.calls.append(arguments)

    permute_on_gpu = product = multiply_on_gpu


def test_vectors_on_the_gpu_for_an_operator_on_the_host(host):
    op = host({"layout": {"use": "csr"}}, drawn(40, 30))
    for call in (
        lambda: op @ OnGpu(30),
        lambda: op.multiply(OnGpu(30)),
        lambda: op.multiply(OnGpu(30), out=OnGpu(40)),
        lambda: op.multiply(OnGpu(30), out=np.ones(40)),
        lambda: op.multiply(np.ones(30), out=OnGpu(40)),
        lambda: op.in_recipe_order.multiply(OnGpu(30), out=OnGpu(40)),
        lambda: op.to_recipe_order(OnGpu(30), out=OnGpu(30)),
    ):
        with pytest.raises(ValueError, match="found an array on the GPU, expected one on the host, where this operator runs"):
            call()
    with pytest.raises(ValueError, match="values: found an array on the GPU, expected one on the host, where this operator runs"):
        op.set_values(OnGpu(120))


def test_vectors_on_the_gpu_for_an_operator_there(host):
    """The library is given addresses and sizes, or an error says what is wrong. No GPU is needed, as it is never called."""
    op = host({"layout": {"use": "csr"}}, drawn(40, 30), stream=7)
    op._core, op._on_gpu = Recorder(), True
    x, y = OnGpu(30, data=(512, True)), OnGpu(40, data=(1024, False), strides=(8,), stream=7)
    assert op.multiply(x, out=y) is y
    assert op.in_recipe_order.multiply(x, out=y, add=True) is y
    op.to_recipe_order(x, out=OnGpu(30))
    op.from_recipe_order(x, out=OnGpu(30))
    there = (0x7F000000, 30)
    both = ((512, 30), (1024, 40))
    assert op._core.calls == [(*both, False, False), (*both, True, True), ((512, 30), there, True), ((512, 30), there, False)]
    for wrong, message in (
        (OnGpu(40, np.float32), "out: found values of type float32, expected float64"),
        (OnGpu(30), r"out: found shape \(30,\), expected \(40,\)"),
        (OnGpu(40, shape=(40, 1)), r"out: found shape \(40, 1\)"),
        (OnGpu(40, strides=(16,)), r"out: found strides \(16,\), expected a contiguous array"),
        (OnGpu(40, data=(512, True)), "out: found an array that cannot be written"),
        (OnGpu(40, stream=2), "out: found an array that is being written on stream 2, expected stream 7"),
        (OnGpu(40, mask=OnGpu(40)), "out: found an array with a mask"),
        (np.ones(40), "out: found an array on the host, expected one on the GPU"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            op.multiply(x, out=wrong)
    with pytest.raises(TypeError, match="x: found an array on the host, expected one on the GPU"):
        op.multiply(np.ones(30), out=y)
    with pytest.raises(ValueError, match="expected out, as in"):
        op @ x
    assert len(op._core.calls) == 4


def test_right_sides_on_the_gpu_for_a_solver_there():
    """The library is given addresses, or an error says what is wrong; it is never called."""

    class Calls(list):
        def solve_on_gpu(self, *arguments):
            self.append(arguments)
            return {"end": "converged", "iterations": 3, "residual": 0.0, "seconds": 0.0, "engine": "graph", "together": 1}

        def solve_several_on_gpu(self, b, x, right_sides, from_x):
            self.append((b, x, right_sides, from_x))
            return [{"end": "converged", "iterations": j, "residual": 0.0, "seconds": 0.0, "engine": "graph", "together": right_sides} for j in range(right_sides)]

    solver = wb.Solver({"layout": {"use": "csr"}}, laplace(6), device="host")
    solver._solver = calls = Calls()
    solver._matrix._on_gpu = True
    several = {"shape": (36, 3), "strides": (24, 8)}
    B, X = OnGpu(36, data=(512, True), **several), OnGpu(36, data=(4096, False), **several)
    x, facts = solver.solve(B, out=X)
    assert x is X and [one.iterations for one in facts] == [0, 1, 2] and facts[0].together == 3
    assert solver.solve(B, X, out=X).x is X
    assert solver.solve(OnGpu(36), out=OnGpu(36)).facts.iterations == 3
    assert calls == [((512, 108), (4096, 108), 3, False), ((512, 108), (4096, 108), 3, True), ((0x7F000000, 36), (0x7F000000, 36), False, None)]
    for b, out, callback, message in (
        (B, OnGpu(36), None, r"out: found shape \(36,\), expected \(36, 3\)"),
        (OnGpu(36), X, None, r"out: found shape \(36, 3\), expected \(36,\)"),
        (OnGpu(36, shape=(36, 3), strides=(8, 288)), X, None, r"b: found strides \(8, 288\), expected a contiguous array"),
        (OnGpu(35, shape=(35, 3)), X, None, r"b: found shape \(35, 3\), expected \(36, 3\)"),
        (OnGpu(36, shape=(36, 65)), OnGpu(36, shape=(36, 65)), None, r"b: found shape \(36, 65\) on the GPU, expected \(36,\), or \(36, k\) with k of 1 to 64"),
        (B, X, print, r"b: found shape \(36, 3\) on the GPU, expected \(36,\)$"),
    ):
        with pytest.raises(ValueError, match=message):
            solver.solve(b, out=out, callback=callback)
    assert len(calls) == 3


def test_matrices_on_the_gpu():
    """The library is given the addresses of a CSR matrix of CuPy or PyTorch with 32-bit columns; others are copied to the host."""

    class OfCupy:
        format, shape = "csr", (40, 30)

        def __init__(self, indptr=np.int32, indices=np.int32, data=np.float64, **changes):
            self.indptr, self.indices = OnGpu(41, indptr, data=(512, False)), OnGpu(90, indices, data=(1024, True))
            self.data = OnGpu(90, data, data=(2048, False), **changes)

    class OfPytorch(OfCupy):
        format = None

        def __init__(self, **types):
            super().__init__(**types)
            self.data.detach = lambda: self.data
            self.crow_indices, self.col_indices, self.values = (lambda: self.indptr), (lambda: self.indices), (lambda: self.data)

    for kind in (OfCupy, OfPytorch):
        for offsets in (np.int32, np.int64):
            found = matrix_on_gpu(kind(indptr=offsets), 7)
            assert (found.shape, found.dtype, found.long_offsets) == ((40, 30), np.float64, offsets is np.int64)
            assert (found.indptr, found.indices, found.data) == ((512, 41), (1024, 90), (2048, 90))
        assert matrix_on_gpu(kind(data=np.float32), 7).dtype == np.float32
        assert matrix_on_gpu(kind(indices=np.int64), 7) is None
        assert matrix_on_gpu(kind(data=np.complex64), 7) is None
    assert matrix_on_gpu(drawn(40, 30), 7) is None
    with pytest.raises(ValueError, match="data: found an array that is being written on stream 2, expected stream 7"):
        matrix_on_gpu(OfCupy(stream=2), 7)


def test_streams(host):
    A = drawn(4, 5)
    csr = {"layout": {"use": "csr"}}
    for given, number in ((None, 0), (1, 0), (5, 5), (type("Of CuPy", (), {"ptr": 9})(), 9), (type("Of PyTorch", (), {"cuda_stream": 8})(), 8)):
        assert host(csr, A, stream=given)._stream == number
    with pytest.raises(TypeError, match="stream: found 'a', expected a stream"):
        host(csr, A, stream="a")


def test_matrices_of_other_packages_are_copied_to_the_host(host, vector):
    A = drawn(40, 30)
    x = vector(30)

    class OfCupy:
        data = OnGpu(A.nnz)

        def get(self):
            return A

    class Part:
        def __init__(self, array):
            self.array = array

        detach = cpu = lambda self: self

        def numpy(self):
            return self.array

    class OfSparseTensor:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("Sparse CSR tensors do not have is_contiguous")

    class OfTorch:
        shape = A.shape
        data = OfSparseTensor()
        values, col_indices, crow_indices = (lambda self, part=part: Part(part) for part in (A.data, A.indices, A.indptr))

    for given in (OfCupy(), OfTorch()):
        op = host({"layout": {"use": "csr"}}, given)
        np.testing.assert_allclose(op @ x, A @ x)
        op.set_values(2 * A.data)
        np.testing.assert_allclose(op @ x, 2 * (A @ x))


def test_set_values_keeps_orders_and_refuses_what_a_layout_cannot_store(host, vector):
    A = laplace()
    A.data[:] = 3
    x = vector(144)
    op = host({"stage": [{"use": "cuthill_mckee"}], "layout": {"use": "sell", "values": "one"}}, A)
    order = op.row_order
    op.set_values(np.full(A.nnz, 5.0))
    np.testing.assert_allclose(op @ x, A @ x * 5 / 3)
    with pytest.raises(wb.MatrixError, match=r"stores one value for all of its entries, but \d+(\.0)? and \d+(\.0)? differ"):
        op.set_values(np.arange(A.nnz, dtype=float))
    np.testing.assert_allclose(op @ x, A @ x * 5 / 3)
    np.testing.assert_array_equal(op.row_order, order)


def in_process_with(variable, code):
    """Runs code in a Python process of its own, with `NAME=VALUE` in its environment; returns what it prints."""
    name, value = variable.split("=")
    environment = {**os.environ, name: value}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=100)
    return done.stdout


@pytest.mark.parametrize("variable", ["KOKKOS_NUM_THREADS=0", "KOKKOS_NUM_THREADS=", "KOKKOS_DEVICE_ID=a", "OMP_NUM_THREADS=768"])
def test_a_wrong_thread_variable_is_an_error_and_too_many_threads_are_not_started(variable):
    code = f"""
import numpy as np, scipy.sparse, spmv_workbench as wb
for attempt in range(2):
    try:
        op = wb.Operator({RCM_SELL!r}, scipy.sparse.eye(40, format="csr"), device="host")
        print((op @ np.ones(40)).sum())
    except wb.Error as error:
        print(error)
"""
    name, value = variable.split("=")
    refused = f"the environment variable {name} is '{value}'; expected a whole number, at least "
    for line in in_process_with(variable, code).splitlines(keepends=True) or [""]:
        assert line == "40.0\n" if value == "768" else line.startswith(refused)
