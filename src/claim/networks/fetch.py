"""Download published networks and check them against their known checksums."""

import enum
import http.client
import os
import re
import struct
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from claim.errors import ClaimError, InputError
from claim.io.files import write_whole
from claim.io.text import printable
from claim.networks.catalogue import PUBLISHER, KnownNetwork, find, places
from claim.networks.formats import Options, Source, read_network, read_source
from claim.networks.network import Network

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


MAX_MEMBER = 64 * 1024**2  # bytes of a network file in a zip; the largest published one is far below 1 MiB
_MEMBER_ENDINGS = (".edges", ".mtx", ".txt")  # best first
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, ValueError, OverflowError)

__all__ = ["FetchError", "FetchStatus", "Fetched", "fetch", "fetch_one", "fetchable"]


class FetchStatus(enum.Enum):
    """How a fetch ended."""

    VERIFIED = "verified"
    OTHER_NUMBERING = "same size, different numbering: published start sets will not match"
    PRESENT = "already there"
    FAILED = "failed"


@dataclass(frozen=True)
class Fetched:
    """What became of one network."""

    network: KnownNetwork
    status: FetchStatus
    path: Path | None = None
    problem: str | None = None  # why it failed, in one line


def fetch(
    names: Sequence[str],
    destination: str | os.PathLike[str],
    *,
    base_url: str = PUBLISHER,
    progress: Progress | None = None,
    timeout: float = 30,
) -> list[Fetched]:
    """Fetch networks by name into ``<destination>/<family>/<name>.edges``; one that fails does not stop the others."""
    wanted = [fetchable(name) for name in dict.fromkeys(names)]
    results = []
    for known in wanted:
        try:
            results.append(fetch_one(known, Path(destination), base_url=base_url, progress=progress, timeout=timeout))
        except ClaimError as error:
            results.append(Fetched(known, FetchStatus.FAILED, problem=str(error)))
    return results


def fetch_one(
    known: KnownNetwork,
    destination: Path,
    *,
    base_url: str = PUBLISHER,
    progress: Progress | None = None,
    timeout: float = 30,
) -> Fetched:
    """Fetch one network from the first of its addresses that has it; raises :class:`FetchError` if none does."""
    path, *others = places(known, destination)
    there = next((place for place in (path, *others) if place.is_file()), None)  # the one that would be read
    if there is not None and _is_there(known, there):
        return Fetched(known, FetchStatus.PRESENT, there)
    _make_folder(path.parent)
    problems = []
    for address in known.downloads:
        url = f"{base_url.rstrip('/')}/{address}"
        part = path.with_name(f"{Path(address).name}.part")
        try:
            download(url, part, progress=progress, timeout=timeout)
            return _accept(known, _unpack(url, part), url, path, part)
        except FetchError as error:
            problems.append(str(error))
    by_hand = f"to get it by hand, save the network's edge list as {printable(str(path))}"
    raise FetchError(f"{'; '.join(problems)}; {by_hand}")


def _accept(known: KnownNetwork, network: Network, url: str, path: Path, part: Path) -> Fetched:
    part.unlink()  # complete and readable: nothing to resume any more
    if not known.matches(network):
        size = f"{network.n} people and {network.m} edges"
        raise FetchError(f"{printable(url)}: has {size}, {known.name} has {known.people} and {known.edges}")
    network = _numbered_from_zero(network)
    try:
        _write_atomically(network, path)
    except OSError as error:
        raise FetchError(f"{printable(str(path))}: cannot be written ({error.strerror})") from None
    same = network.checksum == known.checksum
    return Fetched(known, FetchStatus.VERIFIED if same else FetchStatus.OTHER_NUMBERING, path)


def fetchable(name: str) -> KnownNetwork:
    """The known network of this name; refused if there is nothing to download."""
    known = find(name)
    if not known.downloads:
        raise InputError(f"{known.name} is {known.how_to_get}; there is nothing to fetch")
    return known


def _is_there(known: KnownNetwork, path: Path) -> bool:
    try:
        return known.matches(read_network(path))
    except InputError:
        return False


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FetchError(f"{printable(str(folder))}: cannot be made ({error.strerror})") from None


def _unpack(url: str, part: Path) -> Network:
    """The network in a downloaded zip; a damaged one is deleted, as resuming it would never mend it."""
    try:
        with zipfile.ZipFile(part) as archive:
            member = _network_member(url, archive)
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise zipfile.BadZipFile("unusual compression")
            with archive.open(member) as file:
                content = file.read(MAX_MEMBER + 1)
        if len(content) > MAX_MEMBER:  # whatever size the zip claims
            raise FetchError(f"{printable(url)}: unpacks to more than {MAX_MEMBER >> 20} MiB")
        return read_source(Source(Path(member.filename), content), Options(directed=False))
    except _ZIP_ERRORS as error:
        part.unlink(missing_ok=True)
        raise FetchError(f"{printable(url)}: not a readable zip file ({printable(str(error))}); try again") from None
    except ClaimError as error:
        part.unlink(missing_ok=True)
        message = str(error)
        raise FetchError(message if message.startswith(printable(url)) else f"{printable(url)}: {message}") from None


def _network_member(url: str, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The file in the zip that holds the network: the best ending, then the largest (others explain the data)."""
    for ending in _MEMBER_ENDINGS:
        members = [info for info in archive.infolist() if info.filename.lower().endswith(ending)]
        if members:
            return max(members, key=lambda info: info.file_size)
    raise FetchError(f"{printable(url)}: no {', '.join(_MEMBER_ENDINGS)} file in the zip")


def _numbered_from_zero(network: Network) -> Network:
    """People renamed ``0..n-1`` in the order of their published numbers."""
    sources, targets, _ = network.edges()
    return Network.from_edges(sources, targets, n=network.n, name=network.name)


def _write_atomically(network: Network, path: Path) -> None:
    """Write an edge list so that the file is either the whole network or not there."""
    sources, targets, _ = network.edges()
    alone = np.flatnonzero(np.bincount(np.concatenate([sources, targets]), minlength=network.n) == 0)
    pairs = [*zip(sources, targets, strict=True), *zip(alone, alone, strict=True)]  # "7 7" keeps person 7
    write_whole(path, "".join(f"{u} {v}\n" for u, v in pairs))
