"""Solvers: x against scipy's, preconditioners, right sides, types, new values, and functions of the caller."""

import copy
import pickle
import signal
import time

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import scipy.sparse.linalg
from conftest import RCM_SELL, SOURCE, laplace

import spmv_workbench as wb

ROWS_ONLY = '[[stage]]\nuse = "row_sort"\napply = "rows"\n[layout]\nuse = "ellr"\nslots_per_nonzero = 100\n'


@pytest.fixture
def solver():
    """Makes a solver on the host."""
    return lambda recipe, A, *arguments, **options: wb.Solver(recipe, A, *arguments, device="host", **options)


def shifted(n=20, dtype=np.float64):
    """A symmetric positive definite matrix whose diagonal varies."""
    A = laplace(n)
    return (A + scipy.sparse.diags(20.0 * (np.arange(n * n) % 5))).tocsr().astype(dtype)


def unsymmetric(n=20):
    return (shifted(n) + scipy.sparse.triu(0.3 * laplace(n), 1)).tocsr()


def residual(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


def incomplete(A):
    """An incomplete factorisation as a LinearOperator; symmetric only in its pattern, so good for bicgstab."""
    return scipy.sparse.linalg.LinearOperator(A.shape, scipy.sparse.linalg.spilu(A.tocsc(), drop_tol=1e-3).solve)


@pytest.mark.parametrize("recipe", ["[layout]\nuse = 'csr'\n", RCM_SELL, ROWS_ONLY])
@pytest.mark.parametrize("method", ["cg", "bicgstab"])
def test_preconditioners_of_each_kind_solve_in_the_order_of_the_caller(solver, vector, recipe, method):
    A = shifted() if method == "cg" else unsymmetric()
    b = vector(A.shape[0])
    inverse = scipy.sparse.diags(1 / A.diagonal()).tocsr()
    kinds = {"none": None, "jacobi": "jacobi", "function": lambda r: r / A.diagonal(), "matrix": inverse, "dense": inverse.toarray(),
             "operator": scipy.sparse.linalg.aslinearoperator(inverse)}  # fmt: skip
    iterations = {}
    for kind, preconditioner in kinds.items():
        x, facts = solver(recipe, A, method, preconditioner, tolerance=1e-10).solve(b)
        assert facts.converged and facts.end == "converged" and facts.seconds > 0
        assert residual(A, x, b) < 1.2e-10 and facts.residual < 1.2e-10
        np.testing.assert_allclose(x, scipy.sparse.linalg.spsolve(A.tocsc(), b), rtol=1e-7, atol=1e-9)
        iterations[kind] = facts.iterations
    others = {kind: count for kind, count in iterations.items() if kind not in ("none", "jacobi")}
    assert max(others.values()) - min(others.values()) <= 1 and abs(iterations["jacobi"] - iterations["function"]) <= 1, iterations
    assert 2 * iterations["jacobi"] < iterations["none"]


def test_an_incomplete_factorisation_of_scipy(solver, vector):
    A = unsymmetric()
    b = vector(A.shape[0])
    x, facts = solver(RCM_SELL, A, "bicgstab", incomplete(A)).solve(b)
    assert facts.iterations <= 5 and residual(A, x, b) < 2e-8
    symmetric = shifted()
    whole = scipy.sparse.linalg.splu(symmetric.tocsc())  # the exact inverse: one iteration
    x, facts = solver(RCM_SELL, symmetric, "cg", whole.solve).solve(b)
    assert facts.iterations == 1 and residual(symmetric, x, b) < 2e-8


def elasticity():
    """Linear elasticity assembled by FreeFEM: 5,874 rows, condition 1e4 after scaling, with rows of boundary values."""
    return scipy.sparse.csr_matrix(scipy.io.mmread(SOURCE / "recipes" / "matrices" / "elasticity3d.mtx.gz"))


@pytest.mark.parametrize("recipe", ["ehyb", "rcm_sell", "block_sell"])
@pytest.mark.parametrize("make", [elasticity, lambda: laplace(60), shifted], ids=["elasticity", "laplace", "shifted"])
def test_conjugate_gradients_take_as_many_iterations_as_those_of_scipy(solver, vector, recipe, make):
    A = make()
    b = vector(A.shape[0])
    inverse = scipy.sparse.diags(1 / A.diagonal())
    for preconditioner, M in ((None, None), ("jacobi", inverse), (inverse.tocsr(), inverse)):
        theirs = []
        expected, info = scipy.sparse.linalg.cg(A, b, tol=1e-8, maxiter=10000, M=M, callback=theirs.append)
        x, facts = solver(recipe, A, "cg", preconditioner).solve(b)
        assert info == 0 and facts.converged and residual(A, x, b) < 1.2e-8
        assert abs(facts.iterations - len(theirs)) <= 1 + len(theirs) // 50
        difference = x - expected  # in the norm that conjugate gradients minimise
        assert difference @ (A @ difference) < 1e-10 * (expected @ b)


def multigrid_of_pyamg(A, smoothed):
    pyamg = pytest.importorskip("pyamg")
    make = pyamg.smoothed_aggregation_solver if smoothed else pyamg.ruge_stuben_solver
    return make(A).aspreconditioner()


def multigrid_of_petsc(A, kind):
    """A preconditioner of PETSc as a function, as docs/python.md has it."""
    PETSc = pytest.importorskip("petsc4py.PETSc")
    matrix = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data))
    matrix.assemble()
    multigrid = PETSc.PC().create()
    multigrid.setType(kind)
    multigrid.setOperators(matrix)
    multigrid.setUp()
    r, z = matrix.createVecs()

    def precondition(vector):
        r.setArray(vector)
        multigrid.apply(r, z)
        return z.getArray()

    return precondition


@pytest.mark.parametrize("make, kind", [(multigrid_of_pyamg, True), (multigrid_of_pyamg, False), (multigrid_of_petsc, "gamg"), (multigrid_of_petsc, "hypre")])
def test_algebraic_multigrid_of_other_packages(solver, vector, make, kind):
    """Its iterations grow little with the size of a grid, those of the method alone like its side."""
    iterations = {}
    for n in (30, 90):
        A = laplace(n)
        b = vector(n * n)
        plain = solver("rcm_sell", A).solve(b)
        x, facts = solver("rcm_sell", A, "cg", make(A, kind)).solve(b)
        assert facts.converged and residual(A, x, b) < 1.2e-8
        np.testing.assert_allclose(x, plain.x, rtol=1e-4, atol=1e-5 * np.abs(plain.x).max())
        iterations[n] = facts.iterations, plain.facts.iterations
    assert iterations[90][0] < 1.7 * iterations[30][0] and 2.4 * iterations[30][1] < iterations[90][1], iterations


def test_several_right_sides(solver, vector):
    A = shifted()
    B = np.stack([vector(400), 3 * np.ones(400), np.zeros(400)], axis=1)
    for array in (B, np.asfortranarray(B)):
        one = solver(RCM_SELL, A, preconditioner="jacobi")
        X, facts = one.solve(array)
        assert X.shape == B.shape and [each.converged for each in facts] == [True] * 3 and facts[2].iterations == 0
        np.testing.assert_array_equal(X[:, 1], one.solve(B[:, 1]).x)
        np.testing.assert_allclose(A @ X, B, atol=1e-6)
        again, facts = one.solve(array, x0=X)
        assert [each.iterations for each in facts] == [0] * 3
    assert solver(RCM_SELL, A).solve(np.empty((400, 0))).x.shape == (400, 0)


@pytest.mark.parametrize("recipe", ["csr", RCM_SELL, "hyb", "csc"])
@pytest.mark.parametrize("preconditioner", [None, "jacobi"])
def test_several_right_sides_advance_together(solver, recipe, preconditioner):
    A = shifted()
    B = np.random.default_rng(5).uniform(-1, 1, (400, 70))
    one = solver(recipe, A, preconditioner=preconditioner, tolerance=1e-10)
    X, facts = one.solve(B)
    assert [each.together for each in facts] == [64] * 64 + [6] * 6
    assert all(each.converged and each.residual < 1.2e-10 for each in facts)
    np.testing.assert_allclose(X, scipy.sparse.linalg.spsolve(A.tocsc(), B), rtol=1e-6, atol=1e-9)
    for column in (0, 63, 69):
        x, alone = one.solve(B[:, column])
        assert alone.together == 1 and abs(alone.iterations - facts[column].iterations) <= 1
        np.testing.assert_allclose(X[:, column], x, rtol=1e-6, atol=1e-9)
    one.set_values(2 * A)
    np.testing.assert_allclose(2 * one.solve(B).x, X, rtol=1e-6, atol=1e-9)


def test_what_cannot_advance_together_is_solved_one_after_another(solver):
    A = shifted()
    B = np.random.default_rng(5).uniform(-1, 1, (400, 3))
    for arguments in ({"method": "bicgstab"}, {"preconditioner": lambda r: r / 4}):
        X, facts = solver(RCM_SELL, A, **arguments).solve(B)
        assert [(each.converged, each.together) for each in facts] == [(True, 1)] * 3
        np.testing.assert_allclose(A @ X, B, atol=1e-6)
    calls = []
    X, facts = solver(RCM_SELL, A).solve(B, callback=calls.append)
    assert len(calls) == sum(each.iterations for each in facts) and facts[0].together == 1
    B[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"b\[7, 2\] is nan; expected finite numbers"):
        solver(RCM_SELL, A).solve(B)


def test_a_float32_operator_takes_float64(solver, host, vector):
    A = shifted(dtype=np.float32)
    b = vector(400)
    x, facts = solver(RCM_SELL, A, tolerance=1e-5).solve(b)
    assert x.dtype == np.float64 and facts.converged and residual(A, x, b) < 2e-5
    assert solver(RCM_SELL, A, tolerance=1e-5).solve(b.astype(np.float32)).x.dtype == np.float32
    op = host(RCM_SELL, A)
    assert (op @ b).dtype == (op @ b[:, None]).dtype == op.matvec(b).dtype == op.multiply(b).dtype == np.float64
    np.testing.assert_array_equal(op @ b, op @ b.astype(np.float32))
    x, info = scipy.sparse.linalg.cg(op, b, tol=1e-4)
    assert info == 0 and residual(A, x, b) < 2e-4
    b[7] = 1e300
    with pytest.raises(ValueError, match="x: found numbers beyond the range of float32"):
        op @ b
    with pytest.raises(ValueError, match="b: found numbers beyond the range of float32"):
        solver(RCM_SELL, A).solve(b)


def test_the_first_x_saves_iterations_and_stays(solver, vector):
    A = shifted()
    b = vector(400)
    for method in ("cg", "bicgstab"):
        for preconditioner in (None, "jacobi", lambda r: 0.1 * r):
            one = solver(RCM_SELL, A, method, preconditioner)
            x, facts = one.solve(b)
            near = x + 1e-6 * vector(400)
            before = near.copy()
            y, fewer = one.solve(b, x0=near)
            assert fewer.converged and 0 < fewer.iterations < 0.7 * facts.iterations
            np.testing.assert_array_equal(near, before)
            assert residual(A, y, b) < 1.2e-8
            assert one.solve(b, x).facts.iterations == 0
            np.testing.assert_array_equal(one.solve(0 * b, near).x, 0 * b)
            np.testing.assert_array_equal(one.solve(b).x, x)  # what was before does not matter


def test_the_callback_gets_every_x(solver, vector):
    A = shifted()
    b = vector(400)
    for preconditioner in (None, lambda r: 0.1 * r):
        seen = []
        one = solver(RCM_SELL, A, preconditioner=preconditioner)
        x, facts = one.solve(b, callback=seen.append)
        assert len(seen) == facts.iterations
        np.testing.assert_array_equal(seen[-1], x)
        residuals = [residual(A, each, b) for each in seen]
        assert residuals[-1] < 1.2e-8 < residuals[-2] and residuals[0] < 1
        np.testing.assert_array_equal(one.solve(b).x, x)


def test_exceptions_of_the_caller_end_a_solve_and_pass_unchanged(solver, vector):
    A = shifted()
    b = vector(400)

    class Own(Exception):
        pass

    error = Own("enough")
    count = [0]

    def raises(_):
        count[0] += 1
        if count[0] == 3:
            raise error
        return _

    for one, callback in ((solver(RCM_SELL, A), raises), (solver(RCM_SELL, A, "cg", raises), None), (solver(RCM_SELL, A, "bicgstab", raises), None)):
        count[0] = 0
        with pytest.raises(Own) as caught:
            one.solve(b, callback=callback)
        assert caught.value is error
        assert one.solve(b).facts.converged
    with pytest.raises(ValueError, match=r"preconditioner: found a result of shape \(3,\), expected \(400,\)"):
        solver(RCM_SELL, A, "cg", lambda r: r[:3]).solve(b)
    with pytest.raises(TypeError, match="the result of the preconditioner: found values of type complex"):
        solver(RCM_SELL, A, "cg", lambda r: r + 1j).solve(b)


def test_a_function_may_use_operators_and_solvers(solver, host, vector):
    """Such as a preconditioner that is another solver: here a few iterations in float32."""
    A = shifted()
    b = vector(400)
    op = host(RCM_SELL, scipy.sparse.diags(1 / A.diagonal()).tocsr())
    inner = solver(RCM_SELL, A.astype(np.float32), "cg", tolerance=1e-5)
    seen = []
    one = solver(RCM_SELL, A, "cg", lambda r: inner.solve(r).x)
    x, facts = one.solve(b, callback=lambda x: seen.append(op @ x))
    assert facts.converged and facts.iterations <= 4 and len(seen) == facts.iterations
    np.testing.assert_allclose(seen[-1], x / A.diagonal(), rtol=1e-14)


def test_new_values_are_those_of_later_solves_and_of_jacobi(solver, vector):
    A = shifted()
    b = vector(400)
    other = A.copy()
    other.setdiag(other.diagonal() * np.linspace(1, 1e4, 400))
    for matrix in (A, A.tocsc()):
        one = solver(RCM_SELL, matrix, preconditioner="jacobi")
        first = one.solve(b)
        one.set_values(other)
        x, facts = one.solve(b)
        fresh, expected = solver(RCM_SELL, other, preconditioner="jacobi").solve(b)
        assert residual(other, x, b) < 1.2e-8 and facts.iterations == expected.iterations  # not with the diagonal from before
        np.testing.assert_array_equal(x, fresh)
        np.testing.assert_allclose(one.matrix @ x, other @ x, rtol=1e-9, atol=1e-9)
        one.set_values(A)
        np.testing.assert_array_equal(one.solve(b).x, first.x)


def test_engines(solver, vector):
    A = shifted()
    b = vector(A.shape[0])
    assert solver(RCM_SELL, A).solve(b).facts.engine == "graph"
    with pytest.raises(wb.MatrixError, match="the engine persistent: a persistent kernel needs a GPU; this device is "):
        solver(RCM_SELL, A, engine="persistent")
    with pytest.raises(ValueError, match="engine: found 'quick', expected one of 'auto', 'graph', 'persistent'"):
        solver(RCM_SELL, A, engine="quick")
    with pytest.raises(ValueError, match="engine: found 'persistent', which has no preconditioner of the caller"):
        solver(RCM_SELL, A, preconditioner=lambda r: r, engine="persistent")
    with pytest.raises(ValueError, match="expected_iterations: expected 0 or a positive number"):
        solver(RCM_SELL, A, expected_iterations=-1)
    assert copy.copy(solver(RCM_SELL, A, engine="graph", expected_iterations=5))._options["expected_iterations"] == 5


def test_ends_and_errors(solver, vector):
    A = shifted()
    b = vector(400)
    facts = solver(RCM_SELL, A, iterations=3).solve(b).facts
    assert (facts.end, facts.iterations, facts.converged) == ("iteration_limit", 3, False)
    assert solver(RCM_SELL, -A).solve(b).facts.end == "indefinite"
    assert solver(RCM_SELL, A, "cg", lambda r: -r).solve(b).facts.end == "indefinite"
    assert solver(RCM_SELL, A, "cg", lambda r: r * np.nan).solve(b).facts.end in ("indefinite", "breakdown")
    with pytest.raises(ValueError, match="method: found 'gmres', expected one of 'cg', 'bicgstab'"):
        solver(RCM_SELL, A, "gmres")
    with pytest.raises(ValueError, match="preconditioner: found 'ilu', expected None, 'jacobi', a LinearOperator"):
        solver(RCM_SELL, A, "cg", "ilu")
    with pytest.raises(TypeError, match="preconditioner: found csr_matrix, expected a LinearOperator, a matrix of"):
        solver(RCM_SELL, A, "cg", A[:3])
    with pytest.raises(TypeError, match="found the keyword tolerence"):
        solver(RCM_SELL, A, tolerence=1)
    with pytest.raises(wb.MatrixError, match="a solver needs as many of each"):
        solver(RCM_SELL, A[:3])
    one = solver(RCM_SELL, A)
    with pytest.raises(ValueError, match=r"b: found shape \(3,\), expected \(400,\) or \(400, k\)"):
        one.solve(b[:3])
    with pytest.raises(ValueError, match=r"x0: found shape \(3,\), expected \(400,\)"):
        one.solve(b, b[:3])
    with pytest.raises(TypeError, match="b: found values of type complex"):
        one.solve(b + 1j)
    with pytest.raises(ValueError, match="out: expected None"):
        one.solve(b, out=b.copy())
    b[7] = np.nan
    with pytest.raises(ValueError, match=r"^b\[7\] is nan; expected finite numbers$"):
        one.solve(b)
    with pytest.raises(ValueError, match=r"^x\[7\] is nan; expected finite numbers$"):
        one.solve(np.ones(400), x0=b)
    with pytest.raises(ValueError, match="tolerance: expected a positive number"):
        solver(RCM_SELL, A, tolerance=0)


def test_a_solver_can_be_pickled_and_copied(solver, vector):
    A = shifted()
    b = vector(400)
    one = solver(RCM_SELL, A, "bicgstab", "jacobi", tolerance=1e-6)
    x, facts = one.solve(b)
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        np.testing.assert_array_equal(other.solve(b).x, x)
        assert repr(other) == repr(one) and repr(one).startswith("<Solver by bicgstab with <400x400 Operator")
    with pytest.raises(TypeError, match="its matrix has changed"):
        one.set_values(A.data)
        copy.copy(one)


def test_new_values_cost_less_than_another_solver(solver):
    """Another solver finds an order and builds its layout again, which takes 12 to 20 times as long."""
    A = shifted(300)
    one = solver(RCM_SELL, A, preconditioner="jacobi")
    values = A.data.copy()

    def seconds(work):
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    times = [(seconds(lambda: one.set_values(values)), seconds(lambda: solver(RCM_SELL, A, preconditioner="jacobi"))) for _ in range(6)]
    of_values, of_solver = (min(column) for column in zip(*times))
    assert of_values < of_solver / 4


def test_ctrl_c_ends_a_solve(solver):
    A = laplace(300)
    one = solver("[layout]\nuse = 'csr'\n", A, tolerance=1e-140, iterations=10**6, patience=10**6)

    def handler(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        begin = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            one.solve(np.ones(A.shape[0]))
        assert time.perf_counter() - begin < 3
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
