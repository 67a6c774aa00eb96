"""``claim study export``, ``import`` and ``name-key``."""

import json
import zipfile
from collections.abc import Sequence
from importlib import import_module

import pytest
from paper import EASY, PASSPHRASE

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from typer.testing import CliRunner

from claim.cli.study import app
from claim.errors import ClaimError
from claim.field.store import cipher
from claim.field.store.library import Library


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Runs a command in a directory of its own, with lines on standard input; gives its JSON."""
    monkeypatch.setenv("CLAIM_STUDIES", str(tmp_path / "studies"))
    monkeypatch.setenv("CLAIM_PASSPHRASE", PASSPHRASE)
    monkeypatch.setenv("CLAIM_KEY_PASSPHRASE", "a key of its own")
    monkeypatch.setattr(cipher, "WORK", EASY)
    monkeypatch.setattr(Library.__init__, "__defaults__", (None, EASY))

    def run(*words: str, lines: Sequence[str] = ()):
        result = CliRunner().invoke(app, [*words, "--json", "-"], input="".join(f"{line}\n" for line in lines))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    run("create", lines=["Centre"])
    run("add", "--start", lines=["Ana López", "Ben"])
    run("answer", "--consent", "P1", lines=["Ben", "Carla"])
    return run


@pytest.mark.parametrize("format", ["csv", "gephi-csv", "graphml", "gexf", "rds"])
def test_what_goes_out_carries_codes_and_is_noted(study, tmp_path, format):
    target = tmp_path / "out.zip"
    head = study("history")["head"]
    assert study("export", str(target), "--format", format)["people"] == 3
    with zipfile.ZipFile(target) as archive:
        assert all("López".encode() not in archive.read(name) for name in archive.namelist())
        assert archive.read("log-head.txt").decode().splitlines()[0] == head
    assert target.stat().st_mode & 0o777 == 0o600
    last = study("history")["events"][-1]
    assert (last["type"], last["body"]["what"], last["body"]["with_names"]) == ("Exported", format, False)


def test_the_name_key_is_an_encrypted_file_of_its_own(study, tmp_path, monkeypatch):
    key = tmp_path / "names.claimkey"
    study("export", str(key), "--names")
    assert "López".encode() not in key.read_bytes()
    assert study("name-key", str(key))["names"] == {"P1": "Ana López", "P2": "Ben", "P3": "Carla"}
    assert study("history")["events"][-1]["body"]["with_names"] is True
    monkeypatch.setenv("CLAIM_KEY_PASSPHRASE", "some other words")
    gate = import_module("claim.field.exchange.export")._GATE
    monkeypatch.setattr(gate, "_sleep", lambda seconds: None)
    with pytest.raises(ClaimError, match="wrong passphrase"):
        study("name-key", str(key))


def test_files_are_looked_at_before_they_are_taken(study, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("name\nAna Lopez\nDan\n", encoding="utf-8")
    looked = study("import", str(roster))
    assert (looked["people"], looked["taken"], len(looked["alike"])) == (2, False, 1)
    assert study("people")["people"] == 3
    same = f"{looked['alike'][0]['in_file']}=P1"
    assert len(study("import", str(roster), "--same", same, "--apply")["codes"]) == 2
    assert study("people")["people"] == 4
    study("undo", str(study("history")["events"][-1]["number"]))
    assert study("people")["people"] == 3


def test_names_of_a_file_are_matched_by_a_file_or_standard_input(study, tmp_path):
    ties = tmp_path / "ties.csv"
    ties.write_text("person,contact\nLópez,Dan\n", encoding="utf-8")
    taken = study("import", str(ties), "--same-file", "-", "--apply", lines=["López=p1"])
    assert taken["codes"] == {"López": "P1", "Dan": "P4"}
    with pytest.raises(ClaimError, match="--same or --same-file, not both"):
        study("import", str(ties), "--same", "new-1=P1", "--same-file", "-", lines=["López=P1"])


@pytest.mark.parametrize("table", ["name,friend1\nDan,Ben; Eva\n", "person,contact\nDan,Ben; Eva\n"])
def test_tables_that_are_not_understood_are_not_taken(study, tmp_path, table):
    (tmp_path / "table.csv").write_text(table)
    assert study("import", str(tmp_path / "table.csv"))["problems"]
    with pytest.raises(ClaimError, match="one contact a line") as caught:
        study("import", str(tmp_path / "table.csv"), "--apply")
    assert "\n" not in str(caught.value)
    assert study("people")["people"] == 3


def test_what_goes_out_comes_in_again(study, tmp_path):
    study("export", str(tmp_path / "out.zip"))
    study("create", lines=["Another"])
    found = [each["study"] for each in study("list")["studies"]]
    empty = next(each for each in found if study("people", "--study", each)["people"] == 0)
    study("import", str(tmp_path / "out.zip"), "--apply", "--study", empty)
    assert study("people", "--study", empty)["ties"] == 2


def test_mistakes_are_one_line(study, tmp_path):
    (tmp_path / "x.csv").write_text("name\nAna\n")
    for words, problem in (
        (("export", str(tmp_path / "x"), "--format", "xls"), "no export"),
        (("export", str(tmp_path / "none" / "x")), "cannot be written"),
        (("import", str(tmp_path / "x.csv"), "--same", "P1"), "one=other"),
        (("import", str(tmp_path / "none.csv")), "none.csv"),
        (("name-key", str(tmp_path / "none")), "no such file"),
    ):
        with pytest.raises(ClaimError, match=problem):
            study(*words)


def test_every_verb_that_changes_something_speaks_json(study, tmp_path):
    study("answer", "--consent", "P2", lines=["Karla"])
    assert study("merge", "P3", "P4") == {"keep": "P3", "other": "P4"}
    assert study("unmerge", "p4") == {"other": "P4"}
    assert study("refuse", "P3") == {"person": "P3", "outcome": "refused"}
    assert study("no-show", "P4", "--not-found")["outcome"] == "not found"
    assert study("leader", "offered", lines=["karla"]) == {"person": "P4", "answer": "offered"}
    events = study("history")
    saved = study("backup", str(tmp_path / "copy"))
    assert saved == {"backup": str(tmp_path / "copy"), "events": len(events["events"]), "head": events["head"]}


def test_the_former_names_of_verbs_and_options_still_work(study, tmp_path):
    roster, key = tmp_path / "roster.csv", tmp_path / "names.claimkey"
    roster.write_text("name\nDan\n")
    assert study("import", str(roster), "--take")["taken"] is True
    assert study("people")["people"] == 4
    study("export", str(key), "--names")
    assert study("names", str(key)) == study("name-key", str(key))
    assert study("close", "--yes")["events"] > 0
    assert study("list") == {"studies": []}


def test_help_shows_the_present_names_only():
    lines = CliRunner().invoke(app, ["--help"], terminal_width=100).output.splitlines()
    verbs = {line.split()[1] for line in lines if line.startswith("│ ")}
    assert {"destroy", "name-key"} <= verbs
    assert not {"close", "names"} & verbs
    options = CliRunner().invoke(app, ["import", "--help"], terminal_width=100).output
    assert "--apply" in options
    assert "--take" not in options


def test_a_file_for_json_that_cannot_be_written_is_refused_before_anything_is_done(study, tmp_path):
    before = study("history")
    result = CliRunner().invoke(app, ["refuse", "P2", "--json", str(tmp_path / "none" / "x.json")])
    assert "there is no folder" in str(result.exception)
    assert study("history") == before
