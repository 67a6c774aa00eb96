"""Compare survey policies: the same start sets, the same worlds, paired tests."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from claim.cascades import Model
from claim.discovery import chooses_leaders, draws_own_start
from claim.discovery.simulation import check_contacts, check_entry, planned_surveys
from claim.errors import InputError, check_settings, check_whole
from claim.evaluation.batches import ComparedStudies, Progress, run_batches
from claim.evaluation.runs import (
    EVALUATION_SAMPLES,
    OWN,
    Method,
    ProtocolName,
    Starts,
    StudySettings,
    check_protocol,
    draw_start_sets,
    evaluation_seed,
    evaluator_for,
)
from claim.evaluation.statistics import holm, paired_test, standard_error
from claim.jobs import BackendName
from claim.networks import Network, NetworkLike
from claim.networks.catalogue import load_all, networks_given
from claim.networks.network import FloatArray
from claim.provenance import command_line, manifest, resolved
from claim.randomness import named_seed
from claim.registry import (
    PolicyLike,
    SelectorLike,
    check_knows,
    check_policy,
    check_policy_entry,
    find_selector,
    is_marked,
    name_of,
    reference_of,
)
from claim.results import Tabular

RENAMED = {"start": "start_size", "starts": "start_sets", "answers": "report_rate", "told": "selector_informed"}


@dataclass(frozen=True)
class Row:
    """What one method reached on one network."""

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
    own_start: bool  # starts from random people of its own, not from the common start sets
    new_people: float | None = None  # of an open study: people interviewed whom no one had to name, on average
    shares: dict[str, float] | None = None  # of each group reached, if a group was asked for, on average

    def to_dict(self) -> dict[str, Any]:
        """Plain data; rows of closed studies have no number of new people, and those without a group no shares."""
        optional = ("new_people", "shares")
        return {name: value for name, value in asdict(self).items() if name not in optional or value is not None}


@dataclass(frozen=True)
class Difference:
    """A paired comparison of two methods on one network: ``difference`` is the mean of a minus b."""

    network: str
    protocol: ProtocolName
    a: str
    b: str
    difference: float
    ci95: tuple[float, float]
    p_value: float
    p_holm: float

    def reversed(self) -> "Difference":
        """The same seen from the other side: b minus a."""
        low, high = self.ci95
        return replace(self, a=self.b, b=self.a, difference=-self.difference, ci95=(-high, -low))


@dataclass(frozen=True)
class Comparison(Tabular):
    """All rows, the optimum of each network, the paired differences and the record of how they came about."""

    rows: list[Row]
    opt: dict[str, float]
    comparisons: list[Difference]
    manifest: dict[str, Any] = field(repr=False)
    studies: ComparedStudies = field(repr=False)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per method and network, without the values of single runs."""
        return [{name: value for name, value in row.to_dict().items() if name != "values"} for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; numbers that do not exist (a standard error of one run) are None."""
        rows, comparisons = [row.to_dict() for row in self.rows], [asdict(each) for each in self.comparisons]
        found = {"rows": rows, "opt": self.opt, "comparisons": comparisons}
        return {**without_nan(found), "manifest": self.manifest}


def compare(
    networks: Iterable[NetworkLike] | NetworkLike,
    policies: Iterable[PolicyLike] | PolicyLike,
    selector: Iterable[SelectorLike] | SelectorLike = "greedy",
    protocol: Iterable[str] | str = "field",
    runs: int = 100,
    seed: int = 10,
    *,
    start_sets: Starts | None = None,
    interviews: int | None = None,
    workers: int | None = None,
    backend: BackendName = "local",
    address: str | None = None,
    data_dir: str | None = None,
    directed: bool | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Comparison:
    """Evaluate every policy with every selector on every network, ``runs`` times from the same start sets.

    Policies and selectors are names or objects of your own. ``settings`` are those of :class:`StudySettings`: budget,
    start_size, leaders, p, per_round, refusal, unit, attendance, p_range, report_rate, selector_informed, entry, frame,
    hub_question, population, model, judge_model, group, groups_of_contacts, fair. ``protocol`` is ``field``, ``paper``
    or both; ``start_sets`` is ``published`` or ``fresh``; the number of processes, ``workers``, changes no result. With
    ``entry="open"`` a study begins with no person known and has so many ``interviews`` in all (10 unless said
    otherwise). ``directed`` overrides what the files of networks say.
    """
    settings = {RENAMED.get(name, name): value for name, value in settings.items()}
    start_sets = settings.pop("start_sets", start_sets)
    check_settings("compare", StudySettings, settings)
    given = networks_given(networks)
    hidden = load_all(given, data_dir, directed)
    if not hidden:
        raise InputError("no network to compare on")
    for network in hidden:
        check_whole(1, **{f"the number of people in {network.name}": network.n})
    study = study_settings(seed, interviews, start_sets, _listed(protocol), settings)
    check_whole(1, runs=runs)
    own = next((network.name for network in hidden if network.probabilities is not None), None)
    if own is not None and study.p_range is not None:
        raise InputError(f"{own}: ties have probabilities of their own, and a range of p would change nothing")
    methods = methods_of(policies, selector, protocol)
    for network in hidden if study.group is not None else ():
        network.groups(str(study.group))  # refuses what is not known of its people
        check_contacts(network, "groups")
    for method in methods:
        check_policy_entry(method.policy, study.entry)
        for network, part in product(hidden, (method.policy, method.selector)):
            check_knows(part, network, Model.of(study.model))
    none: list[list[int]] = [[] for _ in range(runs)]
    sets = {network.name: none for network in hidden}
    if study.entry == "closed":
        sets = {each.name: draw_start_sets(each, runs, study.start_size, seed, start_sets) for each in hidden}
    studies = ComparedStudies(hidden, methods, study, sets)
    found = run_batches(studies, [study.budget], workers, progress, backend, address)
    rows = [_row(*each, outcomes, study) for each, outcomes in zip(product(hidden, methods), found, strict=True)]
    recorded = {**study.recorded(), "runs": runs}
    if study.entry == "closed":
        recorded["start_sets"] = start_sets or "published where they exist"
    if trained := resolved(methods, hidden, study.budget):
        recorded["played"] = trained  # the key that files have
    return Comparison(
        rows,
        {network.name: optimum(network, study) for network in hidden},
        differences(rows, seed),
        manifest(_command(given, methods, study, runs, start_sets, directed), recorded, hidden),
        studies,
    )


def study_settings(
    seed: int, interviews: int | None, start_sets: Starts | None, protocols: Sequence[str], settings: dict[str, Any]
) -> StudySettings:
    """The settings of all studies; what does not go with the way people enter a study is refused."""
    entry = settings.get("entry", "closed")
    closed: dict[str, Any] = {name: settings.get(name) for name in ("budget", "start_size")}
    closed |= {"start_sets": start_sets, "protocol paper": True if "paper" in protocols else None}
    check_entry(entry, interviews=interviews, **closed)
    if entry == "open":
        settings = {**settings, "budget": planned_surveys(entry, None, interviews)}
    return StudySettings(seed, **settings)


def methods_of(
    policies: Iterable[PolicyLike] | PolicyLike,
    selectors: Iterable[SelectorLike] | SelectorLike,
    protocols: Iterable[str] | str,
) -> list[Method]:
    """Every combination, each once; what is no policy or selector is refused before anything is computed."""
    policies, selectors = _listed(policies), _listed(selectors)
    checked = [check_protocol(name) for name in _listed(protocols)]
    if not (policies and selectors and checked):
        raise InputError("a comparison needs at least one policy, one selector and one protocol")
    for kind, given, check in (("policies", policies, check_policy), ("selectors", selectors, find_selector)):
        for each in given:
            check(each)
        names = [name_of(each) for each in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"two {kind} are called {twice}: give each a name of its own")
    own = [is_marked(policy, chooses_leaders) for policy in policies]  # whatever the selectors are
    chosen = [(policy, [OWN] if itself else selectors) for policy, itself in zip(policies, own, strict=True)]
    return [Method(*each).with_objects() for policy, by in chosen for each in product([policy], by, checked)]


def optimum(network: Network, settings: StudySettings) -> float:
    """OPT: the reach of the greedy oracle on the whole network, on the worlds that all methods are evaluated on.

    It knows p: for a range it is the mean over values of p of what the best leaders for each reach.
    """
    found = []
    for p in settings.chances() or (settings.p,):
        seed = evaluation_seed(settings.seed)
        evaluator = evaluator_for(network, p, EVALUATION_SAMPLES, seed, settings.attendance, settings.judged_by)
        found.append(evaluator.optimum(settings.leaders, np.random.default_rng(named_seed(settings.seed, "optimum"))))
    return float(np.mean(found))


def differences(rows: Sequence[Row], seed: int) -> list[Difference]:
    """All pairs on the same network under the same protocol, with Holm's correction over all of them."""
    several = len({row.selector for row in rows}) > 1
    pairs = [(a, b) for a, b in combinations(rows, 2) if (a.network, a.protocol) == (b.network, b.protocol)]
    tests = [paired_test(a.values, b.values, np.random.default_rng(named_seed(seed, "bootstrap"))) for a, b in pairs]
    corrected = holm([test.p_value for test in tests])
    names = [(method_name(a, several), method_name(b, several)) for a, b in pairs]
    return [
        Difference(a.network, a.protocol, *named, test.difference, test.ci95, test.p_value, p)
        for (a, _), named, test, p in zip(pairs, names, tests, corrected, strict=True)
    ]


def method_name(row: Row, several_selectors: bool) -> str:
    """The policy, with its selector where there is more than one."""
    return f"{row.policy} + {row.selector}" if several_selectors else row.policy


def _row(network: Network, method: Method, outcomes: FloatArray, study: StudySettings) -> Row:
    values, discovered, new, *shares = outcomes[:, -1].T
    groups = () if study.group is None else network.groups(study.group).names
    return Row(
        network.name,
        *method.names,
        len(values),
        float(values.mean()),
        standard_error(values),
        values.tolist(),
        float(discovered.mean()),
        is_marked(method.policy),
        is_marked(method.policy, draws_own_start),
        float(new.mean()) if study.entry == "open" else None,
        {name: float(each.mean()) for name, each in zip(groups, shares, strict=True)} if groups else None,
    )


def _command(
    networks: list[str | Network],
    methods: list[Method],
    study: StudySettings,
    runs: int,
    start_sets: Starts | None,
    directed: bool | None = None,
) -> str:
    """The command line that gives the same result again (a network that came from no file has only its name)."""

    def listed(values: Iterable[str]) -> str:
        return ",".join(f'"{value}"' if "," in value else value for value in dict.fromkeys(values))

    usual = StudySettings(study.seed)
    options = {
        "networks": listed(each.name if isinstance(each, Network) else each for each in networks),
        "policies": listed(reference_of(each.policy) for each in methods),
        "selector": listed(reference_of(each.selector) for each in methods if each.selector != OWN) or None,
        "protocol": listed(each.protocol for each in methods), "runs": runs, "seed": study.seed,
        "budget": study.budget, "start-size": study.start_size, "leaders": study.leaders, "probability": study.p,
        "start-sets": start_sets,
    }  # fmt: skip
    if study.entry == "open":
        options = {name: value for name, value in options.items() if name not in ("protocol", "budget", "start-size")}
        options |= {"entry": study.entry, "interviews": study.budget}
    named = {"per_round": "round", "refusal": "refusal", "unit": "budget-unit", "attendance": "attendance"}
    named |= {"p_range": "p-range", "report_rate": "report-rate", "frame": "frame", "hub_question": "hub-question"}
    named |= {"population": "population", "model": "model", "judge_model": "judge-model", "group": "group"}
    named |= {"groups_of_contacts": "groups-of-contacts", "fair": "fair"}
    for setting, option in named.items():
        value = getattr(study, setting)
        if value != getattr(usual, setting):
            options[option] = ",".join(map(str, value)) if isinstance(value, tuple | list) else value
    return command_line(
        "evaluate", {**options, "selector-unaware": not study.selector_informed, "directed": directed is True}
    )


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
