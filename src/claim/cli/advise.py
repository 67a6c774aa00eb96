"""``claim advise``: whom to survey next, for teams that keep their own files."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from claim.cli.common import JsonOption, SeedOption, listed, loaded, say, show, table
from claim.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from claim.advice import Advice

SurveyedOption = Annotated[str, typer.Option(metavar="A,B", help="People surveyed, in order; of real people, codes.")]
SurveyedFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="People surveyed, one per line.")]
RefusedOption = Annotated[str, typer.Option(metavar="A,B", help="People who refused; they are not recommended.")]
RefusedFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="People who refused, one per line.")]
StartOption = Annotated[str, typer.Option(metavar="A,B", help="People known at the outset (else the first surveyed).")]
StartFileOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="The people of --start, one per line.")]
BudgetOption = Annotated[int, typer.Option(min=0, help="Surveys of the whole study, for shipped trained policies.")]


class Lists(NamedTuple):
    """Labels of the people who were surveyed, in order, who refused, and who were known at the outset."""

    surveyed: list[str]
    refused: list[str]
    start: list[str]

    @classmethod
    def given(cls, *options: str | None) -> "Lists":
        """Read --surveyed, --surveyed-file, --refused and so on; at most one file is standard input."""
        values, files = options[::2], options[1::2]
        if files.count("-") > 1:
            raise InputError("standard input can be read for one list only: give the others as files")
        return cls(*(listed(f"--{name}", *each) for name, *each in zip(cls._fields, values, files, strict=True)))


def advise(
    known: Annotated[str, typer.Option(metavar="FILE", help="The ties named so far, one per line.")],
    surveyed: SurveyedOption = "",
    surveyed_file: SurveyedFileOption = None,
    refused: RefusedOption = "",
    refused_file: RefusedFileOption = None,
    start: StartOption = "",
    start_file: StartFileOption = None,
    policy: Annotated[str, typer.Option(help="Rule or trained policy; claim evaluate compares them.")] = "scout",
    budget: BudgetOption = 5,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Number of people to list.")] = 10,
    seed: SeedOption = 0,
    json: JsonOption = None,
) -> None:
    """Rank whom to survey next.

    Example: [bold]claim advise --known ties.csv --surveyed P1,P2 --policy scout[/bold]
    """
    from claim.advice import advise as rank

    lists = Lists.given(surveyed, surveyed_file, refused, refused_file, start, start_file)
    network = loaded(known)
    if network.directed:
        say(f"{known}: directed contacts are taken to go both ways")
    advice = rank(network, *lists, policy, budget, count, seed)
    show(advice.to_dict(), _shown(advice), json)


def _shown(advice: "Advice") -> "RenderableType":
    from rich.console import Group

    from claim.registry import is_learned

    if not advice.rows:
        return "no people are left to survey: all people named so far were surveyed or refused"
    title = f"Whom to survey next ({advice.policy}; {advice.surveyed} surveyed, {advice.people} known)"
    shown = table(title, ["rank", "person", "why"], [{**row, "why": row["reasons"]} for row in advice.rows])
    why = f"claim explain shows why {advice.policy} ranks them so." if is_learned(advice.policy) else None
    parts: list[RenderableType] = [part for part in (advice.note, shown, why) if part is not None]
    return Group(*parts)
