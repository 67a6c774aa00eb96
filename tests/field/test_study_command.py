"""``claim study`` from the first person to the leaders."""

import json

import pytest

from conftest import EASY, PASSPHRASE

pytest.importorskip("sqlcipher3", reason="needs SQLCipher: pip install 'claim[app]'")
pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: pip install 'claim[app]'")

from typer.testing import CliRunner

from claim.cli.study import app
from claim.errors import ClaimError
from claim.field import cipher
from claim.field.library import Library

FOLLOWING = ("--policy", "degree+inverse")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Runs a command in a directory of its own; gives its JSON, or its words."""
    monkeypatch.setenv("CLAIM_STUDIES", str(tmp_path / "studies"))
    monkeypatch.setenv("CLAIM_PASSPHRASE", PASSPHRASE)
    monkeypatch.setattr(cipher, "WORK", EASY)
    monkeypatch.setattr(Library.__init__, "__defaults__", (None, EASY))

    def run(*words: str):
        result = CliRunner().invoke(app, list(words))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout) if "--json" in words else result.output

    return run


def test_a_study_from_the_first_person_to_the_leaders(study, tmp_path, monkeypatch):
    made = study("create", "--title", "Centre", "--budget", "5", "--leaders", "2", *FOLLOWING, "--json", "-")
    assert made["surveys_left"] == 5
    assert study("add", "--start", "Ana López", "Ben", "--json", "-") == {"people": ["P1", "P2"]}
    assert [row["name"] for row in study("next", "--json", "-")["ranking"]] == ["Ana López", "Ben"]
    assert study("answer", "--consent", "lopez ana", "Ben", "Carla", "Dan Ortega", "--json", "-")["new"] == ["P3", "P4"]
    study("answer", "--consent", "ben", "carla", "Eva", "Dann Ortega")
    advice = study("next", "--json", "-")
    assert advice["ranking"][0]["name"] == "Carla"
    assert advice["ranking"][0]["reasons"][0] == "named by Ana López and Ben"
    pairs = study("duplicates", "--json", "-")["pairs"]
    assert [(pair["name"], pair["other_name"]) for pair in pairs] == [("Dan Ortega", "Dann Ortega")]
    study("merge", "Dan Ortega", "Dann Ortega")
    study("refuse", "Dan Ortega")
    study("no-show", "Eva")
    study("answer", "--consent", "--nobody", "Carla")
    people = {row["name"]: row["state"] for row in study("people", "--json", "-")["rows"]}
    assert people == {
        "Ana López": "surveyed", "Ben": "surveyed", "Carla": "surveyed", "Dan Ortega": "refused", "Eva": "no-show"
    }  # fmt: skip
    chosen = study("leaders", "--include", "Eva", "--attendance", "0.8", "--json", "-")
    assert chosen["leaders"][0]["name"] == "Eva"
    study("leader", "Eva", "offered")
    history = study("history", "--json", "-")["events"]
    assert "Ana" not in json.dumps(history)
    assert study("undo", str(history[-1]["number"]), "--json", "-")["undone"] == [history[-1]["number"]]
    study("unmerge", "P6")
    assert study("withdraw", "--yes", "Ben", "--json", "-")["erased"][0] == "P2"
    verified = study("verify", "--json", "-")
    assert verified["erased"] >= 1
    study("backup", str(tmp_path / "copy"))
    monkeypatch.setenv("CLAIM_NEW_PASSPHRASE", "another good one")
    study("passphrase")
    with pytest.raises(ClaimError, match="wrong passphrase"):
        study("verify")
    monkeypatch.setenv("CLAIM_BACKUP_PASSPHRASE", PASSPHRASE)
    monkeypatch.setenv("CLAIM_PASSPHRASE", "another good one")
    study("restore", "--replace", "--yes", str(tmp_path / "copy"))
    assert study("verify", "--head", verified["head"], "--json", "-")["after_head"] == 1
    assert "closed" in study("close", "--yes")
    assert study("list", "--json", "-") == {"studies": []}


def test_errors_are_one_line(study, monkeypatch):
    study("create", "--title", "Centre")
    study("add", "Ana", "Anna-Maria")
    for words, problem in (
        (("answer", "--consent", "Zoe", "Ben"), "nobody is called"),
        (("answer", "--consent", "Ana"), "--nobody"),
        (("answer", "Ana", "Ben"), "consent"),
        (("answer", "--consent", "Ana", "Ana"), "own contact"),
        (("leader", "Ana", "maybe"), "none of"),
        (("undo", "1"), "cannot be undone"),
        (("create", "--title", " "), "title"),
        (("people", "--study", "nope"), "no study"),
    ):
        with pytest.raises(ClaimError, match=problem) as caught:
            study(*words)
        assert "\n" not in str(caught.value)
    monkeypatch.delenv("CLAIM_PASSPHRASE")
    with pytest.raises(ClaimError, match="CLAIM_PASSPHRASE"):
        study("people")


def test_markup_in_names_is_plain_text(study):
    study("create", "--title", "[bold]Centre[/bold]")
    study("add", "--start", "[red]x[/red]", "</script>", "--", "-rf")
    shown = study("people")
    assert "[red]x[/red]" in shown
    assert "[bold]Centre[/bold]" in shown
    assert "[red]x[/red]" in study("next", "-n", "3")


def test_contacts_are_found_by_code_and_counted_once_whatever_their_case(study):
    study("create", "--title", "Centre", *FOLLOWING)
    study("add", "--start", "Ana", "Ben", "Carla")
    assert study("answer", "--consent", "Ana", "p3", "P2", "--json", "-")["new"] == []
    assert study("answer", "--consent", "Ben", "Zed", "zed", "ZED", "--json", "-")["new"] == ["P4"]
    assert {row["name"]: row["times_named"] for row in study("people", "--json", "-")["rows"]}["Carla"] == 1


def test_no_name_key_is_left_that_the_log_does_not_know_of(study, tmp_path, monkeypatch):
    study("create", "--title", "Centre", *FOLLOWING)
    study("add", "--start", "Ana")
    monkeypatch.setenv("CLAIM_KEY_PASSPHRASE", "another good sentence")

    def full(*_):
        raise ClaimError("nothing was saved: the disk is full")

    monkeypatch.setattr("claim.field.commands.exported", full)
    with pytest.raises(ClaimError, match="disk is full"):
        study("export", "--names", str(tmp_path / "names.key"))
    assert not (tmp_path / "names.key").exists()
