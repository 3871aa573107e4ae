"""A x = b with the operator of a recipe."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Union

import numpy as np

from . import _core
from .gpu import array_on_gpu, is_on_gpu
from .matrix import rounded, type_of_result
from .operator import Operator
from .recipe import RecipeLike

METHODS = ("cg", "bicgstab")
ENGINES = ("auto", "graph", "persistent")
MOST_TOGETHER = 64  # right sides


@dataclasses.dataclass(frozen=True)
class SolveFacts:
    """How a solve ended."""

    end: str  #: "converged", "iteration_limit", "stagnated", "indefinite" or "breakdown" (docs/solve.md)
    iterations: int
    residual: float  #: |b - A x| / |b|, computed anew from x at the end; |b - A x| if b is 0
    seconds: float
    engine: str  #: "graph" or "persistent", the one that ran
    together: int = 1  #: right sides that were solved for in the same iterations; seconds is then of all of them

    @property
    def converged(self) -> bool:
        return self.end == "converged"


class Solution(NamedTuple):
    """x and the facts of a solve; for several right sides a list of them."""

    x: Any
    facts: Union[SolveFacts, list[SolveFacts]]


class MatrixOfSolver(Operator):
    """The operator of a solver, which is made with it."""

    def __init__(self, settings: tuple[Any, ...], recipe: RecipeLike, A: Any, **options: Any):
        self._settings = settings
        super().__init__(recipe, A, **options)

    def _make(self, on_gpu: bool, *arguments: Any) -> Any:
        made: Any = _core.SolverF32 if self.dtype == np.float32 else _core.SolverF64
        self.solver = (made.on_gpu if on_gpu else made)(*arguments, *self._settings)
        return self.solver.matrix()


class Solver:
    """Solves A x = b, again and again, with the operator of a recipe.

    recipe, A        as for Operator
    method           "cg" for symmetric positive definite matrices, "bicgstab" for all others
    preconditioner   None; "jacobi", the inverse of the diagonal; or M, an approximation of the inverse of A: a LinearOperator, a sparse
                     or dense matrix, or a function M(r) that returns a vector. Vectors are then on the host, also if the operator is on
                     a GPU. For cg, M must be symmetric positive definite
    tolerance        of |b - A x| / |b|, as computed from x, not from the recurrence
    iterations       at most so many
    patience         a solve ends if so many iterations do not reduce the residual by 1 %
    engine           on a GPU: "graph", the recipe's kernel and those of the vectors, one after another; "persistent", one kernel that keeps
                     the matrix on the chip; "auto", the one that takes less time in all, by a model. matrix.facts.notes say why. A
                     preconditioner of the caller has no persistent kernel
    expected_iterations  for "auto": of all solves with this matrix together; 0: `iterations`
    options          of Operator: device, kernel, verify, triangle, stream, and changes of the recipe

    Raises what Operator raises, and MatrixError if A is not square.
    """

    def __init__(self, recipe: RecipeLike, A: Any, method: str = "cg", preconditioner: Any = None, *, tolerance: float = 1e-8,
                 iterations: int = 10000, patience: int = 1000, engine: str = "auto", expected_iterations: int = 0, **options: Any):
        if method not in METHODS:
            raise ValueError(f"method: found {method!r}, expected one of {', '.join(map(repr, METHODS))}")
        if isinstance(preconditioner, str) and preconditioner != "jacobi":
            raise ValueError(f"preconditioner: found {preconditioner!r}, expected None, 'jacobi', a LinearOperator, a matrix or a function")
        if engine not in ENGINES:
            raise ValueError(f"engine: found {engine!r}, expected one of {', '.join(map(repr, ENGINES))}")
        is_jacobi = isinstance(preconditioner, str)
        if preconditioner is not None and not is_jacobi:
            if engine == "persistent":
                raise ValueError("engine: found 'persistent', which has no preconditioner of the caller; expected 'auto' or 'graph'")
            engine = "graph"
        self._options = {"method": method, "preconditioner": preconditioner, "tolerance": tolerance, "iterations": iterations, "patience": patience,
                         "engine": engine, "expected_iterations": expected_iterations}  # fmt: skip
        self._matrix = MatrixOfSolver((method, is_jacobi, tolerance, iterations, patience, engine, expected_iterations), recipe, A, **options)
        self._solver = self._matrix.solver
        if preconditioner is not None and not is_jacobi:
            self._solver.precondition_by(self._function_of(preconditioner))

    @property
    def matrix(self) -> Operator:
        """The operator, for products. Its set_values replaces the values of A for later solves, and Jacobi's diagonal with them; a
        preconditioner that is the caller's stays as it is."""
        return self._matrix

    def set_values(self, values: Any) -> None:
        """Like Operator.set_values."""
        self._matrix.set_values(values)

    def _function_of(self, M: Any) -> Callable[[np.ndarray, np.ndarray], None]:
        if not callable(M):
            if getattr(M, "shape", None) != self._matrix.shape:
                raise TypeError(f"preconditioner: found {type(M).__name__}, expected a LinearOperator, a matrix of {self._matrix.shape} or a function")
            return self._function_of(lambda r: M @ r)
        size = self._matrix.shape[0]

        def precondition(r: np.ndarray, z: np.ndarray) -> None:
            result = M(r)
            if np.shape(result) not in ((size,), (size, 1)):
                raise ValueError(f"preconditioner: found a result of shape {np.shape(result)}, expected ({size},)")
            z[:] = rounded(np.asarray(result), "the result of the preconditioner", z.dtype).reshape(-1)

        return precondition

    def solve(self, b: Any, x0: Any = None, callback: Callable[[np.ndarray], Any] | None = None, *, out: Any = None) -> Solution:
        """Returns Solution(x, facts): x, facts = solver.solve(b). Does not raise if the solve does not converge: look at facts.end.

        b         [rows], or [rows, k] for k right sides; x has this shape. Conjugate gradients solve for up to 64 of them together, with
                  one product with all directions an iteration, unless the engine is "persistent", the preconditioner the caller's, or
                  there is a callback: these, and bicgstab, solve for one after another. float64 is rounded for an operator of float32,
                  and x is then returned in float64
        x0        the vector to begin with, of b's shape, which is not changed; default: 0
        callback  is called with a copy of x after each iteration. An exception of it ends the solve
        out       for b on the GPU: the array for x, also there, of b's shape, with up to 64 right sides in C order and then without a
                  callback. x0 may be `out` itself

        Ctrl-C ends a solve.
        """
        if is_on_gpu(b) or is_on_gpu(out):
            return self._solve_on_gpu(b, x0, callback, out)
        if out is not None:
            raise ValueError("out: expected None, unless b and out are on the GPU")
        b = np.asanyarray(b)
        rows = self._matrix.shape[0]
        if b.ndim not in (1, 2) or b.shape[0] != rows:
            raise ValueError(f"b: found shape {b.shape}, expected ({rows},) or ({rows}, k)")
        if x0 is not None and np.shape(x0) != b.shape:
            raise ValueError(f"x0: found shape {np.shape(x0)}, expected {b.shape}, as b has")
        if b.ndim == 1:
            return Solution(*self._solve_one(b, x0, callback))
        x = np.empty(b.shape, type_of_result(b, self._matrix.dtype))
        facts = []
        at_once = 1 if callback else MOST_TOGETHER
        for first in range(0, b.shape[1], at_once):
            columns = slice(first, first + at_once)
            begin = None if x0 is None else np.asanyarray(x0)[:, columns]
            if callback:
                x[:, first], one = self._solve_one(b[:, first], None if begin is None else begin[:, 0], callback)
                facts.append(one)
            else:
                x[:, columns], more = self._solve_several(b[:, columns], begin)
                facts += more
        return Solution(x, facts)

    def _solve_several(self, b: np.ndarray, x0: Any) -> tuple[np.ndarray, list[SolveFacts]]:
        dtype = self._matrix.dtype
        x = np.zeros(b.shape, dtype) if x0 is None else np.array(rounded(x0, "x0", dtype), order="C")
        facts = self._solver.solve_several(np.ascontiguousarray(rounded(b, "b", dtype)), x, b.shape[1], x0 is not None)
        return x, [SolveFacts(**one) for one in facts]

    def _solve_one(self, b: np.ndarray, x0: Any, callback: Any) -> tuple[np.ndarray, SolveFacts]:
        dtype = self._matrix.dtype
        x = np.zeros(b.shape, dtype) if x0 is None else rounded(np.asanyarray(x0), "x0", dtype).copy()
        facts = self._solver.solve(rounded(b, "b", dtype), x, x0 is not None, callback)
        return x.astype(type_of_result(b, dtype), copy=False), SolveFacts(**facts)

    def _solve_on_gpu(self, b: Any, x0: Any, callback: Any, out: Any) -> Solution:
        matrix = self._matrix
        if x0 is not None and x0 is not out:
            raise ValueError("x0: expected None or out, which then has the vector to begin with, as b is on the GPU")
        if not matrix._on_gpu:
            raise ValueError("b: found an array on the GPU, expected one on the host, where this solver's operator runs")
        shape = tuple(b.__cuda_array_interface__["shape"]) if is_on_gpu(b) else ()
        size = (matrix.shape[0], shape[1]) if len(shape) == 2 else matrix.shape[0]
        there = [array_on_gpu(array, name, size, matrix.dtype, matrix._stream, written=name == "out") for name, array in (("b", b), ("out", out))]
        if not isinstance(size, tuple):
            return Solution(out, SolveFacts(**self._solver.solve_on_gpu(*there, x0 is not None, callback)))
        if callback or not 1 <= size[1] <= MOST_TOGETHER:
            raise ValueError(f"b: found shape {shape} on the GPU, expected ({size[0]},){'' if callback else f', or ({size[0]}, k) with k of 1 to {MOST_TOGETHER}'}")
        return Solution(out, [SolveFacts(**one) for one in self._solver.solve_several_on_gpu(*there, size[1], x0 is not None)])

    def __reduce__(self) -> Any:
        """Like that of an operator."""
        return made_again, (*self._matrix.__reduce__()[1], self._options)

    def __repr__(self) -> str:
        return f"<Solver by {self._options['method']} with {self._matrix!r}>"


def made_again(recipe: str, A: Any, options: dict[str, Any], settings: dict[str, Any]) -> Solver:
    """The solver that a pickle or a copy describes."""
    return Solver(recipe, A, **settings, **options)
