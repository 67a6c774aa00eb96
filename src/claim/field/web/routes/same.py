"""The same person? Pairs of similar names to merge or keep apart, and merges to take back."""

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import InputError
from claim.field import commands
from claim.field.draft import Draft
from claim.field.web import cached
from claim.field.web.context import InStudy
from claim.field.web.forms import Sent

router = APIRouter(prefix="/s/{study}")
MOST_SHOWN = 50


@router.get("/same")
def queue(here: InStudy) -> Response:
    """The pairs to look at, most similar first, and the merges made so far."""
    pairs = cached.duplicates(here.view)
    merged = [(other, keep) for other, keep in here.study.state.merged.items() if not here.study.person(keep).gone]
    texts, people = here.view.texts, here.study.state.people
    return here.page(
        "same.html",
        pairs=[(one, match.code) for one, match in pairs[:MOST_SHOWN]],
        more=max(0, len(pairs) - MOST_SHOWN),
        merged=[(other, texts.get(people[other].name, other), keep) for other, keep in merged],
        everybody=[person for person in here.study.people.values() if person.known],
    )


@router.post("/same")
def settle(form: Sent, here: InStudy) -> Response:
    """Merge, keep apart, or un-merge."""
    action, one, other = form["action"], form["one"].strip().upper(), form["other"].strip().upper()

    def command(draft: Draft) -> None:
        if action == "merge":
            commands.merge(draft, one, other)
        elif action == "apart":
            commands.keep_apart(draft, one, other)
        elif action == "unmerge":
            commands.unmerge(draft, other)
        else:
            raise InputError(f"there is no action {action[:20]!r}")

    here.run(form, command)
    return here.go("/same", {"merge": "merged", "apart": "apart", "unmerge": "unmerged"}[action])
