"""``--surveyed-file`` and the like: lists of people that do not appear on the command line."""

import json

import pytest

QUICK = ("--studies", "2", "--surveys", "0,2", "-k", "2")
VERBS = {
    "advise": ("advise", "--known", "names.csv"),
    "select": ("select", "--known", "names.csv", "--method", "foresight", "-k", "2"),
    "plan": ("plan", "names.csv", "--people", "30", *QUICK),
    "explain": ("explain", "--known", "names.csv", "--policy", "shaped-dqn"),
}
EXPLAIN = pytest.param("explain", marks=pytest.mark.needs("torch"))


def result(done):
    assert done.returncode == 0, done.stderr
    return {key: value for key, value in json.loads(done.stdout).items() if key != "seconds"}


@pytest.mark.parametrize("verb", ["advise", "select", "plan", EXPLAIN])
def test_a_file_lists_who_was_surveyed(claim, verb):
    by_file = claim(*VERBS[verb], "--surveyed-file", "asked.txt", "--json", "-")
    assert result(by_file) == result(claim(*VERBS[verb], "--surveyed", "Ana,Dan", "--json", "-"))


@pytest.mark.parametrize("verb", ["advise", "plan", EXPLAIN])
def test_files_list_who_refused_and_who_was_known_at_the_outset(claim, folder, verb):
    (folder / "refused.txt").write_text("Cyd\n")
    (folder / "start.txt").write_text("Dan\n")
    files = ("--surveyed-file", "asked.txt", "--refused-file", "refused.txt", "--start-file", "start.txt")
    options = ("--surveyed", "Ana,Dan", "--refused", "Cyd", "--start", "Dan")
    by_file, by_option = (result(claim(*VERBS[verb], *more, "--json", "-")) for more in (files, options))
    assert by_file == by_option
    assert by_file != result(claim(*VERBS[verb], "--surveyed", "Ana,Dan", "--json", "-"))


@pytest.mark.parametrize("verb", ["advise", "select"])
def test_standard_input_lists_who_was_surveyed(claim_program, verb):
    piped = claim_program(*VERBS[verb], "--surveyed-file", "-", "--json", "-", stdin="Ana\nDan\n")
    assert result(piped) == result(claim_program(*VERBS[verb], "--surveyed", "Ana,Dan", "--json", "-"))


def test_a_name_with_a_comma_is_one_line(claim, folder):
    (folder / "commas.csv").write_text('"Lee, Cy",Ann\nAnn,Bob\n')
    (folder / "one.txt").write_text("Lee, Cy\n")
    assert (
        result(claim("advise", "--known", "commas.csv", "--surveyed-file", "one.txt", "--json", "-"))["surveyed"] == 1
    )
