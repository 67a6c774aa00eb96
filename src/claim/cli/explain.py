"""``claim explain``: why a trained policy would survey a person."""

from typing import TYPE_CHECKING, Annotated, Any

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
)
from claim.cli.common import DataDirOption, JsonOption, SeedOption, loaded, show, table
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

SHOWN_MEMBERS = 3
SHOWN_CHANGES = 10  # of what speaks for the chosen class, and as many of what speaks for others


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
    """Explain whom a trained policy would survey next: the alternatives, and what would change the choice.

    Example: [bold]claim explain --known ties.csv --surveyed P1,P2 --policy claim[/bold]
    """
    if (known is None) == (network is None):
        raise InputError("say what to explain a choice on: either --known or --network")
    lists = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file)
    if network is not None and any(lists):
        raise InputError("--surveyed, --refused and --start go with --known; a simulated study has its own")
    if network is None and surveys:
        raise InputError("--surveys goes with --network; with --known, use --surveyed")
    from claim.networks.catalogue import family_of
    from claim.registry import check_knows, find_policy, is_learned

    graph = loaded(known) if known is not None else loaded(str(network), data_dir=data_dir)
    if not is_learned(policy):
        raise InputError(
            f"{policy} is no trained policy: name a shipped one, such as claim:all, or a policy.json; "
            "claim advise gives the reasons of the other policies"
        )
    check_knows(policy, graph)
    trained = find_policy(policy, family_of(graph), budget)
    from claim.learning.policy import LearnedPolicy

    if not isinstance(trained, LearnedPolicy):
        raise InputError(f"{policy} values each person by vectors that differ from one try to the next: not explained")
    if known is not None:
        from claim.advice import discovered_so_far

        seen, labels = discovered_so_far(graph, *lists, trained), list(graph.labels)
    else:
        import numpy as np

        from claim.discovery import Simulation
        from claim.discovery import surveys as run_surveys

        rng = np.random.default_rng(seed)
        first = rng.choice(graph.n, min(trained.settings.start, graph.n), replace=False)
        simulation = Simulation(graph, first.tolist(), rng)
        for _ in run_surveys(simulation, trained, surveys, rng):
            pass
        seen, labels = simulation.discovered, [graph.labels[who] for who in simulation.people]
    from claim.learning.explain import explain as explain_choice

    result = explain_choice(trained, seen, labels)
    show(result, _shown(result), json)


def _shown(result: dict[str, Any]) -> "RenderableType":
    from rich.console import Group

    if not result["classes"]:
        return "no people are left to survey: all people named so far were surveyed or refused"
    return Group(_choice_text(result), "", _class_table(result), "", _change_table(result))


def _choice_text(result: dict[str, Any]) -> str:
    members = result["classes"][0]["members"]
    alike = f", one of {len(members)} people who cannot be distinguished by what was seen" if len(members) > 1 else ""
    who = f"{members[0]}{alike}"
    if result["lead"] is None:
        return f"{result['policy']} would survey {who}: there is no other choice"
    return f"{result['policy']} would survey {who}: its value is {result['lead']:.4f} ahead of the next"


def _class_table(result: dict[str, Any]) -> "Table":
    rows = [
        {
            "rank": row["rank"],
            "value": f"{row['value']:.4f}",
            "alike": len(row["members"]),
            "contacts": row["contacts"],
            "who": _listed(row["members"]),
            "named by": _listed(row["named_by"]),
            "their contacts": _listed(row["namer_degrees"]),
        }
        for row in result["classes"]
    ]
    return table("Whom it could survey", list(rows[0]), rows, right=("value",), title_justify="left")


def _listed(items: list[Any]) -> str:
    more = len(items) - SHOWN_MEMBERS
    return ", ".join(map(str, items[:SHOWN_MEMBERS])) + (f" and {more} more" if more > 0 else "") or "–"


def _change_table(result: dict[str, Any]) -> "Table":
    """What the choice rests on, by how far it moves the lead, then what would put others first."""
    ahead = "value ahead"

    def moved(row: dict[str, Any]) -> float:
        return 0.0 if row["lead"] is None or result["lead"] is None else abs(float(row["lead"] - result["lead"]))

    changes = sorted(result["changes"], key=moved, reverse=True)
    own = [row for row in changes if row["about"] == "chosen"][:SHOWN_CHANGES]
    others = [row for row in changes if row["about"] == "rival" and row["changed"]][:SHOWN_CHANGES]
    rows = [
        {
            "if": row["if"],
            ahead: "–" if row["lead"] is None else f"{row['lead']:.4f}",
            "it would survey": (_listed(row["choice"]) if row["choice"] else "one of the people so named")
            if row["changed"]
            else "the same",
        }
        for row in own + others
    ]
    turned = f"{sum(row['changed'] for row in changes)} of {len(changes)} changes tried would change the choice"
    look = {"title_justify": "left", "caption": turned, "caption_justify": "left"}
    made = table("What it would do if …", ["if", ahead, "it would survey"], rows, right=(ahead,), **look)
    if own:
        made.rows[len(own) - 1].end_section = True
    return made
