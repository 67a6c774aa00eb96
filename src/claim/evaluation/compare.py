"""Compare survey policies honestly: the same start sets, the same worlds, paired tests."""

import math
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, product
from typing import Any, TypeAlias, get_args

import numpy as np

from claim.discovery.simulation import BudgetUnit, check_contacts
from claim.errors import InputError
from claim.evaluation.batches import BackendName, Progress, play_batches, split
from claim.evaluation.provenance import manifest, resolved
from claim.evaluation.runs import (
    REFEREE_SAMPLES,
    Contender,
    Outcome,
    ProtocolName,
    Rules,
    Starts,
    check_protocol,
    referee_for,
    referee_seed,
    start_sets,
)
from claim.evaluation.statistics import holm, paired_test, standard_error
from claim.networks import Network, load
from claim.networks.catalogue import expand
from claim.randomness import named_seed
from claim.registry import PolicyLike, SelectorLike, check_policy, find_selector, is_marked, name_of

Named: TypeAlias = str | os.PathLike[str] | Network  # a network by its name, by its file, or as it is


@dataclass(frozen=True)
class Row:
    """What one contender reached on one network."""

    network: str
    policy: str
    selector: str
    protocol: ProtocolName
    runs: int
    mean: float
    stderr: float
    values: list[float]
    discovered: float  # people discovered, on average
    reference: bool  # sees what no policy may see


@dataclass(frozen=True)
class Difference:
    """A paired comparison of two contenders on one network: ``difference`` is the mean of a minus b."""

    network: str
    protocol: ProtocolName
    a: str
    b: str
    difference: float
    ci95: tuple[float, float]
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class Played:
    """What was compared, so that a report can play on."""

    networks: list[Network]
    contenders: list[Contender]
    rules: Rules
    starts: dict[str, list[list[int]]]  # by network


@dataclass(frozen=True)
class Comparison:
    """All rows, the optimum of each network, the paired differences and the record of how they came about."""

    rows: list[Row]
    opt: dict[str, float]
    comparisons: list[Difference]
    manifest: dict[str, Any] = field(repr=False)
    played: Played = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; numbers that do not exist (a standard error of one run) are None."""
        data = {
            "rows": [asdict(row) for row in self.rows],
            "opt": self.opt,
            "comparisons": [asdict(each) for each in self.comparisons],
            "manifest": self.manifest,
        }
        return {key: without_nan(value) for key, value in data.items()}


def compare(
    networks: Iterable[Named] | Named,
    policies: Iterable[PolicyLike] | PolicyLike,
    selector: Iterable[SelectorLike] | SelectorLike = "greedy",
    protocol: Iterable[str] | str = "field",
    runs: int = 100,
    seed: int = 10,
    *,
    budget: int = 5,
    start: int = 5,
    leaders: int = 10,
    p: float = 0.1,
    starts: Starts | None = None,
    per_round: int = 1,
    refusal: float = 0.0,
    unit: BudgetUnit = "attempts",
    attendance: float = 1.0,
    p_range: Sequence[float] | None = None,
    answers: float = 1.0,
    told: bool = True,
    workers: int | None = None,
    backend: BackendName = "local",
    address: str | None = None,
    data_dir: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Play every policy with every selector on every network, ``runs`` times from the same start sets.

    ``refusal``, ``attendance``, ``p_range`` and ``answers`` are troubles of the field, described in docs/troubles.md.
    """
    given = networks_given(networks)
    hidden = load_all(given, data_dir)
    rules = Rules(
        seed, budget, start, leaders, p, per_round, refusal, unit,
        attendance, None if p_range is None else _two_chances(p_range), answers, told,
    )  # fmt: skip
    check_rules(rules, runs)
    own = next((network.name for network in hidden if network.probabilities is not None), None)
    if own is not None and rules.p_range is not None:
        raise InputError(f"{own}: ties have probabilities of their own, and a range of p would change nothing")
    contenders = contenders_of(policies, selector, protocol)
    sets = {network.name: start_sets(network, runs, start, seed, starts) for network in hidden}
    grid = list(product(hidden, contenders))
    batches = [split(network, contender, rules, sets[network.name], [budget]) for network, contender in grid]
    outcomes = play_batches(batches, workers, progress, backend, address)
    rows = [_row(network, contender, played) for (network, contender), played in zip(grid, outcomes, strict=True)]
    settings = {**rules.settings(), "runs": runs, "starts": starts or "published where they exist"}
    trained = resolved(contenders, hidden, budget)
    if trained:
        settings["played"] = trained
    return Comparison(
        rows,
        {network.name: optimum(network, rules) for network in hidden},
        differences(rows, seed),
        manifest(_command(given, contenders, rules, runs, starts), settings, hidden),
        Played(hidden, contenders, rules, sets),
    )


def networks_given(networks: Iterable[Named] | Named) -> list[str | Network]:
    """One entry a network: families replaced by their networks, a comma-separated list taken apart."""
    if isinstance(networks, Network):
        return [networks]
    if isinstance(networks, os.PathLike):
        return [os.fspath(networks)]
    given: list[str | Network] = []
    for item in _listed(networks) if isinstance(networks, str) else networks:
        known = [item] if isinstance(item, Network) else expand([os.fspath(item)])
        given += [each for each in known if isinstance(each, Network) or each not in given]
    return given


def load_all(given: Iterable[str | Network], data_dir: str | None) -> list[Network]:
    """Networks by name, by path or as they are; two of the same name cannot be told apart in a table."""
    loaded = [item if isinstance(item, Network) else load(item, data_dir=data_dir) for item in given]
    if not loaded:
        raise InputError("no network to compare on")
    names = [network.name for network in loaded]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two networks are called {twice}")
    for network in loaded:
        check_contacts(network)
    return loaded


def contenders_of(
    policies: Iterable[PolicyLike] | PolicyLike,
    selectors: Iterable[SelectorLike] | SelectorLike,
    protocols: Iterable[str] | str,
) -> list[Contender]:
    """Every combination, each once; what is no policy or selector is refused before anything is computed."""
    rules, oracles = _listed(policies), _listed(selectors)
    views = [check_protocol(name) for name in _listed(protocols)]
    if not (rules and oracles and views):
        raise InputError("a comparison needs at least one policy, one selector and one protocol")
    for policy in rules:
        check_policy(policy)
    for oracle in oracles:
        find_selector(oracle)
    for kind, given in (("policies", rules), ("selectors", oracles)):
        names = [name_of(each) for each in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"two {kind} are called {twice}: give each a name of its own")
    return [Contender(*each).with_objects() for each in product(rules, oracles, views)]


def check_rules(rules: Rules, runs: int) -> None:
    """Refuse numbers that make no study."""
    at_least = {
        "runs": (runs, 1),
        "start": (rules.start, 1),
        "leaders": (rules.leaders, 1),
        "round": (rules.per_round, 1),
    }
    at_least |= {"budget": (rules.budget, 0), "seed": (rules.seed, 0)}
    for name, (value, least) in at_least.items():
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}")
    if rules.unit not in get_args(BudgetUnit):
        raise InputError(f"a budget counts {' or '.join(get_args(BudgetUnit))}, not {rules.unit!r}")
    for name, probability in (("p", rules.p), ("refusal", rules.refusal)):
        if not 0 <= probability <= 1:
            raise InputError(f"{name} must be between 0 and 1, not {probability}")
    for name, share in (("attendance", rules.attendance), ("answers", rules.answers)):
        if not 0 < share <= 1:
            raise InputError(f"{name} must be above 0 and at most 1, not {share}")


def _two_chances(given: Sequence[float]) -> tuple[float, float]:
    """The two ends of a range of p."""
    ends = tuple(map(float, given))
    if len(ends) != 2 or not 0 <= ends[0] <= ends[1] <= 1:
        listed = ",".join(map(str, given))
        raise InputError(f"a range of p is two numbers between 0 and 1, the smaller first, not {listed}")
    return ends[0], ends[1]


def optimum(network: Network, rules: Rules) -> float:
    """OPT: the greedy oracle on the whole network, judged on the worlds everybody is judged on.

    It knows p: for a range it is the mean over values of p of what the best leaders for each reach.
    """
    found = []
    for p in rules.chances() or (rules.p,):
        referee = referee_for(network, p, REFEREE_SAMPLES, referee_seed(rules.seed), rules.attendance)
        found.append(referee.optimum(rules.leaders, np.random.default_rng(named_seed(rules.seed, "optimum"))))
    return float(np.mean(found))


def differences(rows: Sequence[Row], seed: int) -> list[Difference]:
    """All pairs on the same network under the same protocol, with Holm's correction over all of them."""
    several = len({row.selector for row in rows}) > 1
    found: list[Difference] = []
    for a, b in combinations(rows, 2):
        if (a.network, a.protocol) == (b.network, b.protocol):
            rng = np.random.default_rng(named_seed(seed, "bootstrap"))
            test = paired_test(a.values, b.values, rng)
            names = contender_name(a, several), contender_name(b, several)
            found.append(Difference(a.network, a.protocol, *names, test.difference, test.ci95, test.p_value, math.nan))
    corrected = holm([each.p_value for each in found])
    return [Difference(**{**vars(each), "p_holm": p}) for each, p in zip(found, corrected, strict=True)]


def contender_name(row: Row, several_selectors: bool) -> str:
    """The policy, with its selector where there is more than one."""
    return f"{row.policy} + {row.selector}" if several_selectors else row.policy


def _row(network: Network, contender: Contender, played: list[list[Outcome]]) -> Row:
    values = [outcomes[-1].influence for outcomes in played]
    discovered = float(np.mean([outcomes[-1].discovered for outcomes in played]))
    return Row(
        network.name,
        *contender.names,
        len(values),
        float(np.mean(values)),
        standard_error(values),
        values,
        discovered,
        is_marked(contender.policy),
    )


def _command(
    networks: list[str | Network], contenders: list[Contender], rules: Rules, runs: int, starts: Starts | None
) -> str:
    """The command line that makes the same result again (a network that came from no file has only its name)."""

    def listed(values: Iterable[str]) -> str:
        return shlex.quote(",".join(f'"{value}"' if "," in value else value for value in dict.fromkeys(values)))

    parts = [
        "claim evaluate",
        f"--networks {listed(each.name if isinstance(each, Network) else each for each in networks)}",
        f"--policies {listed(each.names[0] for each in contenders)}",
        f"--selector {listed(each.names[1] for each in contenders)}",
        f"--protocol {listed(each.names[2] for each in contenders)}",
        f"--runs {runs} --seed {rules.seed} --budget {rules.budget} --start {rules.start}",
        f"--leaders {rules.leaders} -p {rules.p}",
    ]
    if starts is not None:
        parts.append(f"--starts {starts}")
    if rules.per_round != 1:
        parts.append(f"--round {rules.per_round}")
    if rules.refusal:
        parts.append(f"--refusal {rules.refusal} --budget-unit {rules.unit}")
    if rules.attendance != 1:
        parts.append(f"--attendance {rules.attendance}")
    if rules.p_range is not None:
        parts.append("--p-range {},{}".format(*rules.p_range))
    if rules.answers != 1:
        parts.append(f"--answers {rules.answers}")
    if not rules.told:
        parts.append("--untold")
    return " ".join(parts)


def _listed(given: Any) -> list[Any]:
    """A comma-separated text, one object, or several of either; each once, in order."""
    if isinstance(given, str):
        given = given.split(",")
    elif not isinstance(given, Iterable) or isinstance(given, type):
        given = [given]
    parts = [each.strip() if isinstance(each, str) else each for each in given]
    return [each for i, each in enumerate(parts) if each != "" and each not in parts[:i]]


def without_nan(value: Any) -> Any:
    """The same plain data with None for every number that is not finite."""
    if isinstance(value, dict):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
