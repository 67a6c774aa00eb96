"""Share a range of worlds among threads; the kernels release the interpreter lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def thread_count() -> int:
    """How many threads to use: ``OMP_NUM_THREADS`` if set (as joblib does in its workers), else one per core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(given)) if given.isdigit() else os.cpu_count() or 1


def in_chunks(work: Callable[[int, int], T], total: int, smallest: int = 256) -> list[T]:
    """``work(first, count)`` over consecutive chunks of ``0..total-1``, results in order."""
    threads = min(thread_count(), max(1, total // smallest))
    bounds = [total * i // threads for i in range(threads + 1)]
    if threads == 1:
        return [work(0, total)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda i: work(bounds[i], bounds[i + 1] - bounds[i]), range(threads)))
