import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from claim.cli import main
from claim.registry import Shipped

Claim = Callable[..., subprocess.CompletedProcess[str]]
ONE_WAY = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">
<node id="a"/><node id="b"/><node id="d"/><edge source="a" target="b"/><edge source="d" target="a"/></graph></graphml>
"""


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every shipped policy advises, as if all had been shown to beat chance."""
    monkeypatch.setattr(Shipped, "beats_chance", True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a few files, of a user without any public network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLAIM_DATA", raising=False)
    share = tmp_path / "share"
    homes = {"XDG_DATA_HOME": share, "LOCALAPPDATA": share, "HOME": tmp_path, "USERPROFILE": tmp_path}
    for name, value in {**homes, "COLUMNS": 100}.items():
        monkeypatch.setenv(name, str(value))
    (tmp_path / "numbers.edges").write_text("10 11\n11 12\n12 13\n10 13\n13 14\n")
    (tmp_path / "names.csv").write_text("person,contact\nAna,Ben\nBen,Cyd\nAna,Dan\nDan,Eve\nDan,Dan\n")
    (tmp_path / "broken.csv").write_text("a,b\nc\n")
    (tmp_path / "wide.csv").write_text("name,friend1,friend2,friend3\nana,ben,carl,dora\nben,ana,,\n")
    (tmp_path / "asked.txt").write_text("\ufeffAna\n\n Dan \nAna\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("respondent,contact\nAna,Ben\nAna,Dan\n")
    (tmp_path / "itself.csv").write_text("Ana,Ana\n")
    (tmp_path / "nobody.txt").write_text("\n \n")
    (tmp_path / "strangers.txt").write_text("Ana\nZoe\n")
    (tmp_path / "latin.txt").write_bytes("Ana\nJos\xe9\n".encode("latin-1"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "names.csv").write_text("Ida,Jo\n")
    (tmp_path / "oneway.graphml").write_text(ONE_WAY)
    return tmp_path


@pytest.fixture
def claim(folder: Path, capfd: pytest.CaptureFixture[str]) -> Claim:
    """Runs the command line in this process, which is quick."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code, out, err)

    return run


@pytest.fixture
def claim_program(folder: Path) -> Claim:
    """Runs the command line as a program of its own."""

    def run(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "claim", *arguments]
        environment = {**os.environ, **variables}
        return subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, timeout=600)

    return run
