"""Load trained policies by name."""

from functools import lru_cache
from pathlib import Path

from claim.learning.naming import find_shipped, is_file
from claim.learning.policy import LearnedPolicy


def learned_policy(name: str, family: str | None = None, budget: int = 5) -> LearnedPolicy:
    """The policy of a name for a network of a family (if known) and a budget, or from a file."""
    return _load(Path(name) if is_file(name) else find_shipped(name, family, budget).stem)


@lru_cache(maxsize=32)
def _load(path: Path) -> LearnedPolicy:
    return LearnedPolicy.load(path)
