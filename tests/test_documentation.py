"""The documentation leads somewhere and runs: links, Python examples and commands of every page.

Blocks marked ``python`` run as they stand, those of one page one after the other; each line of a block marked ``bash``
runs by itself; blocks marked ``sh``, ``text`` or ``console`` are only shown.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TIES = re.compile(r"`ties\.csv`:\n\n```text\n(.*?)```", re.DOTALL)

DISCOVERED = """
import numpy as np
from claim.discovery import Simulation
from claim.networks import load
discovered = Simulation(load("zone1"), [0, 1, 2, 3, 4], np.random.default_rng(0)).discovered
"""
# What a page's examples take for granted, which its text explains but does not spell out
GIVEN = {
    "features.md": DISCOVERED,
    "state-and-value.md": DISCOVERED,
    "goals.md": DISCOVERED + "networks = [load('stars1'), load('stars2')]\n",
    "curriculum.md": "import numpy as np\nachieved, desired = np.arange(300.0), np.ones(300)\n"
    "embeddings = np.random.default_rng(0).random((300, 8))\n",
}
NEEDS_DATA = ("networks.md",)
FRAGMENTS = ("field-exchange.md",)  # parts of a conversation with an open study and files from elsewhere
LONG = ("synthetic.md",)


def pages() -> list[Path]:
    written = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "results").rglob("*.md")]
    return sorted(written)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def runnable() -> list[object]:
    found = []
    for page in pages():
        if blocks(page, "python") and page.name not in FRAGMENTS:
            marks = [pytest.mark.slow] if page.name in LONG else []
            found.append(pytest.param(page, id=page.name, marks=marks))
    return found


def anchors(page: Path) -> set[str]:
    """The names a page's headings can be linked by."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    bare = (re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each)).lower() for each in headings)
    return {each.strip().replace(" ", "-") for each in bare}


def run(command: list[str] | str, folder: Path) -> subprocess.CompletedProcess[str]:
    ties = TIES.search((DOCS / "command-line.md").read_text(encoding="utf-8"))
    (folder / "ties.csv").write_text(ties[1])
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        command,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=300,
    )


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):  # another site; whether it is up is not ours to test
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


def test_every_page_is_in_the_index():
    listed = set(LINK.findall((DOCS / "README.md").read_text(encoding="utf-8")))
    missing = [page.name for page in DOCS.glob("*.md") if page.name not in {"README.md", *listed}]
    assert missing == []


@pytest.mark.parametrize("page", runnable())
def test_python_examples_run(page, tmp_path):
    if page.name in NEEDS_DATA and not os.environ.get("CLAIM_DATA"):
        pytest.skip("needs the public networks: set CLAIM_DATA to their directory")
    code = GIVEN.get(page.name, "") + "\n".join(blocks(page, "python"))
    done = run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    for claimed in re.findall(r"^print\(seen\)\s+# (Discovered.*)$", code, re.MULTILINE):
        assert claimed in done.stdout


@pytest.mark.parametrize(
    ("page", "command"),
    [(page.name, line) for page in pages() for code in blocks(page, "bash") for line in code.splitlines() if line],
)
def test_commands_run(page, command, tmp_path):
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
