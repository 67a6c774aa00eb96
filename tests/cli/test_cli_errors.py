"""What a user can put right is one line on standard error and exit code 2, without a traceback."""

import os
import re
import subprocess
import sys
from functools import partial

import pytest

from claim.networks.catalogue import PUBLIC_NETWORKS

ADVISE = ["advise", "--known", "names.csv"]
EVALUATE = ["evaluate", "--networks", "numbers.edges", "--runs", "2"]

MISTAKES = {
    "unknown network": (["select", "nowhere"], "nowhere"),
    "almost a known network": (["select", "isreal"], "did you mean israel"),
    "a network that is not there": (["select", "israel"], "claim networks fetch israel"),
    "unknown network to evaluate": (["evaluate", "--networks", "zone2,nowhere"], "nowhere"),
    "unknown policy": ([*EVALUATE, "--policies", "randm"], "did you mean random"),
    "unknown selector": ([*EVALUATE, "--selector", "best"], "no selector is called 'best'"),
    "unknown protocol": ([*EVALUATE, "--protocol", "lab"], "no protocol is called 'lab'"),
    "unknown method": (["select", "zone2", "--method", "best"], "best"),
    "unknown starts": ([*EVALUATE, "--starts", "old"], "--start-sets"),
    "no published starts": ([*EVALUATE, "--starts", "published"], "no start sets are published for numbers"),
    "no leaders": (["select", "zone2", "-k", "0"], "k must be at least 1, got 0"),
    "leaders that are no number": (["select", "zone2", "-k", "ten"], "--leaders"),
    "a probability above 1": (["select", "zone2", "-p", "1.5"], "probability must be between 0 and 1, got 1.5"),
    "a probability that is none": (["influence", "zone2", "--leaders", "1", "-p", "nan"], "between 0 and 1"),
    "no samples": (["influence", "zone2", "--leaders", "1", "--samples", "0"], "samples must be at least 1"),
    "too many samples": (["influence", "zone2", "--leaders", "1", "--samples", "9" * 13], "not enough memory"),
    "no runs": ([*EVALUATE, "--runs", "0"], "runs must be at least 1"),
    "a negative budget": ([*EVALUATE, "--budget", "-1"], "budget must be at least 0"),
    "an empty start set": ([*EVALUATE, "--start", "0"], "start_size must be at least 1"),
    "an empty round": ([*EVALUATE, "--round", "0"], "round must be at least 1"),
    "a refusal of 2": ([*EVALUATE, "--refusal", "2"], "refusal must be between 0 and 1"),
    "no workers": ([*EVALUATE, "--workers", "0"], "Invalid value for '--workers'"),
    "a negative seed to evaluate": ([*EVALUATE, "--seed", "-3"], "seed must be at least 0"),
    "curves without a report": ([*EVALUATE, "--curves"], "--curves needs --out DIR"),
    "a negative seed to select": (["select", "zone2", "--seed", "-3"], "--seed"),
    "a negative seed for influence": (["influence", "zone2", "--leaders", "1", "--seed", "-3"], "--seed"),
    "a negative seed to advise": ([*ADVISE, "--seed", "-3"], "--seed"),
    "nobody to list": ([*ADVISE, "-n", "0"], "--count"),
    "JSON into nowhere": (["select", "zone2", "--json", "no/such/folder/x.json"], "no folder no/such/folder"),
    "leaders and not": (["select", "zone2", "--must", "3", "--must-not", "3,4"], "3 is in both --must and --must-not"),
    "JSON into a folder": (["select", "zone2", "--json", "."], "is a directory"),
    "a run folder in a file": ([*EVALUATE, "--out", "names.csv/run"], "cannot make this folder"),
    "evaluate into nowhere": (["evaluate", "--runs", "99999999", "--json", "no/x.json"], "no folder no"),
    "a leader nobody knows": (["influence", "numbers.edges", "--leaders", "10,99"], "there is no person '99'"),
    "leaders that are nobody": (["influence", "numbers.edges", "--leaders", ","], "must name at least one person"),
    "leaders not given": (["influence", "numbers.edges"], "--leaders"),
    "must and must not": (
        ["select", "names.csv", "--must", "Ana", "--must-not", "Ana"],
        "in both --must and --must-not",
    ),
    "a broken file": (["select", "--known", "broken.csv"], "broken.csv:2:"),
    "a broken file to advise on": (["advise", "--known", "broken.csv"], "broken.csv:2:"),
    "a missing file": (["advise", "--known", "missing.csv"], "missing.csv"),
    "somebody surveyed who is not there": ([*ADVISE, "--surveyed", "Zoe"], "there is no person 'Zoe' in names"),
    "surveyed not in the known part": (["select", "--known", "names.csv", "--surveyed", "Zoe"], "'Zoe'"),
    "surveyed and refused": (
        [*ADVISE, "--surveyed", "Ana", "--refused", "Ana"],
        "Ana is listed both as",
    ),
    "a table with a column for each friend to advise on": (
        ["advise", "--known", "wide.csv"],
        "wide.csv:1: the columns name, friend1, friend2, friend3 are not understood; a list of ties has two columns",
    ),
    "a table with a column for each friend to select from": (["select", "wide.csv"], "are not understood"),
    "a table with a column for each friend to plan on": (["plan", "wide.csv", "--people", "20"], "are not understood"),
    "a table with a column for each friend to explain": (["explain", "--known", "wide.csv"], "are not understood"),
    "surveyed twice over": (
        [*ADVISE, "--surveyed", "Ana", "--surveyed-file", "asked.txt"],
        "--surveyed or --surveyed-file, not both",
    ),
    "no file of who was surveyed": ([*ADVISE, "--surveyed-file", "missing.txt"], "missing.txt: no such file"),
    "a folder of who was surveyed": ([*ADVISE, "--surveyed-file", "sub"], "sub: is a folder"),
    "an empty file of who was surveyed": ([*ADVISE, "--surveyed-file", "nobody.txt"], "nobody.txt: no people in it"),
    "a stranger in the file": ([*ADVISE, "--surveyed-file", "strangers.txt"], "there is no person 'Zoe' in names"),
    "a file that is no text": ([*ADVISE, "--surveyed-file", "latin.txt"], "latin.txt:2: not a text file"),
    "standard input for two lists": (
        [*ADVISE, "--surveyed-file", "-", "--refused-file", "-"],
        "standard input can be read for one list only",
    ),
    "a file of start people who were not surveyed": (
        [*ADVISE, "--surveyed", "Ana", "--start-file", "asked.txt"],
        "Dan was known at the outset",
    ),
    "a file of start people without ties": (
        ["plan", "--people", "50", "--mean-degree", "4", "--start-file", "asked.txt"],
        "takes no lists of people",
    ),
    "a file of surveyed people without a known part": (
        ["select", "zone2", "--surveyed-file", "asked.txt"],
        "go with --known",
    ),
    "a simulated study with a file of surveyed people": (
        ["explain", "--network", "zone1", "--surveyed-file", "asked.txt"],
        "go with --known",
    ),
    "no ties in a closed study": (["advise", "--surveyed", "Ana"], "give --known ties.csv, or --entry open"),
    "a budget of an open study": ([*ADVISE, "--entry", "open", "--budget", "5"], "--budget is for closed studies"),
    "interviews of a closed study": ([*ADVISE, "--interviews", "5"], "add --entry open"),
    "new people in a closed study": ([*ADVISE, "--policy", "new"], "add --entry open --interviews N"),
    "no such entry": ([*ADVISE, "--entry", "half"], "--entry"),
    "no file of marks": ([*ADVISE, "--marks", "missing.csv"], "missing.csv: no such file"),
    "a mark of oneself": ([*ADVISE, "--surveyed", "Ana", "--marks", "itself.csv"], "cannot mark themselves"),
    "two marks of one person": (
        [*ADVISE, "--surveyed", "Ana", "--marks", "two.csv"],
        "Ana marked both Ben and Dan: a person marks one contact",
    ),
    "two marks of one person to select by": (
        ["select", "--known", "names.csv", "--surveyed", "Ana", "--method", "foresight", "--marks", "two.csv"],
        "Ana marked both Ben and Dan: a person marks one contact",
    ),
    "a new person who was not interviewed": (
        ["select", "--known", "names.csv", "--start", "Ana", "--method", "foresight", "--entry", "open"],
        "Ana was interviewed as a new person and must be among the people surveyed",
    ),
    "marks without a known part": (["select", "zone2", "--marks", "two.csv"], "go with --known"),
    "marks for the greedy method": (
        ["select", "--known", "names.csv", "--marks", "two.csv"],
        "marks are for foresight",
    ),
    "new people without a known part": (["select", "zone2", "--entry", "open"], "go with --known"),
    "advice from a reference": ([*ADVISE, "--policy", "clairvoyant"], "is a reference"),
    "both a network and a known part": (["select", "zone2", "--known", "names.csv"], "either a network or --known"),
    "neither a network nor a known part": (["select"], "either a network or --known"),
    "surveyed without a known part": (
        ["select", "zone2", "--surveyed", "1"],
        "--surveyed, --start, --marks, --entry open and --people go with --known",
    ),
    "start people without a known part": (
        ["select", "zone2", "--start", "1"],
        "--surveyed, --start, --marks, --entry open and --people go with --known",
    ),
    "foresight of a whole network": (["select", "zone2", "--method", "foresight"], "it goes with --known"),
    "foresight of no such kind": (["select", "--known", "names.csv", "--method", "foresight:odd"], "'foresight:odd'"),
    "foresight of directed contacts": (
        ["select", "--known", "names.csv", "--method", "foresight", "--directed"],
        "contacts that go both ways",
    ),
    "nobody to choose from": (["select", "zone2", "--may", "", "--method", "ris"], "no people are left to choose from"),
    "a plan for contacts below none": (
        ["plan", "names.csv", "--surveyed", "Ana", "--people", "20", "--mean-degree", "nan"],
        "the mean degree must be above 0",
    ),
    "a trained policy on directed contacts": (
        [*ADVISE, "--directed", "--surveyed", "Ana", "--policy", "claim"],
        "claim is for contacts that go both ways; those of names are directed",
    ),
    "a trained policy compared on directed contacts": (
        ["evaluate", "--networks", "oneway.graphml", "--policies", "random,claim"],
        "claim is for contacts that go both ways; those of oneway are directed",
    ),
    "foresight compared on directed contacts": (
        ["evaluate", "--networks", "oneway.graphml", "--policies", "random", "--selector", "foresight"],
        "foresight is for contacts that go both ways; those of oneway are directed",
    ),
    "a trained policy under another model": ([*EVALUATE, "--policies", "claim", "--model", "lt"], "the model ic only"),
    "a mix with a trained policy under another model": (
        [*EVALUATE, "--policies", "mix:0.5:claim", "--entry", "open", "--model", "lt"],
        "mix:0.5:claim knows the model ic only, got lt",
    ),
    "foresight under another model": (
        [*EVALUATE, "--selector", "foresight", "--model", "threshold:2"],
        "foresight knows the model ic only, got threshold:2",
    ),
    "reverse sets under another model": ([*EVALUATE, "--selector", "ris", "--model", "lt"], "ris knows the model ic"),
    "several models without robust": (["select", "zone2", "--model", "ic,lt"], "need robust: mean or worst"),
    "probabilities that are none": (["select", "zone2", "-p", "0.1,x"], "got '0.1,x'"),
    "robust leaders by another method": (
        ["select", "zone2", "-p", "0.1,0.2", "--robust", "worst", "--method", "ris"],
        "robust selection is by the greedy method",
    ),
    "waves that are no numbers": ([*EVALUATE, "--waves", "4,x"], "--waves takes numbers of leaders such as 4,3,3"),
    "a single wave": ([*EVALUATE, "--waves", "10"], "at least two numbers"),
    "waves of an open study": ([*EVALUATE, "--waves", "4,3", "--entry", "open"], "--waves is for closed studies"),
    "waves by group": ([*EVALUATE, "--waves", "4,3", "--groups-of-contacts"], "--groups-of-contacts does not go with"),
    "waves of directed networks": ([*EVALUATE, "--waves", "4,3", "--directed"], "--directed does not go with --waves"),
    "waves of other leaders": ([*EVALUATE, "--waves", "4,3", "-k", "10"], "chooses 7 leaders, but --leaders is 10"),
    "people asked without waves": ([*EVALUATE, "--asked", "10"], "--asked goes with --waves"),
    "fairness without a group": ([*EVALUATE, "--fair", "maximin"], "need a group that people are asked for"),
    "a group that is not known": ([*EVALUATE, "--group", "region"], "'region' is not known of its people"),
    "a quota that is none": ([*EVALUATE, "--policies", "quota:north:scout"], "a quota is quota:equal:POLICY"),
    "a judge of no model": ([*EVALUATE, "--judge-model", "sir"], "or threshold:N, got 'sir'"),
    "a range of p that nothing uses": (
        [*EVALUATE, "--model", "lt", "--p-range", "0.1,0.2"],
        "the model lt does not use p",
    ),
    "ties of someone who was not surveyed": (
        [*ADVISE, "--directed", "--surveyed", "Ana"],
        "must be among the people surveyed",
    ),
    "training on two of one name": (
        ["train", "--networks", "names.csv,sub/names.csv", "--out", "run"],
        "two networks are called names",
    ),
    "training on directed contacts": (["train", "--networks", "oneway.graphml", "--out", "run"], "these are directed"),
    "an option before fetch": (["networks", "--data-dir", ".", "fetch", "israel"], "go after fetch"),
    "a number that is none": (["influence", "zone2", "--leaders", "1_7"], "there is no person '1_7'"),
    "unknown option": (["select", "zone2", "--nope"], "--nope"),
    "unknown command": (["frobnicate"], "frobnicate"),
    "nothing to fetch": (["networks", "fetch", "zone2"], "nothing to fetch"),
    "fetching the unknown": (["networks", "fetch", "nowhere"], "nowhere"),
    "fetching nobody's list": (["networks", "fetch", ","], "no network to fetch"),
}


def assert_one_clear_line(done, clue: str) -> None:
    lines = [line for line in done.stderr.splitlines() if "self-loop" not in line]  # that is told, and no error
    assert done.returncode == 2, done.stderr
    assert len(lines) == 1
    assert re.match(r"claim: \S", lines[0])
    assert clue in lines[0]
    assert done.stdout == ""


TRAINS = ("training on directed", "a trained policy", "a mix with a trained policy")
NEED = {each: [pytest.mark.needs("torch")] if each.startswith(TRAINS) else [] for each in MISTAKES}


@pytest.mark.parametrize("mistake", [pytest.param(each, marks=marks) for each, marks in NEED.items()])
def test_a_mistake_gets_one_clear_line(claim, mistake):
    arguments, clue = MISTAKES[mistake]
    assert_one_clear_line(claim(*arguments), clue)


@pytest.mark.parametrize("mistake", ["unknown network", "unknown policy", "unknown option", "too many samples"])
def test_a_mistake_gets_one_clear_line_from_the_program_too(claim_program, mistake):
    arguments, clue = MISTAKES[mistake]
    assert_one_clear_line(claim_program(*arguments), clue)


MODULES = {
    "learning": ("torch", "safetensors", "tensorboard", "threadpoolctl", "lightgbm"),
    "app": ("sqlcipher3", "fastapi", "starlette", "uvicorn", "multipart", "python_calamine", "rapidfuzz"),
    "ray": ("ray",),
}
NEEDS_EXTRA = {
    "train": (["train", "--family", "zones"], "PyTorch", "learning"),
    "experiment": (["experiment", "paper", "--quick"], "PyTorch", "learning"),
    "advise": ([*ADVISE, "--policy", "claim"], "PyTorch", "learning"),
    "explain": (["explain", "--network", "zone1"], "PyTorch", "learning"),
    "evaluate": ([*EVALUATE, "--policies", "random,claim", "--runs", "1000000"], "PyTorch", "learning"),
    "plan": (["plan", "--people", "30", "--mean-degree", "3", "--policy", "claim"], "PyTorch", "learning"),
    "foresight train": (["foresight", "train", "--family", "zones"], "LightGBM", "learning"),
    "app": (["app", "--no-browser"], "uvicorn", "app"),
    "study": (["study", "list"], "the libraries of the assistant", "app"),
    "ray": ([*EVALUATE, "--backend", "ray"], "Ray", "ray"),
}
NEEDS_NO_EXTRA = {
    "select": ["select", "zone2", "-k", "2"],
    "influence": ["influence", "zone2", "--leaders", "3,17"],
    "advise": [*ADVISE, "--surveyed", "Ana"],
    "foresight": ["select", "--known", "names.csv", "--surveyed", "Ana", "-k", "2", "--method", "foresight"],
    "plan": ["plan", "--people", "30", "--mean-degree", "3", "--studies", "2", "--surveys", "0,2"],
    "networks": ["networks"],
    "evaluate in processes": [
        "evaluate", "--networks", "zone2,zone3", "--policies", "random,scout", "--selector", "greedy,foresight",
        "--runs", "40", "--workers", "2",
    ],
}  # fmt: skip


@pytest.fixture
def core_only(claim_program, folder):
    """Runs the program as it is installed without any extra: none of their modules can be imported."""
    without = folder / "without"
    without.mkdir()
    lines = [f"sys.modules[{name!r}] = None" for names in MODULES.values() for name in names]
    (without / "sitecustomize.py").write_text("\n".join(["import sys", *lines, ""]))
    path = os.pathsep.join(filter(None, [str(without), os.environ.get("PYTHONPATH")]))
    return partial(claim_program, PYTHONPATH=path)


@pytest.mark.parametrize("verb", NEEDS_EXTRA)
def test_without_an_extra_one_line_says_how_to_get_it(core_only, verb):
    arguments, library, extra = NEEDS_EXTRA[verb]
    assert_one_clear_line(core_only(*arguments), f'{library}: pip install "claim-network[{extra}]"')


@pytest.mark.parametrize("verb", NEEDS_NO_EXTRA)
def test_what_uses_no_trained_policy_needs_no_extra(core_only, verb):
    done = core_only(*NEEDS_NO_EXTRA[verb])
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_debug_shows_where_it_happened(claim_program):
    done = claim_program("--debug", "select", "nowhere")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "InputError" in done.stderr


def test_a_mistake_with_json_leaves_standard_output_empty(claim):
    assert claim("select", "nowhere", "--json", "-").stdout == ""


def test_fetching_offline_fails_with_one_clear_line(claim, tmp_path, monkeypatch):
    for name, value in {"https_proxy": "http://127.0.0.1:9", "no_proxy": "", "NO_PROXY": ""}.items():
        monkeypatch.setenv(name, value)
    done = claim("networks", "fetch", "kcs", "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "kcs" in line
    assert "cannot be downloaded" in line
    assert "kcs.edges" in line  # where to put it by hand
    assert done.stdout == ""
    with_json = claim("networks", "fetch", "kcs", "--data-dir", str(tmp_path / "data"), "--json", "-")
    assert '"status": "failed"' in with_json.stdout
    everything = claim("networks", "fetch", "--data-dir", str(tmp_path / "data"))  # all that can be downloaded
    tried = [line.split(":")[1].strip() for line in everything.stderr.splitlines()]
    assert tried == [known.name for known in PUBLIC_NETWORKS if known.downloads]


def test_output_that_nobody_reads_to_the_end_is_no_error(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "claim", "networks", "--json", "-"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
