"""The SpMV workbench in Python: y = A x in the storage formats that recipes describe, for matrices of scipy.

    import spmv_workbench as wb

    op = wb.Operator("ehyb", A)                     # a scipy.sparse.linalg.LinearOperator
    y = op @ x
    x, facts = wb.Solver("ehyb", A, preconditioner="jacobi").solve(b)
    wb.stages("ehyb", A)                            # the matrix after each stage
    wb.run("ehyb", A).to_frame()                    # every kernel, verified and timed

Operators run in this process, through the library. Everything else starts the program `workbench`, which is found beside the module,
or where the environment variable WORKBENCH names it. Errors of both are Error and its subclasses: RecipeError, MatrixError,
MachineError, WrongResult.
"""

from . import processors as processors  # before OpenMP, which comes with _core
from ._core import __version__ as __version__
from ._core import Error, MachineError, MatrixError, RecipeError, WrongResult
from .measure import Report, bench, choose, compare, read_results, run, solve
from .operator import Facts, InRecipeOrder, Operator
from .recipe import recipes, stage
from .solver import Solution, SolveFacts, Solver
from .staged import Stage, draw, reorder, spy, stages

__all__ = [
    "Error", "Facts", "InRecipeOrder", "MachineError", "MatrixError", "Operator", "RecipeError", "Report", "Solution",
    "SolveFacts", "Solver", "Stage", "WrongResult",
    "bench", "choose", "compare", "draw", "read_results", "recipes", "reorder", "run", "solve", "spy", "stage", "stages",
]  # fmt: skip
