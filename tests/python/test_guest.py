"""Operators in programs that fork, copy and send them."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import RCM_SELL, drawn, laplace

import spmv_workbench as wb

FORK = multiprocessing.get_context("fork")


def in_child(work, *arguments):
    """The result of work in a forked process; it fails after 60 s, as the child may hang."""
    with FORK.Pool(1) as pool:
        return pool.apply_async(work, arguments).get(60)


OPERATORS = {}


def product_of_given(x):
    return OPERATORS["given"] @ x


def product_of_new(x):
    return wb.Operator(RCM_SELL, laplace(), device="host") @ x


def test_a_forked_process_multiplies_with_the_operators_of_its_parent_and_with_new_ones(host, vector):
    A, x = laplace(), vector(144)
    OPERATORS["given"] = host(RCM_SELL, A)
    y = OPERATORS["given"] @ x  # starts the threads
    for _ in range(2):
        np.testing.assert_array_equal(in_child(product_of_given, x), y)
        np.testing.assert_array_equal(in_child(product_of_new, x), y)
        np.testing.assert_array_equal(OPERATORS["given"] @ x, y)


def test_several_forked_processes_multiply_at_the_same_time(host, vector):
    OPERATORS["given"] = host(RCM_SELL, laplace())
    vectors = [vector(144) * i for i in range(12)]
    with FORK.Pool(3) as pool:
        products = pool.map_async(product_of_given, vectors).get(60)
    for x, y in zip(vectors, products):
        np.testing.assert_array_equal(y, OPERATORS["given"] @ x)


def test_a_process_that_is_forked_while_a_thread_makes_an_operator_gets_an_error(host, vector):
    A, x = laplace(), vector(144)
    op = host(RCM_SELL, A)
    begun, finish = threading.Event(), threading.Event()

    @wb.stage()
    def slow(matrix):
        begun.set()
        finish.wait(60)
        return np.arange(matrix.shape[0])

    thread = threading.Thread(target=lambda: host({"stage": [{"use": slow}], "layout": {"use": "csr"}}, A))
    thread.start()
    try:
        assert begun.wait(60)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                op @ x
                os.write(writing, b"a product")
            except wb.MachineError as error:
                os.write(writing, str(error).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as text:
            assert text.read().startswith("this process was forked while another thread")
        os.waitpid(child, 0)
    finally:
        finish.set()
        thread.join()
    np.testing.assert_allclose(op @ x, A @ x)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_pickles_and_copies_multiply_like_the_operator(host, vector, form):
    A, x = laplace().asformat(form), vector(144)
    op = host(RCM_SELL, A, verify=False)
    for other in (pickle.loads(pickle.dumps(op)), copy.deepcopy(op), copy.copy(op)):
        np.testing.assert_array_equal(other @ x, op @ x)
        assert other.recipe == op.recipe and other.facts.device == "host" and not other.facts.verified


def test_an_operator_travels_to_a_process_that_is_started_anew(host, vector):
    A, x = laplace(), vector(144)
    op = host(RCM_SELL, A)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply_async(op.matvec, (x,)).get(120), op @ x)


def test_what_cannot_be_made_again_is_not_pickled(host):
    A = drawn(40, 40)
    gone = host(RCM_SELL, A.copy())
    with pytest.raises(TypeError, match="its matrix does not exist any more"):
        pickle.dumps(gone)
    replaced = host(RCM_SELL, A)
    replaced.set_values(2 * A.data)
    with pytest.raises(TypeError, match="its matrix has changed"):
        pickle.dumps(replaced)
    op = host(RCM_SELL, A)
    A.data[0] += 1
    with pytest.raises(TypeError, match="its matrix has changed"):
        copy.deepcopy(op)

    @wb.stage()
    def as_it_is(matrix):
        return np.arange(matrix.shape[0])

    staged = host({"stage": [{"use": as_it_is}], "layout": {"use": "csr"}}, A)
    with pytest.raises(TypeError, match="a stage in Python"):
        pickle.dumps(staged)


def test_programs_that_python_starts_have_all_processors_although_openmp_binds_its_first_thread():
    code = (
        "import os; before = os.sched_getaffinity(0)\n"
        "import spmv_workbench as wb; from spmv_workbench.processors import all_processors\n"
        "with all_processors(): assert os.sched_getaffinity(0) == before, os.sched_getaffinity(0)\n"
    )
    environment = os.environ | {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
