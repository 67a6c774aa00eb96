"""The network as a picture, and the same as a table."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from claim.field.web import cached
from claim.field.web.context import InStudy
from claim.field.web.picture import picture_of

router = APIRouter(prefix="/s/{study}")
LABELLED = 150  # with more people, names in the picture only cover each other


@router.get("/network")
def network(here: InStudy) -> HTMLResponse:
    """Picture and table of the known network."""
    picture = picture_of(here.study, cached.places(here.view))
    contacts: dict[str, list[str]] = {}
    for tie in here.study.ties:
        contacts.setdefault(tie.one, []).append(tie.other)
        contacts.setdefault(tie.other, []).append(tie.one)
    return here.page("network.html", picture=picture, contacts=contacts, labelled=len(picture.dots) <= LABELLED)
