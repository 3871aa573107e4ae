"""Recipes as files, TOML texts or dicts, and stages that are Python functions."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import itertools
import json
import os
import pathlib
import socket
import sys
import tempfile
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Union

import numpy as np
import scipy.sparse

from . import _core

RecipeLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]
STAGE_CLIENT = "_stage_client.py"
GIVES = ("order", "partition", "shares")


def toml_value(value: Any) -> str:
    """A value as TOML writes it; TypeError if it has none."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, (list, tuple, np.ndarray, range)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise TypeError(f"found {value!r}, expected a text, number, truth value, list or dict")


def toml_text(recipe: Mapping[str, Any]) -> str:
    """The recipe with these tables: {"stage": [{"use": "row_sort"}], "layout": {"use": "sell"}}."""
    lines = []
    for name, tables in recipe.items():
        is_list = isinstance(tables, (list, tuple))
        for table in tables if is_list else [tables]:
            lines.append(f"[[{name}]]" if is_list else f"[{name}]")
            if isinstance(table, PythonStage):
                table = {"use": table}
            if isinstance(table.get("use"), PythonStage):
                table = {**table["use"].settings(), **{key: value for key, value in table.items() if key != "use"}}
            lines += [f"{key} = {toml_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def change_texts(changes: Mapping[str, Any]) -> list[str]:
    """{"layout__slice_height": 64}: ["layout.slice_height=64"], as --set takes it."""
    return [f"{name.replace('__', '.')}={toml_value(value)}" for name, value in changes.items()]


def text_and_file(recipe: RecipeLike) -> tuple[str | None, str]:
    """The text of a recipe (None: it is in the file) and the file that messages name."""
    if isinstance(recipe, Mapping):
        return toml_text(recipe), "recipe.toml"
    if isinstance(recipe, str) and "\n" in recipe:
        return recipe, "recipe.toml"
    if not isinstance(recipe, (str, os.PathLike)):
        raise TypeError(f"recipe: found {type(recipe).__name__}, expected a file, a name, a TOML text or a dict")
    return None, installed(os.fspath(recipe))


def shared_folder() -> pathlib.Path | None:
    """The folder with recipes/: that of the prefix, or of the sources of a module in a build tree. None if there is none."""
    prefix = [folder / "share/spmv-workbench" for folder in tuple(pathlib.Path(__file__).parents)[4:5]]
    sources = tuple(pathlib.Path(__file__).resolve().parents)[3:4]
    return next((folder for folder in (*prefix, *sources) if (folder / "recipes").is_dir()), None)


def recipes() -> list[str]:
    """The names of the recipes that come with the module: wb.Operator("ehyb", A)."""
    folder = shared_folder()
    return [] if folder is None else sorted(file.stem for file in (folder / "recipes").glob("*.toml"))


def installed(file: str) -> str:
    """The file, or if there is none the one that comes with the module: of this path, such as recipes/ehyb.toml, or this name."""
    folder = shared_folder()
    if folder is None or os.path.isfile(file):
        return file
    if (folder / file).is_file():
        return str(folder / file)
    if os.path.basename(file) != file or file.endswith(".toml"):
        return file
    if (folder / "recipes" / f"{file}.toml").is_file():
        return str(folder / "recipes" / f"{file}.toml")
    near = difflib.get_close_matches(file, recipes(), 1)
    raise ValueError(f"recipe: found {file!r}, expected a file or a name of wb.recipes()" + "".join(f", such as {name!r}" for name in near))


@contextlib.contextmanager
def recipe_file(recipe: RecipeLike, name: str = "recipe") -> Iterator[str]:
    """A file with the recipe, for the program. `name`: of a recipe without a file."""
    text, file = text_and_file(recipe)
    if text is None:
        yield file
        return
    try:
        text = _core.Recipe.from_text(text, [], f"{name}.toml").resolved()  # with absolute paths
    except _core.RecipeError:
        pass  # a sweep, or an error that the program reports
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, f"{name}.toml")
        path.write_text(text, encoding="utf-8")
        yield str(path)


class PythonStage:
    """A stage that is a Python function; see `stage`."""

    _all: weakref.WeakValueDictionary[int, PythonStage] = weakref.WeakValueDictionary()
    _numbers = itertools.count()

    def __init__(self, function: Callable[..., Any], gives: str, keys: dict[str, Any]):
        self.function, self.gives, self.keys = function, gives, keys
        self.error: BaseException | None = None
        self._number = next(self._numbers)
        self._all[self._number] = self
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **parameters: Any) -> Any:
        return self.function(*arguments, **parameters)

    def settings(self) -> dict[str, Any]:
        """The keys of the stage in a recipe."""
        client = str(pathlib.Path(__file__).with_name(STAGE_CLIENT))
        command = [sys.executable, "-I", "-S", client, _server(), str(self._number)]
        return {"id": self.function.__name__, "program": command, "gives": self.gives, **self.keys}

    def __str__(self) -> str:
        """The lines of the stage in a recipe, without [[stage]]."""
        return "\n".join(f"{key} = {toml_value(value)}" for key, value in self.settings().items())

    def run(self, folder: pathlib.Path) -> str:
        """Runs the function on the matrix in the folder of a stage. Returns the error; empty if there is none."""
        try:
            facts = json.loads((folder / "parameters.json").read_text())
            result = self.function(scipy.sparse.load_npz(folder / "matrix.npz"), **facts["parameters"])
            result, notes = result if isinstance(result, tuple) else (result, {})
            result = np.asarray(result)
            if result.ndim != 1 or result.dtype.kind not in "iu":
                raise TypeError(f"found an array of type {result.dtype} and shape {result.shape}, expected a list of integers")
            np.save(folder / f"{self.gives}.npy", result.astype(np.int64))
            (folder / "notes.json").write_text(json.dumps({str(key): str(note) for key, note in notes.items()}))
        except BaseException as error:  # also of sys.exit in the function
            self.error = error
            last = traceback.extract_tb(error.__traceback__)[-1]
            return f"{self.function.__name__}: {type(error).__name__}: {error} ({last.filename}:{last.lineno})".replace("\n", " ")
        return ""


def stage(gives: str = "order", **keys: Any) -> Callable[[Callable[..., Any]], PythonStage]:
    """Makes a Python function a stage of recipes that are given as dict or text.

        @wb.stage(apply="rows")
        def by_length(A, descending=True):
            order = np.argsort(np.diff(A.indptr), kind="stable")
            return order[::-1] if descending else order

        wb.Operator({"stage": [{"use": by_length, "descending": False}], "layout": {"use": "sell"}}, A)
        wb.run(f"[[stage]]\\n{by_length}\\n[layout]\\nuse = 'sell'\\n", A)

    gives   "order": entry i is the old number of new row i; "partition": the part of each row; "shares": the label of each nonzero
    keys    of the stage, such as apply, names, within, limit_seconds (docs/recipes.md, program and source), and defaults of parameters

    The function gets the matrix in its current order, in CSR, and the stage's parameters by name. It returns a list of integers, or
    (list, notes) with a dict of texts for the report. It runs in this process, in another thread, and must give the same result for
    the same input. An exception ends the recipe; it is the __cause__ of the Error that is raised.
    """
    if gives not in GIVES:
        raise ValueError(f"gives: found {gives!r}, expected one of {', '.join(GIVES)}")

    def decorate(function: Callable[..., Any]) -> PythonStage:
        if not inspect.isfunction(function):
            raise TypeError(f"found {function!r}, expected a function")
        return PythonStage(function, gives, keys)

    return decorate


@contextlib.contextmanager
def errors_of_stages() -> Iterator[None]:
    """Makes the exception of a stage in Python the cause of the error that it leads to."""
    for each in list(PythonStage._all.values()):
        each.error = None
    try:
        yield
    except _core.Error as error:
        failed = [each.error for each in list(PythonStage._all.values()) if each.error is not None]
        if not failed:
            raise
        raise error from failed[0]


_started: list[tuple[int, str]] = []  # the process and address of the server
_lock = threading.Lock()


def _server() -> str:
    """The address at which stages in Python are run; starts the thread that runs them."""
    with _lock:
        if not _started or _started[-1][0] != os.getpid():  # a forked process has no thread
            folder = tempfile.TemporaryDirectory(prefix="spmv-workbench-")
            address = os.path.join(folder.name, "stages")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(address)
            listener.listen()
            threading.Thread(target=_serve, args=(listener, folder), daemon=True).start()
            _started.append((os.getpid(), address))
        return _started[-1][1]


def _serve(listener: socket.socket, folder: Any) -> None:
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            with contextlib.suppress(OSError, ValueError):  # of a client that was ended
                request = json.loads(stream.readline())
                known = PythonStage._all.get(request["stage"])
                stream.write(known.run(pathlib.Path(request["folder"])) if known else "this stage no longer exists")
