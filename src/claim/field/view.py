"""A study in plain data: for the command line, for pages, for anything that speaks JSON."""

from typing import Any

from claim.field.advice.leaders import LeaderAdvice, LeaderSuggestion
from claim.field.advice.reasons import Reason
from claim.field.advice.recommend import Advice
from claim.field.store.session import View
from claim.field.study.events import as_data
from claim.field.study.study import Person


def overview(view: View) -> dict[str, Any]:
    """Where the study stands."""
    study = view.study
    states = [person.state for person in study.people.values() if person.known]
    return {
        "study": study.state.study,
        "title": study.setup.title,
        "people": len(states),
        "ties": len(study.ties),
        "states": {state: states.count(state) for state in dict.fromkeys(states)},
        "surveys_spent": study.spent,
        "surveys_left": study.left,
        "events": study.position,
        "head": study.head,
        "closed": study.state.closed,
    }


def person_row(view: View, person: Person) -> dict[str, Any]:
    """One person, by name; for the team's own screen only."""
    return {
        "code": person.code,
        "name": view.name(person.code),
        "state": person.state,
        "consent": person.consent,
        "is_start": person.is_start,
        "first_named_by": person.first_named_by,
        "times_named": person.times_named,
        "contacts": list(person.contacts),
        "leader": person.leader.answer if person.leader else None,
    }


def people(view: View) -> list[dict[str, Any]]:
    """Everybody who is part of the study, in the order of discovery."""
    return [person_row(view, person) for person in view.study.people.values() if person.known]


def advice(view: View, given: Advice) -> dict[str, Any]:
    """A recommendation with its reasons in English."""
    ranking = [
        {
            "rank": rank,
            "person": each.person,
            "name": view.name(each.person),
            "recommended": rank <= given.count,
            "reasons": _said(view, each.reasons),
        }
        for rank, each in enumerate(given.ranking, 1)
    ]
    return {
        "policy": given.policy,
        "seed": given.seed,
        "step": given.step,
        "ranking": ranking,
        "notes": _said(view, given.notes),
    }


def leaders(view: View, given: LeaderAdvice) -> dict[str, Any]:
    """Leaders and replacements with their reasons in English."""
    return {
        "leaders": [_leader(view, each) for each in given.leaders],
        "replacements": [_leader(view, each) for each in given.replacements],
        "reach": given.reach,
        "attendance": given.attendance,
        "p": given.p,
        "known": given.known,
    }


def history(view: View) -> list[dict[str, Any]]:
    """Every event, as codes, with whether it still counts."""
    return [
        {
            "number": event.seq,
            "at": event.at,
            "type": event.type,
            "batch": event.batch,
            "undone": event.seq in view.study.undone,
            "body": as_data(event.body),
        }
        for event in view.study.log
    ]


def _leader(view: View, each: LeaderSuggestion) -> dict[str, Any]:
    name = view.name(each.person)
    return {"person": each.person, "name": name, "adds": each.adds, "reasons": _said(view, each.reasons)}


def _said(view: View, reasons: tuple[Reason, ...]) -> list[str]:
    return [reason.said(view.name) for reason in reasons]
