"""Sources: studies on them equal simulations, go on after a kill, and bad ones are refused in one line."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from claim.discovery import Simulation, policy_named, surveys
from claim.discovery import source as sources
from claim.discovery.source import FolderSource, NetworkSource, Page, RecordedSource, SourceStudy
from claim.errors import InputError
from claim.evaluation.source_studies import find_source, study_source
from discovery.discovery_cases import everything_seen, hubs_and_leaves

TIES = [("ana", "ben"), ("ana", "carla"), ("ben", "ana"), ("ben", "dora"), ("carla", "ana"), ("dora", "ben")]


class Told:
    """A source that gives what it was made with for every person."""

    name = "told"

    def __init__(self, page: object) -> None:
        self.page = page

    def neighbours(self, person: str, cursor: str | None) -> object:
        return self.page


class Counting:
    """A source that counts the pages read from it."""

    def __init__(self, source) -> None:
        self.name, self._source, self.read = source.name, source, 0

    def neighbours(self, person: str, cursor: str | None) -> Page | None:
        self.read += 1
        return self._source.neighbours(person, cursor)


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "friends"
    made.mkdir()
    (made / "one.csv").write_text("person,contact\n" + "".join(f"{a},{b}\n" for a, b in TIES[:3]))
    with gzip.open(made / "two.csv.gz", "wt") as file:
        file.write("contact;person\n" + "".join(f"{b};{a}\n" for a, b in TIES[3:]))
    return made


def surveyed(study, policy: str = "scout", budget: int = 20, unit: str = "attempts", seed: int = 3):
    for _ in surveys(study, policy_named(policy), budget, np.random.default_rng(seed), unit=unit):
        pass
    return study


def test_a_study_on_a_network_as_a_source_is_the_study_of_a_simulation():
    network = hubs_and_leaves()
    simulated = surveyed(Simulation(network, [3, 7], np.random.default_rng(1)))
    rng = np.random.default_rng(1)
    rng.random(network.n)  # a simulation draws who refuses
    start = [str(network.labels[who]) for who in (3, 7)]
    study = surveyed(SourceStudy(NetworkSource(network, page=3), start, rng))
    assert everything_seen(study.discovered) == everything_seen(simulated.discovered)
    assert network.indices_of(study.people) == simulated.people
    assert study.pages == sum(max(-(-study.discovered.degree(who) // 3), 1) for who in study.discovered.surveyed)


def test_a_folder_of_csv_files_is_a_source(folder):
    study = surveyed(SourceStudy(FolderSource(folder, page=1), ["ana"], np.random.default_rng(0)))
    assert set(study.people) == {"ana", "ben", "carla", "dora"}
    ties = {frozenset((study.people[a], study.people[b])) for a, b in zip(*study.discovered.ties(), strict=True)}
    assert ties == {frozenset(tie) for tie in TIES}


@pytest.mark.parametrize("budget", [1, 2, 5, 17])
def test_a_budget_of_pages_is_never_exceeded(budget):
    source = Counting(NetworkSource(hubs_and_leaves(), page=2))
    study = surveyed(SourceStudy(source, ["3", "7"], np.random.default_rng(0), budget), budget=budget, unit="pages")
    assert source.read == study.pages == budget
    assert study.cut_short <= 2
    assert study.discovered.surveyed[:2] == study.discovered.start


def test_people_whose_contacts_cannot_be_read_refused():
    class Private(Told):
        def neighbours(self, person: str, cursor: str | None) -> Page | None:
            return Page(["ben", "ana", "ben"]) if person == "ana" else None

    study = surveyed(SourceStudy(Private(None), ["ana"], np.random.default_rng(0)))
    assert [study.people[who] for who in study.discovered.refused] == ["ben"]
    assert len(study.discovered.ties()[0]) == 1  # not with herself, and once


class Endless(Told):
    """Always one more page: with a cursor that came before, or with a new one."""

    def neighbours(self, person: str, cursor: str | None) -> Page:
        return Page(["ben"], self.page if isinstance(self.page, str) else str(int(cursor or 0) + 1))


class Broken(Told):
    def neighbours(self, person: str, cursor: str | None) -> Page:
        raise ConnectionError("no route\nto host")


BAD = {
    "must be a text, got '7' (int)": Told(Page([7])),
    "must have 1 to 1000 characters, got 10,000": Told(Page(["x" * 10_000])),
    "got 0: ''": Told(Page([""])),
    "a page is a list of people and the next cursor, got list": Told(["ben"]),
    "a page is a list of people and the next cursor, got Page": Told(Page("ben")),
    "got str": Told("ben"),
    "a cursor must be a text, got '2' (int)": Told(Page(["ben"], 2)),
    "the cursor 'again' came before, so the pages never end": Endless("again"),
    "more than 10,000 pages": Endless(None),
    "cannot read the contacts of 'ana' (ConnectionError: 'no route\\nto host')": Broken(None),
    "at most 1,000,000 people, got 1,000,001": Told(Page(["ben"] * 1_000_001)),
}


@pytest.mark.parametrize("problem", BAD)
def test_bad_pages_are_refused_in_one_line(problem):
    with pytest.raises(InputError) as error:
        SourceStudy(BAD[problem], ["ana"], np.random.default_rng(0))
    assert problem in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "has no rows"),
        (b"who,knows\nana,ben\n", "the first line must name the columns person and contact"),
        (b"person,contact\nana\n", ":2: a row needs a person and a contact"),
        (b"person,contact\nana,\xff\n", "UTF-8"),
        (b'person,contact\nana,"ben\n', "quotes that do not close"),
        (gzip.compress(b"person,contact\nana,ben\n" * 9000)[:-40], "ends too early"),
    ],
)
def test_bad_files_of_a_folder_are_refused_in_one_line(tmp_path, content, problem):
    (tmp_path / ("ties.csv.gz" if content[:1] == b"\x1f" else "ties.csv")).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        FolderSource(tmp_path)


def test_a_folder_without_files_is_no_source(tmp_path):
    for missing in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"no CSV file|no such folder"):
            FolderSource(missing)


# Recorded pages -------------------------------------------------------------------------------------------------------


def test_recorded_pages_are_read_once_and_give_the_same_study(tmp_path):
    source = Counting(NetworkSource(hubs_and_leaves(), page=3))
    first = study_source(source, ["3", "7"], ["scout", "random"], budget=20, pages=tmp_path)
    assert 0 < source.read < sum(each.pages for each in first)  # both policies began with the same pages
    read = source.read
    again = study_source(source, ["3", "7"], ["scout", "random"], budget=20, pages=tmp_path)
    assert again == first == study_source(source, ["3", "7"], ["scout", "random"], budget=20)
    assert source.read == read + sum(each.pages for each in first)  # only the last call, which has no folder


def test_a_study_that_failed_goes_on_with_what_it_has(tmp_path):
    class Failing(Counting):
        def neighbours(self, person: str, cursor: str | None) -> Page | None:
            if self.read == 9:
                raise OSError("gone")
            return super().neighbours(person, cursor)

    network = NetworkSource(hubs_and_leaves(), page=3)
    with pytest.raises(InputError, match="gone"):
        study_source(Failing(network), ["3", "7"], budget=20, pages=tmp_path)
    rest = Counting(network)
    assert study_source(rest, ["3", "7"], budget=20, pages=tmp_path) == study_source(network, ["3", "7"], budget=20)
    assert rest.read == study_source(network, ["3", "7"], budget=20)[0].pages - 9


KILLED = """
import os, signal, sys
from pathlib import Path
from claim.discovery.source import NetworkSource
from claim.evaluation.source_studies import study_source
from claim.networks.synthetic import retweet_like
import numpy as np

class Source(NetworkSource):
    read = 0
    def neighbours(self, person, cursor):
        self.read += 1
        if self.read == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().neighbours(person, cursor)

network = retweet_like(300, np.random.default_rng(0))
pages = None if sys.argv[1] == "-" else Path(sys.argv[1])
print(study_source(Source(network, 2), [str(network.labels[5])], ["scout"], budget=15, pages=pages), end="")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_study_that_was_killed_comes_to_the_same_result(tmp_path):
    def run(pages: str, kill_at: int) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", KILLED, pages, str(kill_at)], capture_output=True, text=True)

    folder = str(tmp_path / "pages")
    for _ in range(2):
        assert run(folder, 6).returncode == -signal.SIGKILL
    whole = (tmp_path / "pages" / sources.PAGES_FILE).read_bytes()
    assert whole.count(b"\n") == 11  # the name of the source, and five pages twice
    (tmp_path / "pages" / sources.PAGES_FILE).write_bytes(whole[:-7])  # killed while it wrote
    assert run(folder, 0).stdout == run("-", 0).stdout != ""


def lines_of(path: Path) -> Iterator[dict]:
    return map(json.loads, path.read_text().splitlines())


def test_damaged_pages_and_those_of_another_source_are_refused(tmp_path):
    source = NetworkSource(hubs_and_leaves())
    study_source(source, ["3"], budget=3, pages=tmp_path)
    path = tmp_path / sources.PAGES_FILE
    assert [line.get("person") for line in lines_of(path)][:2] == [None, "3"]
    with pytest.raises(InputError, match="another source than told"):
        RecordedSource(Told(None), tmp_path)
    text = path.read_text()
    path.write_text(text.replace('"person"', '"who"', 1))
    with pytest.raises(InputError, match=r"pages\.jsonl:2: is no recorded page"):
        RecordedSource(source, tmp_path)
    assert path.read_text() == text.replace('"person"', '"who"', 1)  # nothing is lost


# As an evaluation -----------------------------------------------------------------------------------------------------


def test_sources_are_found_by_folder_network_and_class(folder):
    assert find_source(str(folder)).name == "friends"
    assert find_source("zone2").name == "zone2"
    assert find_source("discovery.test_source:Example").name == "example"
    with pytest.raises(InputError, match="no known network"):
        find_source("zone2000")
    with pytest.raises(InputError, match="has a name and neighbours"):
        find_source("discovery.test_source:Path")


class Example(Told):
    name = "example"

    def __init__(self) -> None:
        super().__init__(Page([]))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"start": []}, "needs start people"),
        ({"start": ["x" * 10_000]}, "start people are texts"),
        ({"policies": ["clairvoyant"]}, "needs a network that is known"),
        ({"policies": ["new"]}, "interviews new people"),
        ({"unit": "hours"}, "unit must be attempts, answers, pages"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"start": ["nobody at all"]}, "there is no person"),
    ],
)
def test_settings_are_refused_before_anything_is_read(change, problem):
    with pytest.raises(InputError, match=problem):
        study_source(**{"source": find_source("zone2"), "start": ["1"], **change})
