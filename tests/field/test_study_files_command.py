"""``claim study export``, ``import`` and ``names``."""

import json
import zipfile

import pytest

from conftest import EASY, PASSPHRASE

pytest.importorskip("sqlcipher3", reason="needs SQLCipher: pip install 'claim[app]'")
pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install 'claim[app]'")

from typer.testing import CliRunner

from claim.cli.study import app
from claim.errors import ClaimError
from claim.field import cipher
from claim.field.library import Library


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Runs a command in a directory of its own; gives its JSON."""
    monkeypatch.setenv("CLAIM_STUDIES", str(tmp_path / "studies"))
    monkeypatch.setenv("CLAIM_PASSPHRASE", PASSPHRASE)
    monkeypatch.setenv("CLAIM_KEY_PASSPHRASE", "a key of its own")
    monkeypatch.setattr(cipher, "WORK", EASY)
    monkeypatch.setattr(Library.__init__, "__defaults__", (None, EASY))

    def run(*words: str):
        result = CliRunner().invoke(app, [*words, "--json", "-"])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    run("create", "--title", "Centre")
    run("add", "--start", "Ana López", "Ben")
    run("answer", "--consent", "Ana López", "Ben", "Carla")
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
    assert study("names", str(key))["names"] == {"P1": "Ana López", "P2": "Ben", "P3": "Carla"}
    assert study("history")["events"][-1]["body"]["with_names"] is True
    monkeypatch.setenv("CLAIM_KEY_PASSPHRASE", "some other words")
    monkeypatch.setattr("claim.field.exchange.namekey._GATE._sleep", lambda seconds: None)
    with pytest.raises(ClaimError, match="wrong passphrase"):
        study("names", str(key))


def test_files_are_looked_at_before_they_are_taken(study, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("name\nAna Lopez\nDan\n", encoding="utf-8")
    looked = study("import", str(roster))
    assert (looked["people"], looked["taken"], len(looked["alike"])) == (2, False, 1)
    assert study("people")["people"] == 3
    same = f"{looked['alike'][0]['in_file']}=P1"
    assert len(study("import", str(roster), "--same", same, "--take")["codes"]) == 2
    assert study("people")["people"] == 4
    study("undo", str(study("history")["events"][-1]["number"]))
    assert study("people")["people"] == 3


def test_what_goes_out_comes_in_again(study, tmp_path):
    study("export", str(tmp_path / "out.zip"))
    study("create", "--title", "Another")
    found = [each["study"] for each in study("list")["studies"]]
    empty = next(each for each in found if study("people", "--study", each)["people"] == 0)
    study("import", str(tmp_path / "out.zip"), "--take", "--study", empty)
    assert study("people", "--study", empty)["ties"] == 2


def test_mistakes_are_one_line(study, tmp_path):
    (tmp_path / "x.csv").write_text("name\nAna\n")
    for words, problem in (
        (("export", str(tmp_path / "x"), "--format", "xls"), "no export"),
        (("export", str(tmp_path / "none" / "x")), "cannot be written"),
        (("import", str(tmp_path / "x.csv"), "--same", "P1"), "one=other"),
        (("import", str(tmp_path / "none.csv")), "none.csv"),
        (("names", str(tmp_path / "none")), "no such file"),
    ):
        with pytest.raises(ClaimError, match=problem):
            study(*words)


def test_every_verb_that_changes_something_speaks_json(study, tmp_path):
    study("answer", "--consent", "Ben", "Karla")
    assert study("merge", "Carla", "Karla") == {"keep": "P3", "other": "P4"}
    assert study("unmerge", "P4") == {"other": "P4"}
    assert study("refuse", "Carla") == {"person": "P3", "outcome": "refused"}
    assert study("no-show", "Karla", "--not-found")["outcome"] == "not found"
    events = study("history")
    saved = study("backup", str(tmp_path / "copy"))
    assert saved == {"backup": str(tmp_path / "copy"), "events": len(events["events"]), "head": events["head"]}
