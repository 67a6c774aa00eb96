"""What field conditions cost, and what informed selectors recover: the tables of docs/notes/field-conditions.md.

`python benchmarks/field_conditions.py` runs studies of the training networks from the same start sets, with and without
each condition. `CLAIM_DATA` names the folder of the networks.
"""

import argparse
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.evaluation.compare import methods_of
from claim.evaluation.runs import StudySettings, draw_start_sets, run_studies
from claim.networks import load

NETWORKS = ("copen", "occupy", "plj", "rob")
METHODS = methods_of("degree+inverse,random", "greedy,foresight:free", "field")
SEED = 10
RANGE = (0.05, 0.2)

# The settings of the studies, and those they are compared with.
CONDITIONS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "rounds of 3": ({"per_round": 3}, None),
    "all five at once": ({"per_round": 5}, None),
    "a fifth refuses": ({"refusal": 0.2}, {"refusal": 0.2, "unit": "answers"}),
    "seven of ten contacts named": ({"report_rate": 0.7}, None),
    "six of ten leaders come": ({"attendance": 0.6, "selector_informed": False}, {"attendance": 0.6}),
    "p from 0.05 to 0.2": ({"p_range": RANGE, "selector_informed": False}, {"p_range": RANGE}),
}

Values = dict[tuple[str, str, str], npt.NDArray[np.float64]]  # by policy, selector and network


def played(runs: int, known_p: bool = False, **condition: Any) -> Values:
    """People reached in each run; with ``known_p`` by selectors that know the p of each run."""
    print(f"playing {condition or 'no condition'}{' with p known' * known_p}", file=sys.stderr)
    settings, found = StudySettings(SEED, **condition), {}
    for network in map(load, NETWORKS):
        starts = list(enumerate(draw_start_sets(network, runs, settings.start_size, SEED)))
        for method in METHODS:
            reached = []
            for run, start in starts:
                p = settings.true_p(run)
                own = replace(settings, p=p, p_range=(p, p), selector_informed=False) if known_p else settings
                ((_, (outcome,)),) = run_studies(network, method, own, [(run, start)], [settings.budget])
                reached.append(outcome.influence)
            found[(*method.names[:2], network.name)] = np.array(reached)
    return found


def mean_and_error(numbers: npt.NDArray[np.float64], sign: str = "") -> str:
    mean, error = numbers.mean(), numbers.std(ddof=1) / np.sqrt(len(numbers))
    return f"{mean:{sign}.1f} ± {error:.1f}".replace("-", "−")


def line(name: str, cells: list[str]) -> None:
    print("| " + " | ".join([name, *cells]) + " |", flush=True)


def report(condition: str, before: Values, hit: Values, handled: Values | None) -> None:
    for key in [each.names[:2] for each in METHODS]:
        cells = [mean_and_error(hit[*key, name] - before[*key, name], "+") for name in NETWORKS]
        line(f"{condition} | {' + '.join(key)}", cells)
        if handled is not None:
            won = [mean_and_error(handled[*key, name] - hit[*key, name], "+") for name in NETWORKS]
            line(" | handled", won)


def report_reached(what: str, values: Values) -> None:
    for key in [each.names[:2] for each in METHODS]:
        line(f"{what} | {' + '.join(key)}", [mean_and_error(values[*key, name]) for name in NETWORKS])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", choices=CONDITIONS, help="one condition")
    given = parser.parse_args()
    line("condition | policy + selector", list(NETWORKS))
    line("--- | ---", ["---"] * len(NETWORKS))
    calm: Values | None = None
    for condition, (settings, handling) in CONDITIONS.items():
        if given.only not in (None, condition):
            continue
        if "p_range" in settings:
            before = played(given.runs, known_p=True, p_range=RANGE)
            report_reached("p known in every run: people reached", before)
        else:
            if calm is None:
                calm = played(given.runs)
                report_reached("none: people reached", calm)
            before = calm
        handled = None if handling is None else played(given.runs, **handling)
        report(condition, before, played(given.runs, **settings), handled)


if __name__ == "__main__":
    main()
