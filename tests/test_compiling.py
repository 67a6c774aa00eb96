"""Compiled loops work where neither the package's folder nor the home folder can be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASCADE = "import claim; print(round(claim.influence('zone2', [3, 17], samples=100).mean, 3))"


def run_without_folders(tmp: Path) -> subprocess.CompletedProcess[str]:
    """A process in which numba may use the folder of NUMBA_CACHE_DIR and no other, and none is given."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "TMPDIR": str(tmp)}
    return subprocess.run([sys.executable, "-c", CASCADE], env=environment, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def expected() -> str:
    return subprocess.run([sys.executable, "-c", CASCADE], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="TMPDIR and file modes are POSIX")
class TestNoFolderToWrite:
    def test_a_temporary_folder_of_this_user_is_used(self, tmp_path: Path, expected: str) -> None:
        done = run_without_folders(tmp_path)
        folder = tmp_path / f"claim-compiled-{os.getuid()}"
        assert done.stdout == expected
        assert done.stderr.splitlines() == [
            f"Compiled code is kept in {folder}. Set NUMBA_CACHE_DIR to a folder that can be written to keep it there."
        ]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(folder.rglob("kernels.spread*.nbc"))

    def test_a_folder_that_others_can_write_is_not_used(self, tmp_path: Path, expected: str) -> None:
        folder = tmp_path / f"claim-compiled-{os.getuid()}"
        folder.mkdir()
        folder.chmod(0o777)
        done = run_without_folders(tmp_path)
        assert done.stdout == expected
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("Compiled code cannot be kept")
        assert not list(folder.iterdir())
