"""``claim study`` from the first person to the leaders."""

import json
import os
import sys
from collections.abc import Sequence

import pytest
from paper import EASY, PASSPHRASE

pytest.importorskip("sqlcipher3", reason="needs SQLCipher")

from typer.testing import CliRunner

from claim.cli.study import app
from claim.errors import ClaimError
from claim.field.store import cipher
from claim.field.store.library import Library

FOLLOWING = ("--policy", "degree+inverse")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Runs a command in a directory of its own, with lines on standard input; gives its JSON, or its words."""
    monkeypatch.setenv("CLAIM_STUDIES", str(tmp_path / "studies"))
    monkeypatch.setenv("CLAIM_PASSPHRASE", PASSPHRASE)
    monkeypatch.setattr(cipher, "WORK", EASY)
    monkeypatch.setattr(Library.__init__, "__defaults__", (None, EASY))

    def run(*words: str, lines: Sequence[str] = ()):
        result = CliRunner().invoke(app, list(words), input="".join(f"{line}\n" for line in lines))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout) if "--json" in words else result.output

    return run


def test_a_study_from_the_first_person_to_the_leaders(study, tmp_path, monkeypatch):
    made = study("create", "--budget", "5", "--leaders", "2", *FOLLOWING, "--json", "-", lines=["Centre"])
    assert made["surveys_left"] == 5
    assert study("add", "--start", "--json", "-", lines=["Ana López", "", "Ben"]) == {"people": ["P1", "P2"]}
    assert [row["name"] for row in study("next", "--json", "-")["ranking"]] == ["Ana López", "Ben"]
    named = study("answer", "--consent", "--json", "-", lines=["lopez ana", "Ben", "Carla", "Dan Ortega"])
    assert named["new"] == ["P3", "P4"]
    study("answer", "p2", "--consent", lines=["carla", "Eva", "Dann Ortega"])
    advice = study("next", "--json", "-")
    assert advice["ranking"][0]["name"] == "Carla"
    assert advice["ranking"][0]["reasons"][0] == "named by Ana López and Ben"
    pairs = study("duplicates", "--json", "-")["pairs"]
    assert [(pair["name"], pair["other_name"]) for pair in pairs] == [("Dan Ortega", "Dann Ortega")]
    study("merge", lines=["Dan Ortega", "Dann Ortega"])
    study("refuse", "P6")
    study("no-show", lines=["Eva"])
    study("answer", "--consent", "--nobody", lines=["Carla"])
    people = {row["name"]: row["state"] for row in study("people", "--json", "-")["rows"]}
    assert people == {
        "Ana López": "surveyed", "Ben": "surveyed", "Carla": "surveyed", "Dan Ortega": "refused", "Eva": "no-show"
    }  # fmt: skip
    chosen = study("leaders", "--include", "P5", "--attendance", "0.8", "--json", "-")
    assert chosen["leaders"][0]["name"] == "Eva"
    study("leader", "P5", "offered")
    history = study("history", "--json", "-")["events"]
    assert "Ana" not in json.dumps(history)
    assert study("undo", str(history[-1]["number"]), "--json", "-")["undone"] == [history[-1]["number"]]
    study("unmerge", "P6")
    assert study("withdraw", "--yes", "--json", "-", lines=["Ben"])["erased"][0] == "P2"
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
    assert "destroyed" in study("destroy", "--yes")
    assert study("list", "--json", "-") == {"studies": []}


def test_an_open_study_begins_with_nobody(study):
    words = ("create", "--open", "--interviews", "4", "--hub-question", "--leaders", "2")
    assert study(*words, "--json", "-", lines=["Village"])["surveys_left"] == 4
    advice = study("next", "--json", "-")
    assert [(row["person"], row["name"]) for row in advice["ranking"]] == [("new", "a new person")]
    assert "draw a number" in " ".join(study("next").split())
    assert study("answer", "--new", "--consent", "--json", "-", lines=["Ana", "Ben", "Carla"]) == {
        "person": "P1", "named": 2, "new": ["P2", "P3"]
    }  # fmt: skip
    assert study("mark", "P1", "--json", "-", lines=["Carla"]) == {"person": "P1", "marked": "P3"}
    assert study("mark", "P1", "--none", "--json", "-")["marked"] is None
    study("mark", "P1", "P2")
    assert study("refuse", "--new", "--json", "-") == {"person": "P4", "outcome": "refused"}
    assert "claim study mark P2" in study("answer", "P2", "--new", "--consent", "P1")
    rows = {row["code"]: row for row in study("people", "--json", "-")["rows"]}
    assert {code: (row["is_new"], row["marked"]) for code, row in rows.items()} == {
        "P1": (True, "P2"), "P2": (True, None), "P3": (False, None), "P4": (True, None)
    }  # fmt: skip
    history = study("history", "--json", "-")["events"]
    assert sum(event["type"] == "NewPersonMet" for event in history) == 3
    assert "P1 P2" in study("history")
    with pytest.raises(ClaimError, match="P1 was surveyed already"):
        study("refuse", "P1", "--new")


NAMES = ("Ana López", "Ana", "Ben", "Zoe", "Quiet Corner")


@pytest.mark.parametrize(
    "words",
    [
        ("create", "--title", "Quiet Corner"),
        ("add", "Ana López"),
        ("add", "--start", "Ana", "Ben"),
        ("answer", "--consent", "Ana", "Ben"),
        ("answer", "--consent", "P1", "P2", "Ben"),
        ("answer", "--consent", "Ana"),
        ("refuse", "Ana"),
        ("no-show", "Ana"),
        ("withdraw", "--yes", "Ana"),
        ("leader", "Ana", "offered"),
        ("leaders", "--include", "Ana"),
        ("leaders", "--exclude", "P1,Ana"),
        ("merge", "P1", "Ana"),
        ("mark", "P1", "Ana"),
        ("refuse", "--new", "Ana"),
        ("unmerge", "Ana"),
        ("import", "ties.csv", "--same", "Zoe=P1"),
        ("import", "ties.csv", "--same", "new-1=Ana"),
    ],
)
def test_names_are_refused_on_the_command_line(study, words, tmp_path, monkeypatch):
    study("create", lines=["Centre"])
    study("add", lines=["Ana", "Ben"])
    before = study("history", "--json", "-")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ties.csv").write_text("person,contact\nZoe,Ben\n")
    with pytest.raises(ClaimError, match="stay in the shell's history and the process list") as caught:
        study(*words)
    assert "\n" not in str(caught.value)
    assert not any(name in str(caught.value) for name in NAMES)
    assert study("history", "--json", "-") == before
    assert len(study("list", "--json", "-")["studies"]) == 1


def test_names_are_refused_before_the_passphrase_is_asked_for(study, monkeypatch):
    study("create", lines=["Centre"])
    monkeypatch.delenv("CLAIM_PASSPHRASE")
    with pytest.raises(ClaimError, match="process list"):
        study("refuse", "Ana")


def test_errors_are_one_line(study, monkeypatch):
    study("create", lines=["Centre"])
    study("add", lines=["Ana", "Anna-Maria"])
    for words, lines, problem in (
        (("answer", "--consent"), ["Zoe", "Ben"], "no person is called"),
        (("answer", "--consent", "P1"), [], "--nobody"),
        (("answer", "--consent", "--nobody", "P1", "P2"), [], "--nobody"),
        (("answer", "--consent", "--nobody"), ["Ana", "Ben"], "1 more lines"),
        (("answer", "P1"), ["Ben"], "consent"),
        (("answer", "--consent"), [], "no line for: Person"),
        (("answer", "--consent", "P1"), ["Ben", "P99"], "no person has the code 'P99'"),
        (("answer", "--consent", "P99", "P1"), [], "no person has the code 'P99'"),
        (("add",), [], "no names were entered"),
        (("refuse",), ["Ana", "Anna-Maria"], "1 more lines"),
        (("merge", "P1"), [], "no line for: The same person"),
        (("withdraw",), ["Ana"], "--yes"),
        (("leader", "P1", "maybe"), [], "one of offered, accepted"),
        (("leader",), [], "one of offered, accepted"),
        (("undo", "1"), [], "cannot be undone"),
        (("create", "--open", "--budget", "5"), [], "no --budget: give --interviews"),
        (("create", "--interviews", "5"), [], "add --open, or give --budget"),
        (("create", "--open", "--policy", "one-hop"), ["Village"], "chooses its own leaders"),
        (("answer", "--new", "--consent", "--nobody"), ["Zoe"], "closed to new people"),
        (("refuse", "--new"), [], "closed to new people"),
        (("mark", "P1", "P2"), [], "P1 did not name P2"),
        (("mark", "P1", "P2", "--none"), [], "either a contact or --none"),
        (("create",), [" "], "no line for: Title"),
        (("create",), ["Centre", "Ana"], "1 more lines"),
        (("people", "--study", "nope"), [], "no study"),
    ):
        with pytest.raises(ClaimError, match=problem) as caught:
            study(*words, lines=lines)
        assert "\n" not in str(caught.value)
    monkeypatch.delenv("CLAIM_PASSPHRASE")
    with pytest.raises(ClaimError, match="CLAIM_PASSPHRASE"):
        study("people")


def test_what_is_no_text_is_refused(study):
    study("create", lines=["Centre"])
    result = CliRunner().invoke(app, ["add"], input=b"Ana\n\xff\n")
    assert "standard input:2: not a text file" in str(result.exception)


def test_markup_in_names_is_plain_text(study):
    study("create", lines=["[bold]Centre[/bold]"])
    study("add", "--start", lines=["[red]x[/red]", "</script>", "-rf"])
    shown = study("people")
    assert "[red]x[/red]" in shown
    assert "[bold]Centre[/bold]" in shown
    assert "[red]x[/red]" in study("next", "-n", "3")


def test_contacts_are_found_by_code_and_counted_once_whatever_their_case(study):
    study("create", *FOLLOWING, lines=["Centre"])
    study("add", "--start", lines=["Ana", "Ben", "Carla"])
    assert study("answer", "--consent", "P1", "p3", "P2", "--json", "-")["new"] == []
    named = study("answer", "--consent", "--json", "-", lines=["Ben", "p3", "Zed", "zed", "ZED"])
    assert named["new"] == ["P4"]
    assert {row["name"]: row["times_named"] for row in study("people", "--json", "-")["rows"]}["Carla"] == 2


def test_a_merged_code_stands_for_the_person(study):
    study("create", lines=["Centre"])
    study("add", "--start", lines=["Ana", "Ben", "Benn"])
    study("merge", "P2", "P3")
    assert study("answer", "--consent", "p3", "P1", "--json", "-")["person"] == "P2"


def test_names_are_asked_for_in_a_terminal(tmp_path):
    """The real program in a real terminal: prompts, a correction, and no name among its arguments."""
    environment = {**os.environ, "CLAIM_STUDIES": str(tmp_path / "studies"), "TERM": "dumb"}
    environment.pop("CLAIM_PASSPHRASE", None)
    secret = [("Passphrase: ", PASSPHRASE)]
    made = [("Title of the study: ", "Centre"), *secret, ("Repeat for confirmation: ", PASSPHRASE)]
    assert "is ready" in terminal(["create"], made, environment)
    named = [*secret, ("an empty line ends:", "Ana\nBen\n")]
    assert "added P1, P2" in terminal(["add", "--start"], named, environment)
    contacts = [("an empty line ends:", "P99\nZoé Ruiz\nP2\n")]
    said = terminal(["answer", "--consent"], [*secret, ("(code or name): ", "Anna\nana"), *contacts], environment)
    assert "no person is called 'Anna'; did you mean Ana (P1)?" in said
    assert "no person has the code 'P99'; this line was left out" in said
    assert "P1 named 2, of whom 1 new" in said
    assert "P3: refused" in terminal(["refuse"], [*secret, ("(code or name): ", "zoe ruiz")], environment)


def terminal(words: list[str], dialogue: list[tuple[str, str]], environment: dict[str, str]) -> str:
    """Run a verb in a pseudo-terminal, answer each question when it comes, and return all that was shown."""
    pty = pytest.importorskip("pty")
    child, screen = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-m", "claim", "study", *words], environment)
    shown, seen = "", 0
    for question, answer in dialogue:
        while question not in shown[seen:]:
            more = _more(screen)
            assert more, shown
            shown += more
        seen = len(shown)
        os.write(screen, f"{answer}\n".encode())
    while more := _more(screen):
        shown += more
    os.close(screen)
    assert os.waitpid(child, 0)[1] == 0, shown
    return " ".join(shown.split())


def _more(screen: int) -> str:
    try:
        return os.read(screen, 4096).decode(errors="replace")
    except OSError:  # the terminal was closed at the other end
        return ""


def test_no_name_key_is_left_that_the_log_does_not_know_of(study, tmp_path, monkeypatch):
    study("create", *FOLLOWING, lines=["Centre"])
    study("add", "--start", lines=["Ana"])
    monkeypatch.setenv("CLAIM_KEY_PASSPHRASE", "another good sentence")

    def full(*_):
        raise ClaimError("nothing was saved: the disk is full")

    monkeypatch.setattr("claim.field.study.commands.exported", full)
    with pytest.raises(ClaimError, match="disk is full"):
        study("export", "--names", str(tmp_path / "names.key"))
    assert not (tmp_path / "names.key").exists()


def test_sessions_and_the_follow_up(study):
    study("create", "--leaders", "1", *FOLLOWING, lines=["Centre"])
    study("add", "--start", lines=["Ana"])
    study("answer", "P1", "--consent", lines=["Ben", "Carla", "Dan"])
    for answer in ("offered", "accepted"):
        study("leader", "P1", answer)
    planned = study("session", "2030-01-31T14:30", "--invite", "P1", "--json", "-")
    assert planned == {"session": 1, "at": "2030-01-31T14:30", "invited": ["P1"]}
    study("leader", "P1", "attended", "--session", "1")
    waiting = study("follow-up", "--json", "-")
    assert sorted(waiting["to_ask"]) == ["P2", "P3", "P4"]
    study("follow-up", waiting["to_ask"][0], "not-asked")
    found = study("follow-up", waiting["to_ask"][1], "yes", "--json", "-")
    assert (found["came"], found["asked"], found["yes"], found["to_ask"]) == (1, 1, 1, waiting["to_ask"][2:])
    assert 0 < found["estimate"]["low"] < found["estimate"]["p"] < found["estimate"]["high"] <= 1
    assert "1 of 1 people asked said yes" in study("follow-up")
    with pytest.raises(ClaimError, match="the answer must be one of"):
        study("follow-up", "P2", "perhaps")


def test_groups_are_asked_for_and_shown_with_the_leaders(study):
    study("create", "--group", "village", "--groups-of-contacts", "--fair", "welfare:-2", lines=["Centre"])
    study("add", "--start", lines=["Ana"])
    study("answer", "P1", "--consent", lines=["Ben"])
    assert study("group", "P2", "--by", "P1", "--json", "-", lines=["Alto"]) == {"person": "P2", "group": "Alto"}
    assert [row["group"] for row in study("people", "--json", "-")["rows"]] == [None, "Alto"]
    assert study("leaders", "--json", "-")["groups"] == {}  # too few people are known
    assert study("group", "--by", "P1", "--json", "-", lines=["Ben", "unknown"])["group"] is None
