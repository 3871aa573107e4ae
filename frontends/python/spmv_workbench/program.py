"""Starts the program `workbench` on matrices of scipy."""

from __future__ import annotations

import contextlib
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import scipy.sparse

from . import _core
from .processors import all_processors
from .recipe import change_texts, errors_of_stages

ERRORS = {1: _core.WrongResult, 2: _core.RecipeError, 3: _core.MatrixError, 4: _core.MachineError}


def program() -> str:
    """The program: that of the environment variable WORKBENCH, of the same installation or build, or on PATH."""
    here = pathlib.Path(__file__).parents
    for place in (os.environ.get("WORKBENCH"), here[4] / "bin/workbench", here[2] / "workbench", shutil.which("workbench")):
        if place and os.access(place, os.X_OK):
            return str(place)
    raise _core.MachineError("the program workbench was not found; expected it on PATH, or its path in WORKBENCH")


def options_of(options: Mapping[str, Any]) -> list[str]:
    """{"samples": 5, "backend": ["kokkos"], "set": {"layout.slice_height": 64}} as options of the command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name in ("set", "sweep"):
            texts = change_texts(value) if name == "set" else [f"{what}={','.join(map(str, values))}" for what, values in value.items()]
            words += [f"{option}={text}" for text in texts]
        elif value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={','.join(map(str, value)) if isinstance(value, (list, tuple)) else value}")
    return words


@contextlib.contextmanager
def matrix_option(A: Any) -> Iterator[list[str]]:
    """The option that selects a matrix: of scipy, the name of a file, or None for that of the recipe."""
    if A is None or isinstance(A, (str, os.PathLike)):
        yield [] if A is None else [f"--matrix={os.fspath(A)}"]
        return
    from .matrix import checked_matrix

    csr = checked_matrix(A).tocsr()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "matrix.npz")
        scipy.sparse.save_npz(file, scipy.sparse.csr_matrix(csr), compressed=False)
        yield [f"--matrix={file}"]


def in_notebook() -> bool:
    return type(sys.stderr).__module__.startswith("ipykernel.")


@contextlib.contextmanager
def errors_of_program() -> Iterator[tuple[Any, list[str]]]:
    """Where the program prints messages and progress, and the texts that it has printed there in the end.

    A terminal is passed on, and the texts stay empty. A notebook gets a terminal of its own, whose lines appear below the cell.
    """
    texts: list[str] = []
    if sys.stderr is sys.__stderr__ and sys.stderr is not None and sys.stderr.isatty():
        yield None, texts
    elif in_notebook():
        ours, theirs = pty.openpty()

        def forward() -> None:
            with contextlib.suppress(OSError):  # when the program has ended
                while text := os.read(ours, 4096).decode(errors="replace"):
                    texts.append(text)
                    # A notebook overwrites a line after "\r", but does not know the code that clears the rest of it.
                    sys.stderr.write(text.replace("\r\n", "\n").replace("\r\033[K", "\r" + 80 * " " + "\r"))
                    sys.stderr.flush()

        thread = threading.Thread(target=forward, daemon=True)
        thread.start()
        try:
            yield theirs, texts
        finally:
            os.close(theirs)
            thread.join()
            os.close(ours)
    else:
        with tempfile.TemporaryFile() as file:
            yield file, texts
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))


def call(*arguments: str, accepted: tuple[int, ...] = (0,)) -> str:
    """Runs the program and returns what it prints. Raises Error with its message; Ctrl-C ends it as in a terminal."""
    with errors_of_stages():
        with errors_of_program() as (errors, texts):
            with all_processors():
                process = subprocess.Popen([program(), *arguments], stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL)
            try:
                output = process.communicate()[0].decode(errors="replace")
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise
        if process.returncode in accepted:
            return output
        lines = [line for line in "".join(texts).split("\r\033[K") if not line.endswith(" ...")]  # without those of progress
        message = "".join(lines).replace("\r", "").strip().removeprefix("error: ")
        message = message or f"workbench {arguments[0]} ended with {process.returncode}; its message is above"
        raise ERRORS.get(process.returncode, _core.Error)(message)
