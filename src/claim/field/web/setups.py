"""The settings of a study, from a form and for a form."""

from dataclasses import replace
from typing import Any

from claim.errors import InputError
from claim.field.names import clean
from claim.field.rules import offered
from claim.field.setup import DEFAULT_POLICY, Setup
from claim.field.web.forms import Form
from claim.field.web.words import Words


def setup_from(form: Form, before: Setup | None = None) -> Setup:
    """The settings a form asks for; a changed consent text gets the next version by itself."""
    base = before or Setup("-")
    made = replace(
        base,
        title=clean(form["title"]),
        budget=_number(form, "budget", base.budget),
        leaders=_number(form, "leaders", base.leaders),
        question=_text(form["question"]) or base.question,
        size_low=form.whole("size_low"),
        size_high=form.whole("size_high"),
        consent_text=_text(form["consent_text"]),
        refusal_rule=form["refusal_rule"] or base.refusal_rule,  # type: ignore[arg-type]  # checked by Setup
        retention=form["retention"].strip() or None,
        p=_share(form["p"], base.p),
        policy=form["policy"] or base.policy,
        selector=form["selector"] or base.selector,  # type: ignore[arg-type]  # checked by Setup
        attendance=_hundredth(form, base.attendance),
    )
    if before is not None and made.consent_text != before.consent_text:
        return replace(made, consent_version=_next(before.consent_version))
    return made


def values_of(setup: Setup) -> dict[str, Any]:
    """The settings as fields of a form; of a hundred leaders so many come."""
    values = {name: "" if value is None else value for name, value in vars(setup).items()}
    return values | {"attendance": _in_hundred(setup.attendance)}


def rules_to_choose(words: Words, present: str) -> list[tuple[str, str]]:
    """The rules that say whom to survey next, with what they are called; that of the study is among them."""
    names = dict.fromkeys((*offered(), present))
    return [(name, _called(words, name)) for name in names if name]


def _called(words: Words, name: str) -> str:
    variant, _, family = name.partition(":")
    if family and f"policy.{variant}.family" in words:
        return words(f"policy.{variant}.family", family=family)
    called = words(f"policy.{name}") if f"policy.{name}" in words else name
    return words("policy.recommended", rule=called) if name == DEFAULT_POLICY else called


def _next(version: str) -> str:
    return str(int(version) + 1) if version.isdigit() and len(version) < 9 else f"{version[:50]}+"


def _number(form: Form, name: str, default: int) -> int:
    given = form.whole(name)
    return default if given is None else given


def _hundredth(form: Form, default: float) -> float:
    given = form.whole("attendance")
    return default if given in (None, _in_hundred(default)) else given / 100


def _in_hundred(share: float) -> int:
    return round(100 * share)


def _share(text: str, default: float) -> float:
    if not text.strip():
        return default
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise InputError(f"a number between 0 and 1 is needed, not {text[:20]!r}") from None


def _text(text: str) -> str:
    """Lines of text without control and direction characters."""
    return "\n".join(clean(line) for line in text.strip().split("\n"))
