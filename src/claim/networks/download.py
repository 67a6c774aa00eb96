"""Downloading one file over HTTP so that an interrupted download can be taken up again."""

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from claim.errors import ClaimError
from claim.networks.formats.text import printable

Progress: TypeAlias = Callable[[int, int | None], None]  # bytes done, bytes in all (None: the server does not say)

MAX_DOWNLOAD = 256 * 1024**2
_CHUNK = 1 << 16


class FetchError(ClaimError):
    """A download that failed or cannot be used; says what to do instead."""


def download(url: str, part: Path, *, progress: Progress | None = None, timeout: float = 30) -> None:
    """Download into ``part``, going on where an earlier attempt stopped if the server allows it.

    What has arrived stays in ``part`` when this fails.
    """
    if not url.startswith(("http://", "https://")):
        raise FetchError(f"{printable(url)}: only http and https addresses can be downloaded")
    try:
        _receive(url, part, progress or (lambda done, total: None), timeout)
    except urllib.error.HTTPError as error:
        raise FetchError(f"{printable(url)}: the server answered {error.code} {printable(str(error.reason))}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = printable(str(getattr(error, "reason", None) or error or type(error).__name__))
        raise FetchError(f"{printable(url)}: cannot be downloaded ({reason})") from None


def _receive(url: str, part: Path, progress: Progress, timeout: float) -> None:
    with _open(url, part, timeout) as response:
        start, total = _resume_point(response, _size(part))
        if total is not None and total > MAX_DOWNLOAD:
            raise FetchError(f"{printable(url)}: larger than {MAX_DOWNLOAD >> 20} MiB, so not the file expected")
        done = _copy(response, part, start, total, progress)
    if done > MAX_DOWNLOAD:
        part.unlink()
        raise FetchError(f"{printable(url)}: larger than {MAX_DOWNLOAD >> 20} MiB, so not the file expected")
    if total is not None and done < total:
        problem = f"the connection broke after {done:,} of {total:,} bytes; run it again to go on from there"
        raise FetchError(f"{printable(url)}: {problem}")


def _open(url: str, part: Path, timeout: float) -> Any:
    """The response, for the missing rest if there is a beginning; afresh if the server cannot make sense of that."""
    headers = {"User-Agent": "claim"}
    if have := _size(part):
        try:
            ranged = urllib.request.Request(url, headers={**headers, "Range": f"bytes={have}-"})
            return urllib.request.urlopen(ranged, timeout=timeout)
        except urllib.error.HTTPError as error:
            if error.code != 416:  # range not satisfiable: the beginning we have is not of this file
                raise
            error.close()
            part.unlink()
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout)


def _resume_point(response: Any, have: int) -> tuple[int, int | None]:
    """Where the bytes that follow belong, and the size of the whole."""
    if response.status == 206:
        given = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if given is None or int(given[1]) != have:
            raise ValueError("the server sent another part of the file than asked for")
        return have, None if given[2] == "*" else int(given[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isascii() and length.isdigit() else None


def _copy(response: Any, part: Path, start: int, total: int | None, progress: Progress) -> int:
    done = start
    with part.open("ab" if start else "wb") as file:
        progress(done, total)
        while done <= MAX_DOWNLOAD and (chunk := response.read(_CHUNK)):
            file.write(chunk)
            done += len(chunk)
            progress(done, total)
    return done


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
