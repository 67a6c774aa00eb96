"""Every random number comes from a generator that was passed in, never from global state."""

import hashlib
from typing import TypeAlias

import numpy as np

Rng: TypeAlias = np.random.Generator | np.random.SeedSequence | int | None


def as_generator(rng: Rng) -> np.random.Generator:
    """A generator from a seed, a seed sequence or a generator (returned as it is)."""
    return np.random.default_rng(rng)


def draw_seed(rng: np.random.Generator) -> int:
    """One 63-bit number that seeds the random numbers of a kernel."""
    return int(rng.integers(0, 2**63 - 1, dtype=np.int64))


def named_seed(seed: int, *purpose: str | int) -> np.random.SeedSequence:
    """A seed for one purpose that does not depend on what else is drawn, or in which order."""
    words = [
        part if isinstance(part, int) else int.from_bytes(hashlib.sha256(part.encode()).digest()[:8])
        for part in purpose
    ]
    return np.random.SeedSequence([seed, *words])
