from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of that name and content and gives its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def real_data(data: Path) -> Path:
    """The directory of the public networks."""
    return data


@pytest.fixture
def no_user_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any data: neither CLAIM_DATA nor anything in the user's own directory."""
    monkeypatch.delenv("CLAIM_DATA", raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "share"))
    return tmp_path / "share" / "claim"
