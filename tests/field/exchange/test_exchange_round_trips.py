"""What goes out comes in again as the same network, and goes out without names."""

import csv
import io
import zipfile
from dataclasses import replace

import networkx as nx
import pytest
from exchange_bundles import bundles
from exchange_files import again, read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claim.errors import InputError
from claim.field.exchange import EXPORTS, export, export_zip
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord
from claim.io.text import (  # fmt: skip
    FORMULA_STARTS,
    Source,
    csv_cell,
    escaped,
    escaped_list,
    unescaped,
    unescaped_list,
    unguarded,
)

calm = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def without_places(bundle: Bundle) -> Bundle:
    return replace(bundle, people=tuple(replace(person, x=None, y=None) for person in bundle.people))


def both_places(bundle: Bundle) -> Bundle:
    """GEXF has a position or none: half of one is not kept."""
    halves = (replace(person, x=None, y=None) if None in (person.x, person.y) else person for person in bundle.people)
    return replace(bundle, people=tuple(halves))


@calm
@given(bundles())
def test_own_tables(bundle: Bundle) -> None:
    assert again(export(bundle, "csv")) == without_places(bundle)


@calm
@given(bundles())
def test_own_tables_in_a_zip_file(bundle: Bundle) -> None:
    packed = export_zip(bundle, "csv")
    assert read(Source("study-csv.zip", packed)) == without_places(bundle)


@calm
@given(bundles())
def test_gephi_tables(bundle: Bundle) -> None:
    assert again(export(bundle, "gephi-csv")) == replace(without_places(bundle), surveys=())


@calm
@given(bundles())
def test_graphml(bundle: Bundle) -> None:
    assert again(export(bundle, "graphml")) == replace(bundle, surveys=())


@calm
@given(bundles())
def test_gexf(bundle: Bundle) -> None:
    assert again(export(bundle, "gexf")) == replace(both_places(bundle), surveys=())


@calm
@given(bundles())
def test_rds_keeps_recruitment(bundle: Bundle) -> None:
    surveyed = {person.code: person for person in bundle.people if person.status == "surveyed"}
    if not surveyed:
        return
    back = again(export(bundle, "rds"))
    assert [(each.code, each.surveyed_at) for each in back.people] == [(c, p.surveyed_at) for c, p in surveyed.items()]
    for person in back.people:
        recruiter = surveyed[person.code].first_named_by
        drawn = surveyed[person.code].is_start or surveyed[person.code].is_new
        recruited = recruiter in surveyed.keys() - {person.code} and not drawn
        assert (person.first_named_by == recruiter) if recruited else person.is_start


@calm
@given(bundles(), st.sampled_from(["graphml", "gexf"]))
def test_networkx_reads_the_graphs(bundle: Bundle, format: str) -> None:
    content = export(bundle, format)[f"network.{format}"]
    reader = nx.read_graphml if format == "graphml" else nx.read_gexf
    graph = reader(io.BytesIO(content))
    assert type(graph) is nx.Graph
    codes = [escaped(person.code) for person in bundle.people]
    assert list(graph.nodes) == codes
    assert [graph.nodes[code]["label"] for code in codes] == codes
    assert {frozenset(pair): data["weight"] for *pair, data in graph.edges(data=True)} == {
        frozenset((escaped(tie.source), escaped(tie.target))): tie.weight for tie in bundle.ties
    }


NAMED = Bundle(
    (
        PersonRecord(
            "P1", "Zoe Secret", "surveyed", "1", surveyed_at="2026-03-01", n_contacts=1, is_start=True, x=0.5, y=2.0
        ),
        PersonRecord("P2", "=cmd|' /C calc'!A0", first_named_by="P1", times_named=1),
    ),
    (TieRecord("P1", "P2", named_by=("P1",)),),
    (SurveyRecord("S1", "P1", "2026-03-01", "2026-03-01", "answered", 1, True, None, "change", 7),),
)


def test_headers_and_line_ends_are_those_of_the_notes() -> None:
    people, ties, surveys = (content.decode() for content in export(NAMED, "csv").values())
    assert people.startswith(
        "person_code,status,consent,first_named_by,surveyed_at,n_contacts,times_named,is_start,leader_rank,"
        "is_new,marked,leader,sessions_attended,sessions_missed,follow_up,group\r\n"
    )
    assert ties == "Source,Target,Type,Weight,named_by\r\nP1,P2,Undirected,1,P1\r\n"
    assert surveys == (
        "survey_id,person_code,started_at,ended_at,outcome,n_named,recommended,override_reason,policy,seed\r\n"
        "S1,P1,2026-03-01,2026-03-01,answered,1,true,,change,7\r\n"
    )
    nodes = export(NAMED, "gephi-csv")["nodes.csv"].decode()
    assert nodes.startswith("Id,Label,status,")


def test_graphml_is_as_gephi_wants_it() -> None:
    text = export(NAMED, "graphml")["network.graphml"].decode()
    for key, kind in (("label", "node"), ("x", "node"), ("y", "node"), ("weight", "edge")):
        assert f'<key id="{key}" for="{kind}" attr.name="{key}"' in text
    assert '<graph edgedefault="undirected">' in text
    assert '<data key="x">0.5</data>' in text


@pytest.mark.parametrize("format", list(EXPORTS))
def test_no_export_has_a_name_in_it(format: str) -> None:
    packed = export_zip(NAMED, format)
    assert packed == export_zip(NAMED, format)  # the same study gives the same bytes
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert b"Secret" not in content
            assert b"calc" not in content
            assert name.isascii()


def test_rds_says_that_it_is_not_respondent_driven() -> None:
    recruits, note = export(NAMED, "rds").values()
    assert b"NOT a respondent-driven sample" in note
    assert recruits == b"id,recruiter.id,network.size,time\r\nP1,start,1,2026-03-01\r\n"


def test_unknown_export_and_broken_bundles_are_refused() -> None:
    with pytest.raises(InputError, match="no export"):
        export(NAMED, "../../etc/passwd")
    with pytest.raises(InputError, match="no person's code"):
        export(Bundle(ties=(TieRecord("a", "b"),)), "csv")
    with pytest.raises(InputError, match="not a contact"):
        export(Bundle((PersonRecord("a", marked="b"), PersonRecord("b"))), "csv")


def test_graphs_say_who_was_new_and_whom_they_marked() -> None:
    zoe, other = NAMED.people
    marked = replace(NAMED, people=(replace(zoe, is_new=True, marked="P2"), other))
    for format, place in (("graphml", '<data key="{}">{}</data>'), ("gexf", '<attvalue for="{}" value="{}" />')):
        content = export(marked, format)[f"network.{format}"].decode()
        assert place.format("marked", "P2") in content
        assert place.format("is_new", "true") in content


# Guards and escapes --------------------------------------------------------------------------------------------------


@calm
@given(st.text(st.characters()))
def test_guards_and_escapes_come_off_exactly(text: str) -> None:
    cell = csv_cell(text)
    assert unescaped(unguarded(cell)) == text
    assert not cell.startswith(tuple(FORMULA_STARTS))
    assert unescaped(escaped(text)) == text
    assert escaped(text).isprintable() or not any(
        ord(character) < 32 or character == "\u202e" for character in escaped(text)
    )
    escaped(text).encode()  # no half characters left


@calm
@given(st.lists(st.text(st.characters(), min_size=1), max_size=4))
def test_lists_of_codes_come_back(codes: list[str]) -> None:
    assert unescaped_list(escaped_list(tuple(codes))) == tuple(codes)


@pytest.mark.parametrize("start", [*"=+-@\t\r\n'"])
def test_dangerous_cells_are_guarded_in_the_file(start: str) -> None:
    survey = replace(NAMED.surveys[0], override_reason=f"{start}HYPERLINK(1)")
    bundle = replace(NAMED, surveys=(survey,)).without_names()
    files = export(bundle, "csv")
    (row,) = csv.DictReader(io.StringIO(files["surveys.csv"].decode(), newline=""))
    assert row["override_reason"] == f"'{start}HYPERLINK(1)"
    assert again(files) == without_places(bundle)


def test_a_foreign_apostrophe_stays() -> None:
    assert read(Source("roster.csv", b"name\n't Hooft\n")).people[0].name == "'t Hooft"
