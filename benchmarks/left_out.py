"""Foresight on a network it was not trained on, and how much there is to know: the tables of docs/notes/foresight.md.

`python benchmarks/left_out.py ranges` leaves one training network after the other out of its family's model, and counts
how often ranges of that model, made wider by a factor, hold the true reach on the network left out. `reach` compares
the leaders of such models with those of models that know the network, and with leaders by somebody who sees what each
class of people would add. Each takes half an hour to forty minutes of one core. `CLAIM_DATA` names the folder of the
networks.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from measure import survey_to_checkpoints

from claim.cascades.worlds import Worlds
from claim.discovery import Simulation, policy_named
from claim.evaluation.runs import (
    StudySettings,
    choose_leaders,
    draw_start_sets,
    evaluator_of_run,
    selector_rng,
)
from claim.fitting.foresight import FitSettings, coverage, evaluate_studies, train_family, training_networks
from claim.networks import Network
from claim.networks.network import OffsetArray
from claim.selection import selector_named
from claim.selection.foresight.kernels import true_gains
from claim.selection.foresight.model import Model, read_model
from claim.selection.foresight.selection_state import SeenNetwork
from claim.selection.foresight.selector import FittedForesight

FAMILIES = ("retweet", "animal")
PLAN = FitSettings(look_alikes=108)
ALONE = FitSettings(look_alikes=0, studies=3000, fresh_look_alikes=4)
P = 0.1

RANGE_BUDGETS, STUDIES = (5, 10, 20), 200
FACTORS = (1.0, 1.1, 1.3, 1.5)

REACH_BUDGETS, RUNS, SEED = (5, 20), 400, 93
WORLDS = 2000  # in which somebody sees what classes add; not those in which leaders are judged

Choose = Callable[[Simulation, int], list[int]]  # leaders of a study, by the network's indices


def trained(family: str, networks: list[Network], plan: FitSettings) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        return read_model(train_family(family, networks, path, np.random.default_rng(5), plan=plan))


def held(left: Network, family: str, model: Model) -> list[float]:
    """By factor, the share of studies in the range, averaged over the numbers of surveys."""
    assert model.ranges is not None
    rng, selectors = np.random.default_rng(9), {"fitted": FittedForesight(family=family, model=model)}
    outcomes = [
        evaluate_studies([(left, STUDIES)], selectors, rng, [budget], [P])["fitted"] for budget in RANGE_BUDGETS
    ]
    ranges = [replace(model.ranges, wider=factor) for factor in FACTORS]
    return [float(np.mean([coverage(each, wide)["held"] for each in outcomes])) for wide in ranges]


def ranges_table(left: Network, family: str, others: list[Network]) -> None:
    shares = held(left, family, trained(family, others, PLAN))
    print(f"| {left.name} |" + "".join(f" {100 * share:.0f} % |" for share in shares), flush=True)


def best_classes(study: Simulation, worlds: Worlds, rng: np.random.Generator) -> list[int]:
    """Leaders picked one after the other from the class whose people truly add the most on average."""
    view, people = SeenNetwork.of(study.discovered), np.array(study.people)
    covered = np.zeros(len(worlds.starts) - 1, dtype=np.bool_)
    left, leaders = np.ones(view.n, dtype=np.bool_), []
    for _ in range(min(10, view.n)):
        waiting: OffsetArray = np.flatnonzero(left)
        gains = true_gains(tuple(worlds), people[waiting], view.group[waiting], view.groups, view.n, covered)
        person = int(rng.choice(waiting[view.group[waiting] == gains.argmax()]))
        left[person] = False
        leaders.append(int(people[person]))
        offsets = worlds.member_offsets
        covered[worlds.member_numbers[offsets[leaders[-1]] : offsets[leaders[-1] + 1]]] = True
    return leaders


def choosers(network: Network, family: str, others: list[Network], settings: StudySettings) -> dict[str, Choose]:
    selectors = {
        "free": selector_named("foresight:free", P),
        "without the network": FittedForesight(family=family, model=trained(family, others, PLAN)),
        "as shipped": selector_named(f"foresight:{family}", P),
        "the network alone": FittedForesight(family=family, model=trained(family, [network], ALONE)),
    }
    worlds = Worlds.draw(network, P, WORLDS, SEED)

    def by(name: str) -> Choose:
        return lambda study, run: choose_leaders(
            "field", study, selectors[name], settings.leaders, selector_rng(settings, run)
        )

    return {
        **{name: by(name) for name in selectors},
        "sees classes": lambda study, run: best_classes(study, worlds, np.random.default_rng(run)),
    }


def reach_table(network: Network, family: str, others: list[Network]) -> None:
    settings = StudySettings(SEED, REACH_BUDGETS[-1])
    choose = choosers(network, family, others, settings)
    reached: dict[tuple[int, str], list[float]] = {(budget, name): [] for budget in REACH_BUDGETS for name in choose}
    for run, start in enumerate(draw_start_sets(network, RUNS, settings.start_size, SEED)):
        studies = survey_to_checkpoints(network, policy_named("scout"), settings, run, start, REACH_BUDGETS)
        for budget, study in zip(REACH_BUDGETS, studies, strict=True):
            for name, leaders in choose.items():
                reached[budget, name].append(evaluator_of_run(network, settings, run).influence(leaders(study, run)))
    for budget in REACH_BUDGETS:
        base, *rest = (np.array(reached[budget, name]) for name in choose)
        more = [100.0 * (each - base) / base.mean() for each in rest]
        cells = [f"{base.mean():.1f}", *(f"{each.mean():+.1f} ± {each.std() / RUNS**0.5:.1f} %" for each in more)]
        print(f"| {network.name}, T = {budget} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("ranges", "reach"))
    table = parser.parse_args().table
    columns = [str(factor) for factor in FACTORS]
    if table == "reach":
        columns = ["free", "without the network", "as shipped", "the network alone", "sees classes"]
    print(f"| | {' | '.join(columns)} |")
    print("|---" * (1 + len(columns)) + "|")
    for family in FAMILIES:
        networks = training_networks(family)
        for left in networks:
            others = [network for network in networks if network is not left]
            (ranges_table if table == "ranges" else reach_table)(left, family, others)


if __name__ == "__main__":
    main()
