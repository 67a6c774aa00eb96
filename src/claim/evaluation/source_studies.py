"""Studies on a source, one for each policy: what they discovered, and whom a selector would recruit.

There is no hidden network to judge leaders on. So nothing here says how many people leaders reach; foresight says what
is to be expected from what was seen.
"""

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from claim.discovery import draws_own_start, surveys
from claim.discovery.simulation import SourceUnit
from claim.discovery.source import LONGEST, ContactSource, FolderSource, NetworkSource, RecordedSource, SourceStudy
from claim.errors import InputError, check_whole
from claim.io.files import locked, make_folder
from claim.networks import load
from claim.networks.network import label_list
from claim.randomness import named_seed
from claim.registry import (
    PolicyLike,
    SelectorLike,
    check_policy_entry,
    find_policy,
    find_selector,
    is_marked,
    is_own_class,
    name_of,
    own_class,
)
from claim.selection.foresight.selector import Expected


@dataclass(frozen=True)
class SourceResult:
    """One study on a source.

    ``cut_short`` counts the people not all of whose pages were read; ``expected`` is the reach of the leaders that
    foresight expects, with the ends of its 90 % range: an estimate from what was seen, and no measurement.
    """

    policy: str
    surveyed: int
    refused: int
    pages: int
    cut_short: int
    people: int
    ties: int
    leaders: list[str]
    expected: Expected | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def find_source(given: str) -> ContactSource:
    """A folder of CSV files, a class of your own as ``package.module:Class``, or a network by its name or file."""
    if is_own_class(given):
        source: Any = own_class(given)
        source = source() if isinstance(source, type) else source
        if not callable(getattr(source, "neighbours", None)) or not isinstance(getattr(source, "name", None), str):
            raise InputError(f"{given}: a source has a name and neighbours(person, cursor)")
        return source  # type: ignore[no-any-return]
    return FolderSource(Path(given)) if Path(given).is_dir() else NetworkSource(load(given))


def study_source(
    source: ContactSource,
    start: Iterable[str],
    policies: Sequence[PolicyLike] = ("scout",),
    selector: SelectorLike = "foresight",
    seed: int = 10,
    *,
    budget: int = 5,
    unit: SourceUnit = "attempts",
    per_round: int = 1,
    leaders: int = 10,
    p: float = 0.1,
    pages: Path | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> list[SourceResult]:
    """One closed study for each policy, from the same start people.

    ``unit`` says what the budget counts: ``attempts`` or ``answers`` of people after the start people, or ``pages`` of
    each study, those of the start people included. With a folder ``pages`` every page is kept there: the same call
    after an interruption reads them from it and comes to the same result.
    """
    check_whole(1, budget=budget, per_round=per_round, leaders=leaders)
    if unit not in get_args(SourceUnit):
        raise InputError(f"unit must be {', '.join(get_args(SourceUnit))}, got {unit!r}")
    people = [str(person) for person in label_list(start)]
    if not all(0 < len(person) <= LONGEST for person in people):
        raise InputError(f"start people are texts of 1 to {LONGEST} characters")
    if not people:
        raise InputError("a study on a source needs start people")
    for policy in policies:
        check_policy_entry(policy, "closed")
        if is_marked(policy) or is_marked(policy, draws_own_start):
            raise InputError(f"{name_of(policy)} needs a network that is known to the evaluation")
    chooser = find_selector(selector, p=p)
    if pages is not None:
        make_folder(pages)
        with locked(pages, "another process uses these pages"):
            return study_source(
                RecordedSource(source, pages), people, policies, selector, seed, budget=budget, unit=unit,
                per_round=per_round, leaders=leaders, p=p, progress=progress,
            )  # fmt: skip
    found = []
    for i, policy in enumerate(policies):
        if progress is not None:
            progress(i * budget, len(policies) * budget)
        fresh = copy.deepcopy(find_policy(policy, budget=budget, p=p))
        answers, choices, chosen = (
            np.random.default_rng(named_seed(seed, *purpose))
            for purpose in (("answers", 0), ("policy", getattr(fresh, "stream", name_of(policy)), 0), ("selector", 0))
        )
        study = SourceStudy(source, people, answers, most_pages=budget if unit == "pages" else None)
        for used in surveys(study, fresh, budget, choices, per_round, unit):
            if progress is not None:
                progress(i * budget + used, len(policies) * budget)
        seen = study.discovered
        picked = chooser.select(seen, min(leaders, len(seen)), chosen)
        expect = getattr(chooser, "expect", None)
        expected = None if expect is None else expect(seen, picked, chosen)
        leading = [study.people[who] for who in picked]
        counts = len(seen.surveyed), len(seen.refused), study.pages, study.cut_short, len(seen), len(seen.ties()[0])
        found.append(SourceResult(name_of(policy), *counts, leading, expected))
    return found
