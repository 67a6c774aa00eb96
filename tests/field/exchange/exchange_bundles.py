"""Bundles of every kind, for hypothesis."""

from dataclasses import replace

from hypothesis import strategies as st

from claim.field.exchange.records import (
    FOLLOW_UP_ANSWERS,
    LEADER_STATES,
    OUTCOMES,
    STATUSES,
    Bundle,
    PersonRecord,
    SurveyRecord,
    TieRecord,
)
from claim.field.study.names import clean

NASTY = st.sampled_from(
    ["=1+1", "+1", "-1", "@SUM(A1)", "'", "''", "'=x", "\\u{41}", "\\u{5c}", "\\u{202e}", "a|b", "|", "</script>",
     "\u202eevil", "]]>", "&amp;", "a,b;c", '"quoted"', "007", "1e5", "true", "ÀÉ̈", "名前", "x" * 200, "'t Hooft",
     "\uff1d1", "start", "\ufeffmark", "a\u2028b", "\U0001f600", "\ufffe"]
)  # fmt: skip
LETTERS = st.characters(exclude_categories=["Cc", "Cs"])
CODES = NASTY | st.text(LETTERS, min_size=1, max_size=8).filter(lambda text: text == text.strip())
TEXTS = st.none() | NASTY | st.sampled_from(["\ttab", "\r", "\nnew", " blank ", "\x01", "\x00", "a\r\nb"]) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20
)  # fmt: skip
TIMES = st.none() | st.datetimes().map(lambda moment: moment.isoformat())
COUNTS = st.none() | st.integers(0, 10**6)
NUMBERS = st.none() | st.floats(-1e9, 1e9, allow_nan=False)


def _marks(code: str, ties: tuple[TieRecord, ...]) -> st.SearchStrategy[str | None]:
    """A contact, or none."""
    pairs = [{tie.source, tie.target} for tie in ties]
    return st.sampled_from([None, *(other for pair in pairs if code in pair for other in pair - {code})])


GROUPS = TEXTS.map(lambda text: clean(text or "")[:100].strip() or None)
LEADERS = st.just({}) | st.fixed_dictionaries(
    {"leader": st.sampled_from(LEADER_STATES)},
    optional={name: st.integers(0, 3) for name in ("sessions_attended", "sessions_missed")},
)


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    codes = draw(st.lists(CODES, min_size=1, max_size=6, unique=True))
    anybody = st.sampled_from(codes)
    people = tuple(
        PersonRecord(
            code,
            status=draw(st.sampled_from(STATUSES)),
            consent=draw(st.none() | NASTY),
            first_named_by=draw(st.none() | anybody),
            surveyed_at=draw(TIMES),
            n_contacts=draw(COUNTS),
            times_named=draw(COUNTS),
            is_start=draw(st.booleans()),
            is_new=draw(st.booleans()),
            leader_rank=draw(COUNTS),
            **draw(LEADERS),
            follow_up=draw(st.sampled_from([None, *FOLLOW_UP_ANSWERS])),
            group=draw(GROUPS),
            x=draw(NUMBERS),
            y=draw(NUMBERS),
        )
        for code in codes
    )
    two = st.tuples(anybody, anybody).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(two, max_size=6, unique_by=frozenset)) if len(codes) > 1 else []
    ties = tuple(
        TieRecord(
            one, other,
            weight=draw(st.floats(1e-6, 1e6)),
            named_by=tuple(draw(st.lists(anybody, max_size=3, unique=True))),
        )
        for one, other in pairs
    )  # fmt: skip
    people = tuple(replace(person, marked=draw(_marks(person.code, ties))) for person in people)
    ids = draw(st.lists(NASTY, max_size=3, unique=True))
    surveys = tuple(
        SurveyRecord(
            survey_id,
            draw(anybody),
            draw(TIMES),
            draw(TIMES),
            draw(st.none() | st.sampled_from(OUTCOMES)),
            draw(COUNTS),
            draw(st.none() | st.booleans()),
            draw(TEXTS),
            draw(st.none() | NASTY),
            draw(st.none() | st.integers(-(2**63), 2**63)),
        )
        for survey_id in ids
    )
    return Bundle(people, ties, surveys)
