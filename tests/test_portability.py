"""What differs between Windows, macOS and Linux, as far as it can be tried on one of them."""

import subprocess
import sys

import pytest

from claim.io import files
from claim.jobs.local import LocalBackend

READS_AND_WRITES = """
import warnings
from claim.cli import main
warnings.filterwarnings("error", category=EncodingWarning, module="claim")
main(["evaluate", "--networks", "zone2", "--policies", "random,scout", "--selector", "greedy,foresight",
      "--runs", "2", "--workers", "1", "--out", "run", "--json", "result.json"])
"""


def test_no_text_file_is_read_or_written_in_the_encoding_of_the_system(tmp_path):
    command = [sys.executable, "-X", "warn_default_encoding", "-c", READS_AND_WRITES]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize(("refused", "written"), [(2, True), (9, False)])
def test_on_windows_a_file_that_is_being_read_is_replaced_a_moment_later(tmp_path, monkeypatch, refused, written):
    path, replace, waits = tmp_path / "file", files.os.replace, []

    def refuse_at_first(new, old):
        if len(waits) < refused:
            raise PermissionError(13, "Access is denied")
        replace(new, old)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(files.os, "replace", refuse_at_first)
    monkeypatch.setattr(files.time, "sleep", waits.append)
    if written:
        files.write_whole(path, "new")
        assert path.read_text(encoding="utf-8") == "new"
    else:
        with pytest.raises(PermissionError):
            files.write_whole(path, "new")
        assert len(waits) == 3
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("platform", "most"), [("win32", 60), ("linux", 500)])
def test_windows_gets_no_more_processes_than_it_can_wait_for(tmp_path, monkeypatch, platform, most):
    monkeypatch.setattr(sys, "platform", platform)
    assert LocalBackend(500, tmp_path).free() == most
