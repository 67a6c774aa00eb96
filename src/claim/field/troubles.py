"""What can go wrong with a study file, in plain words."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from claim.errors import ClaimError
from claim.field import cipher


class Conflict(ClaimError):
    """Somebody else changed the study meanwhile."""


class Damaged(ClaimError):
    """The file is not what was written."""


class NotSaved(ClaimError):
    """Nothing was written: the disk is full, or the file cannot be written to."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Database errors as one line a person can act on; messages hold no names."""
    try:
        yield
    except (exc.DBAPIError, cipher.driver().Error) as error:
        raise _translated(str(getattr(error, "orig", error))) from error
    except OSError as error:
        raise NotSaved(f"the study file cannot be used ({os.strerror(error.errno or 0)})") from error


def _translated(problem: str) -> ClaimError:
    if "locked" in problem:
        return Conflict("another program is writing to the study: try again in a moment")
    if "not a database" in problem or "malformed" in problem:
        return Damaged("the study file is damaged: restore a backup")
    if "full" in problem or "disk I/O" in problem:
        return NotSaved("nothing was saved: the disk is full or cannot be written to")
    if "readonly" in problem or "unable to open" in problem:
        return NotSaved("nothing was saved: the study file cannot be opened for writing")
    return NotSaved(f"nothing was saved: {problem}")
