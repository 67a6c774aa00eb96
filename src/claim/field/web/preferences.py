"""What this machine remembers between starts: language and time to auto-lock. Nothing about people."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from claim.errors import InputError
from claim.field import files

FILE_NAME = "preferences.json"
LANGUAGES = ("en", "es")
LOCK_MINUTES = range(1, 241)


@dataclass(frozen=True)
class Preferences:
    """``language`` None: as the browser asks."""

    language: str | None = None
    lock_minutes: int = 15

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in LANGUAGES:
            raise InputError(f"the language is one of {', '.join(LANGUAGES)}")
        if self.lock_minutes not in LOCK_MINUTES:
            raise InputError(f"minutes to auto-lock are between {LOCK_MINUTES[0]} and {LOCK_MINUTES[-1]}")


def read(directory: Path) -> Preferences:
    """The preferences of a directory; the defaults if there are none or they cannot be read."""
    try:
        data: Any = json.loads((directory / FILE_NAME).read_text(encoding="utf-8"))
        return Preferences(data.get("language"), int(data.get("lock_minutes", 15)))
    except (OSError, ValueError, AttributeError, TypeError, InputError):
        return Preferences()


def write(directory: Path, preferences: Preferences) -> None:
    """Keep them, for the owner only."""
    files.private_directory(directory)
    with files.replacing(directory / FILE_NAME) as temporary:
        temporary.write_text(json.dumps(asdict(preferences)), encoding="utf-8")
