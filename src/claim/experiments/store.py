"""Results on disk: one file a job, written whole or not at all."""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from claim.errors import InputError
from claim.experiments.jobs import Job, Result, key_of
from claim.files import locked, write_whole


class Store:
    """The folder of a sweep: ``jobs/<key>.json`` for results, ``log.jsonl`` for what went wrong."""

    def __init__(self, folder: Path, revision: Any = None) -> None:
        self.folder, self.revision = folder, revision
        try:
            (folder / "jobs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot make this folder ({error.strerror})") from error

    def path(self, job: Job) -> Path:
        """Where a job's result is or will be."""
        return self.folder / "jobs" / f"{key_of(job)}.json"

    def load(self, job: Job) -> Result | None:
        """The result of a job, if it is there and whole."""
        record = self.record(job)
        return None if record is None else record["result"]

    def record(self, job: Job) -> dict[str, Any] | None:
        """The result of a job with the record of how it came about."""
        try:
            record: dict[str, Any] = json.loads(self.path(job).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and record.get("result") else None

    def save(self, job: Job, result: Result) -> None:
        """Keep a result."""
        record = {"name": job.name, "identity": job.identity(), "git": self.revision, "result": result}
        write_whole(self.path(job), json.dumps(record, allow_nan=False) + "\n")

    def log(self, **entry: Any) -> None:
        """One more line of what went wrong."""
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def locked(self) -> AbstractContextManager[None]:
        """Keep a second sweep out of the folder."""
        return locked(self.folder, "another experiment is at work in this folder")
