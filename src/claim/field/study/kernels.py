"""Compiled loops of the comparison of names."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import kernel


@kernel
def close_rows(starts, buckets, most, least):
    """The pairs of rows that share at least the part ``least`` of the shorter row's buckets, in order.

    ``buckets[starts[row]:starts[row + 1]]`` are the different buckets of a row, numbers below ``most``. Returns the
    first row, the second row and the shared part of each pair.
    """
    n = len(starts) - 1
    ends = np.cumsum(np.bincount(buckets, minlength=most))  # of the rows of each bucket
    following = ends - np.bincount(buckets, minlength=most)  # the first row of each bucket that is still to come
    places = following.copy()
    rows = np.empty(len(buckets), dtype=np.int32)
    for row in range(n):
        for bucket in buckets[starts[row] : starts[row + 1]]:
            rows[places[bucket]] = row
            places[bucket] += 1
    ones, others, parts = [0], [0], [0.0]  # numba needs the types of the elements
    shared = np.zeros(n, dtype=np.int32)
    for row in range(n):
        shared[row + 1 :] = 0
        for bucket in buckets[starts[row] : starts[row + 1]]:
            following[bucket] += 1
            for other in rows[following[bucket] : ends[bucket]]:
                shared[other] += 1
        size = starts[row + 1] - starts[row]
        for other in range(row + 1, n):
            part = shared[other] / max(1, min(size, starts[other + 1] - starts[other]))
            if part >= least:
                ones.append(row)
                others.append(other)
                parts.append(part)
    return np.array(ones[1:]), np.array(others[1:]), np.array(parts[1:])
