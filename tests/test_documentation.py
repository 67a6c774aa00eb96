"""The documentation leads somewhere and runs: links, examples, commands, notebooks and scripts.

Blocks marked ``python`` run as they stand, those of one page one after the other; each command of a block marked
``bash`` runs by itself, those of a tutorial one after the other in one folder; blocks marked ``sh``, ``text`` or
``console`` are only shown.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

import claim
from claim.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
TIES = re.compile(r"`ties\.csv`:\n\n```text\n(.*?)```", re.DOTALL)
LIST_OR_TABLE = re.compile(r"([*-]|\d+\.) |\|")
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LONG = ("tutorials/train.md",)
EXTRAS = {"learning": "torch", "app": "sqlcipher3", "ray": "ray"}  # a package of each


def name(path: Path) -> str:
    return path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT).as_posix()


PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "results").rglob("*.md")])
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials"]


def text_of(page: Path) -> str:
    """The Markdown of a page or of a notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)


def commands(page: Path) -> list[str]:
    """The commands of a page; a line that ends in a backslash continues."""
    lines = "\n".join(blocks(page, "bash")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip()]


def anchors(page: Path) -> set[str]:
    """The names a page's headings can be linked by."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text_of(page)), re.MULTILINE)
    bare = (re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each)).lower() for each in headings)
    return {each.strip().replace(" ", "-") for each in bare}


@pytest.fixture
def folder(tmp_path):
    ties = TIES.search(text_of(DOCS / "how-to" / "advise.md"))
    (tmp_path / "ties.csv").write_text(ties[1])
    return tmp_path


def run(command: list[str] | str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        command,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=600,
    )


def assert_ran_well(code: int | None, errors: str) -> None:
    """It ended without an error; it is skipped if it says that it needs something that is not installed."""
    missing = re.search(r"No module named '(\w+)'|claim-network\[(\w+)\]", errors) if code else None
    if missing and find_spec(missing[1] or EXTRAS[missing[2]]) is None:
        pytest.skip(missing[0])
    assert not code, errors


def marked(given: list[Path]) -> list[object]:
    slow = [pytest.mark.slow]
    return [pytest.param(page, id=name(page), marks=slow if name(page) in LONG else []) for page in given]


# Links and structure --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(FENCED.sub("", text_of(page))):
        if re.match(r"[a-z]+:", target):  # another site; whether it is up is not ours to test
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not page.is_relative_to(DOCS) or there.resolve().is_relative_to(DOCS), f"{target} is not in the site"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


def test_the_navigation_lists_every_page_once():
    listed = re.findall(r": ([\w/-]+\.(?:md|ipynb))$", SETTINGS, re.MULTILINE)
    assert sorted(listed) == sorted(name(page) for page in [*DOCS.rglob("*.md"), *NOTEBOOKS])


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_a_page_has_one_title_and_blank_lines_before_lists_and_tables(page):
    """Without a blank line, the site would show a list or a table as part of the paragraph before it."""
    text = FENCED.sub("", text_of(page))
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    lines = text.splitlines()
    for before, line in pairwise(lines):
        if LIST_OR_TABLE.match(line) and before.strip() and not before.startswith(" "):
            assert LIST_OR_TABLE.match(before), f"{page.name}: no blank line before {line!r}"


def test_every_picture_is_shown():
    shown = {Path(link).name for page in PAGES for link in LINK.findall(text_of(page)) if link.endswith(".png")}
    assert [path.name for path in sorted((DOCS / "images").rglob("*.png")) if path.name not in shown] == []


def test_the_reference_describes_every_public_name():
    described = re.findall(r"^::: claim\.(?:\S+\.)?(\w+)$", text_of(DOCS / "reference" / "python.md"), re.MULTILINE)
    assert set(dir(claim)) - set(described) == {"__version__"}


@pytest.mark.slow
def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("mkdocs", reason="needs MkDocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert "claim study create" in page
    assert "<!-- options" not in page
    for page in tmp_path.rglob("*.html"):
        parts = re.findall(r"<(?:script|link|img)[^>]*>", page.read_text(encoding="utf-8"))
        assert [part for part in parts if re.search(r"(?:src|href)=\"?https?:", part)] == []


# Examples -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", marked([page for page in PAGES if blocks(page, "python")]))
def test_python_examples_run(page, folder):
    code = "\n".join(blocks(page, "python"))
    done = run([sys.executable, "-c", code], folder)
    assert_ran_well(done.returncode, done.stderr)
    for claimed in re.findall(r"^print\(seen\)\s+# (Discovered.*)$", code, re.MULTILINE):
        assert claimed in done.stdout


@pytest.mark.parametrize(
    ("page", "command"),
    [(name(page), command) for page in PAGES if page not in TUTORIALS for command in commands(page)],
)
def test_commands_run(page, command, folder, monkeypatch, capfd):
    words = shlex.split(command)
    if words[0] == "claim" and not {"|", ">"} & set(words):  # in this process, which has loaded what it needs
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit) as ended:
            main(words[1:])
        assert_ran_well(ended.value.code, capfd.readouterr().err)
    else:
        done = run(command, folder)
        assert_ran_well(done.returncode, done.stderr)


@pytest.mark.parametrize("page", marked([page for page in TUTORIALS if commands(page)]))
def test_the_commands_of_a_tutorial_run_in_order(page, folder):
    for command in commands(page):
        done = run(command, folder)
        assert_ran_well(done.returncode, done.stderr)


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=name)
def test_scripts_run(script, folder):
    """Each script names in its first line what it prints about."""
    done = run([sys.executable, str(script)], folder)
    assert_ran_well(done.returncode, done.stderr)
    shown = re.search(r'"""(?:.*\n)*?Prints: (.*)\n', script.read_text(encoding="utf-8"))
    assert shown is not None
    assert shown[1] in done.stdout


# Notebooks ------------------------------------------------------------------------------------------------------------


def printed(cell: dict) -> str:
    """The text outputs of a cell; pictures differ between versions of Matplotlib."""
    return "".join("".join(output.get("text", "")) for output in cell.get("outputs", []))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebooks_print_what_they_show(path):
    pytest.importorskip("ipykernel", reason="needs IPython's kernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat")
    stored = nbformat.read(path, as_version=4)
    again = nbclient.execute(nbformat.read(path, as_version=4), timeout=300, kernel_name="python3")
    assert any(printed(cell) for cell in stored.cells)
    for before, after in zip(stored.cells, again.cells, strict=True):
        assert printed(after) == printed(before)
