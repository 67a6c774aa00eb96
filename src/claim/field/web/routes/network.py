"""The network as a picture, and the same as a table."""

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup, escape

from claim.field.web import cached
from claim.field.web.context import Here, InStudy, short
from claim.field.web.picture import picture_of

router = APIRouter(prefix="/s/{study}")
LABELLED = 150  # with more people, names in the picture only cover each other


@router.get("/network")
def network(here: InStudy) -> Response:
    """Picture and table of the known network."""
    picture = picture_of(here.study, cached.places(here.view))
    contacts = _contacts(here, [dot.code for dot in picture.dots])
    return here.page("network.html", picture=picture, contacts=contacts, labelled=len(picture.dots) <= LABELLED)


def _contacts(here: Here, people: list[str]) -> dict[str, Markup]:
    """The names of everybody's contacts; each name is escaped once, however often it comes."""
    names = {code: f"<bdi>{escape(short(here.view.name(code)))}</bdi>" for code in people}
    found: dict[str, list[str]] = {code: [] for code in people}
    for tie in here.study.ties:
        if tie.one in found and tie.other in found:
            found[tie.one].append(names[tie.other])
            found[tie.other].append(names[tie.one])
    return {code: Markup(", ".join(each)) for code, each in found.items()}
