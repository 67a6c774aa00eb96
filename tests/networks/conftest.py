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
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "claim"
