"""The JSON interface: saved means saved, asked first, sent twice once; and no input brings it down."""

import pytest
from desk_client import ORIGIN, PASSPHRASE, Browser

from claim.field.store import cipher
from claim.field.store.library import Library
from claim.field.study import commands
from claim.field.study.events import seal
from claim.field.study.setup import Setup
from claim.field.web.app import create_app
from claim.field.web.app_state import AppState


@pytest.fixture
def surveyed(browser, base, study):
    """The path to save contacts at."""
    browser.post(f"{base}/people", name="Ana López", same="new", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    return f"{study}/surveys/P1/contacts"


def test_a_contact_that_is_answered_saved_is_on_the_disk(browser, desk, surveyed, study):
    answer = browser.api(surveyed, {"name": "Ben", "nonce": "1"}).json()
    assert (answer["saved"], answer["code"], answer["name"], answer["count"]) == (True, "P2", "Ben", 1)
    with Library(desk.library.directory).open(study, PASSPHRASE) as other:
        assert other.view.name("P2") == "Ben"


def test_a_similar_name_is_asked_about(browser, desk, surveyed, study):
    browser.api(surveyed, {"name": "Benedikt Quattro", "nonce": "1"})
    asked = browser.api(surveyed, {"name": "benedict quattro", "nonce": "2"}).json()
    assert not asked["saved"]
    assert asked["matches"][0] == {
        "code": "P2", "name": "Benedikt Quattro", "score": pytest.approx(0.94, abs=0.05),
        "named_by": ["Ana López"], "state": "named",
    }  # fmt: skip
    known = browser.api(surveyed, {"name": "benedict quattro", "same": "P2", "nonce": "3"}).json()
    assert known["saved"]
    assert known["known"]
    assert len(desk.study(study).study.people) == 2


def test_sent_twice_is_saved_once(browser, desk, surveyed, study):
    first = browser.api(surveyed, {"name": "Ben", "nonce": "same"}).json()
    second = browser.api(surveyed, {"name": "Ben", "same": "new", "nonce": "same"}).json()
    third = browser.api(surveyed, {"name": "Ben", "same": "new", "nonce": "same"}).json()
    assert first["code"] != second["code"] == third["code"]
    assert len(desk.study(study).study.people) == 3


@pytest.fixture
def transactions(desk, study, monkeypatch) -> list[str]:
    """Every transaction on any study file, by the kind of its lock."""
    begun: list[str] = []

    def note(statement: str) -> None:
        if statement.startswith("BEGIN"):
            begun.append(statement.removeprefix("BEGIN").strip() or "DEFERRED")

    def traced(*key):
        connection = connect(*key)
        connection.set_trace_callback(note)
        return connection

    connect = cipher.connect
    monkeypatch.setattr(cipher, "connect", traced)
    desk.study(study).store._connection.set_trace_callback(note)
    return begun


def test_a_contact_is_one_transaction_and_each_event_sealed_once(
    browser, desk, base, surveyed, study, transactions, monkeypatch
):
    sealed: list[int] = []

    def counted(body, seq, *rest):
        sealed.append(seq)
        return seal(body, seq, *rest)

    monkeypatch.setattr(commands, "seal", counted)
    browser.get(f"{base}/people")
    assert transactions == ["DEFERRED"]  # a page reads what is new, once
    transactions.clear()
    before = desk.study(study).study.position
    assert browser.api(surveyed, {"name": "Ben", "nonce": "1"}).json()["saved"]
    assert transactions == ["IMMEDIATE"]
    assert sealed == [before + 1, before + 2]  # Ben, and the contact with Ben
    transactions.clear()
    browser.api(surveyed, {"name": "Ben", "nonce": "1"})
    assert transactions == ["IMMEDIATE"]  # recognised by its token under the same lock
    with Library(desk.library.directory).open(study, PASSPHRASE) as other:
        assert other.study.state == desk.study(study).study.state
        other.run(lambda draft: commands.add_person(draft, "Zoë"))
    assert browser.api(surveyed, {"name": "P3", "same": "P3", "nonce": "2"}).json()["known"]  # read with the write


def test_hints_while_typing_and_taking_back(browser, surveyed, study):
    browser.api(surveyed, {"name": "Ben", "nonce": "1"})
    found = browser.api(f"{study}/similar", {"name": "benn", "by": "P1"}).json()["matches"]
    assert [match["code"] for match in found] == ["P2"]
    assert browser.api(f"{study}/similar", {"name": "lopez ana", "by": "P1"}).json()["matches"] == []
    assert browser.api(f"{surveyed}/P2", method="DELETE").json()["count"] == 0
    assert browser.api(f"{surveyed}/P2", method="DELETE").status_code == 400


def test_the_overview(browser, surveyed, study):
    found = browser.api(study, method="GET").json()
    assert found["people"] == 1
    assert browser.get("/openapi.json").status_code == 404


@pytest.mark.parametrize("body", [None, [], {"name": 5}, {"name": "x" * 10_001, "nonce": "n"}, {"name": "x"}, "\ud800"])
def test_bodies_that_do_not_fit_are_refused_without_repeating_them(browser, surveyed, body):
    answer = browser.api(surveyed, body) if body != "\ud800" else browser.http.post(
        f"/api/studies/{surveyed}", content=b'{"name":"\\ud800","nonce":"n"}',
        headers={"Origin": ORIGIN, "X-CSRF-Token": browser.desk.csrf, "Content-Type": "application/json"},
    )  # fmt: skip
    assert answer.status_code == 422
    assert "xxxx" not in answer.text


@pytest.mark.slow
def test_schemathesis_finds_no_server_error(tmp_path):
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
    from hypothesis import HealthCheck, Phase, settings

    desk = AppState(Library(tmp_path / "studies", work=10), port=8123)
    study = desk.create(Setup("Fuzzed"), PASSPHRASE)
    opened = desk.study(study)
    opened.run(lambda draft: commands.add_person(draft, "Ana", is_start=True))
    opened.run(lambda draft: commands.start_survey(draft, "P1", consent=True))
    browser = Browser(desk)
    schema = schemathesis.openapi.from_dict(create_app(desk).openapi())
    headers = {"Origin": ORIGIN, "X-CSRF-Token": desk.csrf, "Cookie": f"{desk.cookie}={desk._session}"}

    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=60, deadline=None, database=None, derandomize=True,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate],
        )  # fmt: skip
        @pytest.mark.filterwarnings("ignore")
        def run(case):
            case.path_parameters = {**(case.path_parameters or {}), "study": study}
            sent = case.as_transport_kwargs(base_url=ORIGIN, headers=headers)
            sent["headers"] = headers | {"Content-Type": "application/json"}
            sent.pop("cookies", None)
            answer = browser.http.request(**sent)
            assert answer.status_code < 500, (case.method, case.path, answer.text)

        from hypothesis import given

        given(case=operation.as_strategy())(run)()
    assert opened.verify().events == opened.study.position
    desk.shut_down()


def test_forms_of_any_content_bring_nothing_down(browser, desk, base, study):
    """Every route that takes a form, with fields of all kinds."""
    import random

    from test_web_door import routes

    rng = random.Random(5)
    browser.post(f"{base}/people", name="Ana", same="new", start="1")
    browser.post(f"{base}/survey/P1/start", consent="1")
    values = [
        "",
        "P1",
        "P99",
        "new",
        "start",
        "merge",
        "1",
        "-1",
        "9" * 30,
        "1e9",
        "nan",
        "\u202e",
        "x" * 3000,
        "csv",
        "refused",
        "\x00",
    ]
    keys = [
        "name", "same", "person", "action", "count", "reason", "contact", "outcome", "one", "other", "number",
        "format", "attendance", "title", "budget", "leaders", "p", "policy", "retention", "refusal_rule", "size_low",
        "at", "study", "passphrase", "confirm", "minutes", "language", "back", "dup.1", "map.x", "start", "consent",
        "was", "question", "open", "interviews", "hub_question",
    ]  # fmt: skip
    paths = [path for method, path in routes(browser) if method == "POST" and "/api/" not in path]
    for path in paths:
        if path.endswith(("/close", "/rehearsal", "/lock", "/language", "/practice/end")):
            continue
        for _ in range(12):
            data = {key: rng.choice(values) for key in rng.sample(keys, rng.randrange(1, 12))}
            answer = browser.post(path.replace("0" * 16, study), data)
            assert answer.status_code < 500, (path, data)
    desk.study(study).verify()
