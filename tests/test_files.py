"""Files that are written whole or not at all, also by a process that is killed."""

import subprocess
import sys

import pytest

from claim.errors import InputError
from claim.io.files import locked, write_whole

KILLED_BEFORE_THE_END = """
import os, sys
from pathlib import Path
from claim.io.files import write_whole
os.replace = lambda *paths: os._exit(9)
write_whole(Path(sys.argv[1]), "new")
"""


def test_a_killed_write_leaves_the_old_content_and_the_next_process_clears_the_rest(tmp_path):
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    for path in (tmp_path / "policy.json", jobs / "result.json"):
        write_whole(path, "old")
        assert subprocess.run([sys.executable, "-c", KILLED_BEFORE_THE_END, str(path)]).returncode == 9
        assert path.read_text() == "old"
        assert len(list(path.parent.glob(f".{path.name}.*"))) == 1
    (jobs / ".somebody-elses.part").touch()
    with locked(tmp_path, "taken"):
        left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == [".lock", "jobs/.somebody-elses.part", "jobs/result.json", "policy.json"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(*paths):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="no space left"):
        write_whole(tmp_path / "file", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_locked_until_the_end(tmp_path):
    for _ in range(2):
        with locked(tmp_path, "taken"), pytest.raises(InputError, match="taken"), locked(tmp_path, "taken"):
            pass


def test_a_lock_goes_with_a_killed_process(tmp_path):
    code = "import os, sys\nfrom pathlib import Path\nfrom claim.io.files import locked\n"
    code += "with locked(Path(sys.argv[1]), 'taken'): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)]).returncode == 9
    with locked(tmp_path, "taken"):
        pass
