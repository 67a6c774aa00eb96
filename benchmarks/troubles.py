"""What the field's troubles cost, and what handling them wins back: prints the tables of docs/troubles.md.

`python benchmarks/troubles.py` plays the training networks from the same start sets with and without each trouble.
`CLAIM_DATA` names the folder of the networks.
"""

import argparse
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from claim.evaluation import Comparison, compare
from claim.evaluation.runs import play_runs

NETWORKS = "copen,occupy,plj,rob"
POLICIES = "degree+inverse,random"
SELECTORS = "greedy,foresight:free"
SEED = 10

# What is played, what it is held against, and what is held against it in turn.
TROUBLES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "rounds of 3": ({"per_round": 3}, None),
    "all five at once": ({"per_round": 5}, None),
    "a fifth refuses": ({"refusal": 0.2}, {"refusal": 0.2, "unit": "answers"}),
    "seven of ten contacts named": ({"answers": 0.7}, None),
    "six of ten leaders come": ({"attendance": 0.6, "told": False}, {"attendance": 0.6}),
    "p from 0.05 to 0.2": ({"p_range": (0.05, 0.2), "told": False}, {"p_range": (0.05, 0.2)}),
}

Values = dict[tuple[str, str, str], npt.NDArray[np.float64]]  # by policy, selector and network


def played(runs: int, **trouble: Any) -> Comparison:
    print(f"playing {trouble or 'no trouble'}", file=sys.stderr)
    return compare(NETWORKS, POLICIES, SELECTORS, runs=runs, seed=SEED, workers=1, **trouble)


def values(result: Comparison) -> Values:
    return {(row.policy, row.selector, row.network): np.array(row.values) for row in result.rows}


def with_known_p(result: Comparison) -> Values:
    """The runs of a comparison with a range of p, with selectors that know the p of each run."""
    what, found = result.played, {}
    for network in what.networks:
        for contender in what.contenders:
            reached = []
            for run, start in enumerate(what.starts[network.name]):
                p = what.rules.true_p(run)
                rules = replace(what.rules, p=p, p_range=(p, p), told=False)
                ((outcome,),) = play_runs(network, contender, rules, [(run, start)], [rules.budget])
                reached.append(outcome.influence)
            found[contender.policy, contender.selector, network.name] = np.array(reached)
    return found


def mean_and_error(numbers: npt.NDArray[np.float64], sign: str = "") -> str:
    mean, error = numbers.mean(), numbers.std(ddof=1) / np.sqrt(len(numbers))
    return f"{mean:{sign}.1f} ± {error:.1f}".replace("-", "−")


def line(name: str, cells: list[str]) -> None:
    print("| " + " | ".join([name, *cells]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    calm = values(played(runs))
    names, pairs = NETWORKS.split(","), [(p, s) for p in POLICIES.split(",") for s in SELECTORS.split(",")]
    line("trouble | policy + selector", names)
    line("--- | ---", ["---"] * len(names))
    for policy, selector in pairs:
        cells = [mean_and_error(calm[policy, selector, name]) for name in names]
        line(f"none: people reached | {policy} + {selector}", cells)
    for trouble, (settings, handling) in TROUBLES.items():
        result = played(runs, **settings)
        before = with_known_p(result) if "p_range" in settings else calm
        hit = values(result)
        handled = None if handling is None else values(played(runs, **handling))
        for key in pairs:
            cells = [mean_and_error(hit[*key, name] - before[*key, name], "+") for name in names]
            line(f"{trouble} | {' + '.join(key)}", cells)
            if handled is not None:
                won = [mean_and_error(handled[*key, name] - hit[*key, name], "+") for name in names]
                line(" | handled", won)


if __name__ == "__main__":
    main()
