"""Share a range of worlds among threads; the kernels release the interpreter lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")
WORTH_THREADS = 4e-3  # seconds; starting threads costs up to one of these milliseconds
TRIAL = 32  # one part in this many is done first to see how long the rest would take


def thread_count() -> int:
    """How many threads to use: ``OMP_NUM_THREADS`` if set (as joblib does in its workers), else one per core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(given)) if given.isdigit() else os.cpu_count() or 1


def in_chunks(work: Callable[[int, int], T], total: int, seconds: float | None = None) -> list[T]:
    """``work(first, count)`` over consecutive chunks of ``0..total-1``, results in order.

    Work that is over soon stays on this thread. How long it takes is told by ``seconds`` or, where nobody can tell,
    measured on the first few; results must not depend on the chunks.
    """
    threads = min(thread_count(), total)
    if threads == 1 or (seconds is not None and seconds < WORTH_THREADS):
        return [work(0, total)]
    if seconds is not None:
        return _in_threads(work, 0, total, threads)
    tried = -(-total // TRIAL)
    began = perf_counter()
    results = [work(0, tried)]
    remaining = (perf_counter() - began) * (total - tried) / tried
    if remaining < WORTH_THREADS:
        return [*results, work(tried, total - tried)]
    return results + _in_threads(work, tried, total, threads)


def _in_threads(work: Callable[[int, int], T], first: int, last: int, threads: int) -> list[T]:
    bounds = [first + (last - first) * i // threads for i in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda i: work(bounds[i], bounds[i + 1] - bounds[i]), range(threads)))
