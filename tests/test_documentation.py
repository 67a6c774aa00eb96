"""The examples in the documentation run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("discovery.md", "evaluation.md", "command-line.md")
TIES = re.compile(r"`ties\.csv`:\n\n```text\n(.*?)```", re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        found += [(page, code) for code in re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
    return found


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_python_examples_run(page, code, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    for claimed in re.findall(r"^print\(seen\)\s+# (Discovered.*)$", code, re.MULTILINE):
        assert claimed in done.stdout


@pytest.mark.parametrize(
    ("page", "command"), [(page, line) for page, code in blocks("bash") for line in code.splitlines() if line]
)
def test_commands_run(page, command, tmp_path):
    ties = TIES.search((DOCS / "command-line.md").read_text(encoding="utf-8"))
    (tmp_path / "ties.csv").write_text(ties[1])
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
