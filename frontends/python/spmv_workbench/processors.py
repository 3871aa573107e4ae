"""The processors of this process before OpenMP starts, which binds the thread that loads it to one if OMP_PROC_BIND asks for it."""

import contextlib
import os
from collections.abc import Iterator

_ALL = os.sched_getaffinity(0)


@contextlib.contextmanager
def all_processors() -> Iterator[None]:
    """A program that this thread starts meanwhile may use all of them."""
    bound = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _ALL)
    try:
        yield
    finally:
        os.sched_setaffinity(0, bound)
