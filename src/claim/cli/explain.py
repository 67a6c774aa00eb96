"""``claim explain``: why a trained policy would survey somebody."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from claim.cli.advise import (
    BudgetOption,
    Lists,
    RefusedFileOption,
    RefusedOption,
    StartFileOption,
    StartOption,
    SurveyedFileOption,
    SurveyedOption,
    study_so_far,
)
from claim.cli.common import DataDirOption, JsonOption, SeedOption, report_dropped, show
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from claim.discovery import Discovered
    from claim.learning.explain import Explanation, Lead, Outcome, Valued
    from claim.learning.policy import LearnedPolicy
    from claim.networks import Network

SHOWN_MEMBERS = 3
SHOWN_CHANGES = 10  # of what speaks for the chosen, and as many of what speaks for others


def explain(
    known: Annotated[str | None, typer.Option(metavar="FILE", help="The ties named so far, one a line.")] = None,
    surveyed: SurveyedOption = "",
    surveyed_file: SurveyedFileOption = None,
    refused: RefusedOption = "",
    refused_file: RefusedFileOption = None,
    start: StartOption = "",
    start_file: StartFileOption = None,
    network: Annotated[str | None, typer.Option(help="Or a study simulated on this network or file.")] = None,
    surveys: Annotated[int, typer.Option(min=0, help="With --network: surveys by the policy before.")] = 0,
    policy: Annotated[str, typer.Option(help="A shipped policy, such as claim:all, or a policy file.")] = "claim",
    budget: BudgetOption = 5,
    seed: SeedOption = 0,
    data_dir: DataDirOption = None,
    json: JsonOption = None,
) -> None:
    """Say why a trained policy would survey somebody: against whom, towards which goal, and what would change it.

    Example: [bold]claim explain --known ties.csv --surveyed P1,P2 --policy claim[/bold]
    """
    if (known is None) == (network is None):
        raise InputError("say what to explain a choice on: either --known or --network")
    lists = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file)
    _check_options(network, lists, surveys)
    if known is not None:
        case = _known_case(known, lists, policy, budget)
    else:
        case = _simulated_case(str(network), surveys, policy, budget, seed, data_dir)
    from claim.learning.explain import explain as explanation_of

    explanation = explanation_of(case.policy, case.seen, case.name, seed)
    result = _data(case, explanation)
    show(result, _shown(case, explanation, result), json)


def _check_options(network: str | None, lists: Lists, surveys: int) -> None:
    if network is not None and any(lists):
        raise InputError("--surveyed, --refused and --start go with --known; a simulated study has its own")
    if network is None and surveys:
        raise InputError("--surveys goes with --network; what was asked so far goes with --known into --surveyed")


@dataclass(frozen=True)
class Case:
    """A discovered network, what its people are called, and the policy in question."""

    seen: "Discovered"
    labels: list[Any]
    policy: "LearnedPolicy"

    def name(self, person: int) -> str:
        """What a person is called."""
        return str(self.labels[person])

    def label_list(self, who: "tuple[int, ...]") -> list[Any]:
        """Labels of several people."""
        return [self.labels[person] for person in who]


def _known_case(known: str, lists: Lists, policy: str, budget: int) -> Case:
    from claim.networks import load

    graph = load(known)
    report_dropped(graph)
    rule = _trained(policy, graph, budget)
    return Case(study_so_far(graph, rule, lists), list(graph.labels), rule)


def _simulated_case(network: str, surveys: int, policy: str, budget: int, seed: int, data_dir: str | None) -> Case:
    import numpy as np

    from claim.discovery import Simulation
    from claim.discovery import surveys as survey
    from claim.networks import load

    graph = load(network, data_dir=data_dir)
    report_dropped(graph)
    rule = _trained(policy, graph, budget)
    rng = np.random.default_rng(seed)
    outset = rng.choice(graph.n, min(rule.config.start, graph.n), replace=False)
    simulation = Simulation(graph, outset.tolist(), rng)
    for _ in survey(simulation, rule, surveys, rng):
        pass
    return Case(simulation.discovered, [graph.labels[who] for who in simulation.people], rule)


def _trained(policy: str, graph: "Network", budget: int) -> "LearnedPolicy":
    from claim.registry import is_learned, policy_for

    if not is_learned(policy):
        raise InputError(
            f"{policy} is no trained policy: name a shipped one, such as claim:all, or a policy.json; "
            "what speaks for people by simple rules is what claim advise says"
        )
    return cast("LearnedPolicy", policy_for(policy, graph, budget))


def _data(case: Case, explanation: "Explanation") -> dict[str, Any]:
    """The explanation as plain data."""
    story = explanation.goal
    goal = None
    if story is not None:
        goal = {
            "goal": story.goal,
            "people": story.estimates.people,
            "edges": story.estimates.edges,
            "average_influence": story.estimates.average_influence,
            "p_prime": story.estimates.p_prime,
            "start_people": story.start_people,
            "contacts_of_start": story.contacts_of_start,
            "layers": story.layers if math.isfinite(story.layers) else None,
        }
    return {
        "policy": case.policy.name,
        "surveyed": len(case.seen.surveyed),
        "people": len(case.seen),
        **_lead_data(explanation.lead),
        "goal": goal,
        "classes": [_class_data(case, explanation, rank, each) for rank, each in enumerate(explanation.classes, 1)],
        "changes": [_change_data(case, each) for each in explanation.outcomes],
    }


def _lead_data(lead: "Lead | None") -> dict[str, float | None]:
    return {"lead": lead.value if lead else None, "lead_in_people": lead.people if lead else None}


def _class_data(case: Case, explanation: "Explanation", rank: int, each: "Valued") -> dict[str, Any]:
    behind = explanation.classes[0].value - each.value
    return {
        "rank": rank,
        "value": each.value,
        "behind_in_people": explanation.goal and behind * explanation.goal.goal,
        "members": case.label_list(each.group.members),
        "contacts": len(each.group.contacts),
        "named_by": case.label_list(each.namers),
        "namer_degrees": list(each.namer_degrees),
    }


def _change_data(case: Case, each: "Outcome") -> dict[str, Any]:
    return {
        "about": each.about,
        "if": each.says,
        **_lead_data(each.lead),
        "choice": each.choice and case.label_list(each.choice.members),
        "changed": each.changed,
    }


def _shown(case: Case, explanation: "Explanation", result: dict[str, Any]) -> "RenderableType":
    from rich.console import Group

    if not explanation.classes:
        return "nobody is left to survey: everybody named so far was surveyed or refused"
    texts = _choice_text(case, explanation), _goal_text(explanation)
    return Group(texts[0], "", _class_table(result), "", texts[1], "", _change_table(result))


def _choice_text(case: Case, explanation: "Explanation") -> str:
    best = explanation.classes[0].group
    who = case.name(best.members[0])
    if best.size > 1:
        who += f", one of {best.size} people whom nothing seen tells apart"
    if explanation.lead is None:
        return f"{case.policy.name} would survey {who}: there is nobody else to choose"
    ahead = explanation.lead
    worth = "" if ahead.people is None else f", which stands for {ahead.people:.2f} people reached at the end"
    return f"{case.policy.name} would survey {who}: Q is {ahead.value:.4f} ahead of the next{worth}"


def _class_table(result: dict[str, Any]) -> "Table":
    from rich.table import Table

    counted = result["goal"] is not None
    table = Table(title="Whom it could survey", title_justify="left")
    for column in ("rank", "Q", *(["people behind"] if counted else []), "alike", "contacts"):
        table.add_column(column, justify="right")
    for column in ("who", "named by", "their contacts"):
        table.add_column(column, overflow="fold")  # a name cut short could be another person's
    for row in result["classes"]:
        behind = [f"{row['behind_in_people']:.2f}"] if counted else []
        table.add_row(
            str(row["rank"]), f"{row['value']:.4f}", *behind, str(len(row["members"])), str(row["contacts"]),
            _listed(row["members"]), _listed(row["named_by"]), _listed(row["namer_degrees"]),
        )  # fmt: skip
    return table


def _listed(items: list[Any]) -> str:
    words = [str(item) for item in items[:SHOWN_MEMBERS]]
    more = len(items) - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "") or "–"


def _goal_text(explanation: "Explanation") -> str:
    story = explanation.goal
    if story is None:
        return "Goal: none. This policy values the share of what leaders could reach if the whole network were known."
    estimates = story.estimates
    return (
        f"Goal: {story.goal:.1f} people, for {story.start_people} start people who named {story.contacts_of_start}. "
        f"From estimates, not from this network: {estimates.people:.0f} people, {estimates.edges:.0f} ties and an "
        f"average influence of {estimates.average_influence:.1f}, which word that passes with p' = "
        f"{estimates.p_prime:.3f} along trees {_depth(story.layers)} would explain."
    )


def _depth(layers: float) -> str:
    return f"{layers:.1f} layers deep" if math.isfinite(layers) else "without an end"


def _change_table(result: dict[str, Any]) -> "Table":
    """What the choice rests on, by how far it moves the lead, then what would put others first."""
    from rich.table import Table

    counted = result["goal"] is not None
    table = Table(title="What it would do if …", title_justify="left", caption_justify="left")
    table.add_column("if")
    table.add_column("people ahead" if counted else "Q ahead", justify="right")
    table.add_column("it would survey")
    changes = sorted(result["changes"], key=lambda row: -_moved(row, result))
    own = [row for row in changes if row["about"] != "rival"]
    others = [row for row in changes if row["about"] == "rival" and row["changed"]]
    for rows in (own, others):
        for row in rows[:SHOWN_CHANGES]:
            table.add_row(row["if"], _ahead(row, counted), _instead(row))
        table.add_section()
    turned = sum(row["changed"] for row in changes)
    table.caption = f"{turned} of {len(changes)} changes tried would change the choice"
    return table


def _moved(row: dict[str, Any], result: dict[str, Any]) -> float:
    """How far a change moves the lead."""
    key = "lead" if result["goal"] is None else "lead_in_people"
    return 0.0 if row[key] is None or result[key] is None else abs(float(row[key] - result[key]))


def _ahead(row: dict[str, Any], counted: bool) -> str:
    if row["lead"] is None:
        return "–"
    return f"{row['lead_in_people']:.2f}" if counted else f"{row['lead']:.4f}"


def _instead(row: dict[str, Any]) -> str:
    if not row["changed"]:
        return "the same"
    return _listed(row["choice"]) if row["choice"] else "one of the people so named"
