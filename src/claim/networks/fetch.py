"""Download published networks and check them against their known checksums."""

import enum
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from claim.errors import InputError
from claim.io.archives import Archive
from claim.io.files import make_folder, write_whole
from claim.io.text import printable
from claim.networks.catalogue import PUBLISHER, KnownNetwork, find, places
from claim.networks.formats import Options, Source, read_network, read_source
from claim.networks.network import Network

Progress: TypeAlias = Callable[[int, int | None], None]  # bytes done, bytes in all (None: the server does not say)

MAX_DOWNLOAD = 256 * 1024**2  # bytes
TIMEOUT = 30  # seconds without an answer
_CHUNK = 1 << 16
_MEMBER_ENDINGS = (".edges", ".mtx", ".txt")  # best first


class FetchStatus(enum.Enum):
    """How a fetch ended."""

    VERIFIED = "verified"
    OTHER_NUMBERING = "same size, different numbering: published start sets will not match"
    PRESENT = "already there"
    FAILED = "failed"


@dataclass(frozen=True)
class Fetched:
    """The outcome for one network."""

    network: KnownNetwork
    status: FetchStatus
    path: Path | None = None
    problem: str | None = None  # why it failed, in one line


def fetchable(name: str) -> KnownNetwork:
    """Find a network by name; an error if there is nothing to download."""
    known = find(name)
    if not known.downloads:
        raise InputError(f"{known.name}: there is nothing to fetch; how to get it: {known.how_to_get}")
    return known


def fetch(
    known: KnownNetwork, destination: Path, *, base_url: str = PUBLISHER, progress: Progress | None = None
) -> Fetched:
    """Fetch a network into ``<destination>/<family>/<name>.edges``, from the first of its addresses that has it."""
    candidates = places(known, destination)
    there = next((place for place in candidates if place.is_file()), None)  # the one that would be read
    if there is not None:
        with suppress(InputError):  # what cannot be read is fetched again
            if known.matches(read_network(there)):
                return Fetched(known, FetchStatus.PRESENT, there)
    path = candidates[0]
    try:
        make_folder(path.parent)
    except InputError as error:
        return Fetched(known, FetchStatus.FAILED, problem=str(error))
    problems = []
    for address in known.downloads:
        url = f"{base_url.rstrip('/')}/{address}"
        part = path.with_name(f"{Path(address).name}.part")
        try:
            download(url, part, progress)
            return _unpack(known, part, path)
        except (InputError, OSError) as error:
            problems.append(f"{printable(url)}: {printable(str(error))}")
    problems.append(f"to get it by hand, save the network's edge list as {printable(str(path))}")
    return Fetched(known, FetchStatus.FAILED, problem="; ".join(problems))


def _unpack(known: KnownNetwork, part: Path, path: Path) -> Fetched:
    """Write the network of a downloaded zip file as an edge list of people ``0..n-1``, in their published order."""
    try:
        network = _read_zip(Source(part.stem, part.read_bytes()))
    finally:
        part.unlink()  # complete, so there is nothing to resume
    if not known.matches(network):
        size = f"{network.n} people and {network.m} edges"
        raise InputError(f"has {size}, {known.name} has {known.people} and {known.edges}")
    sources, targets, _ = network.edges()
    alone = np.flatnonzero(np.bincount(np.concatenate([sources, targets]), minlength=network.n) == 0)
    pairs = [*zip(sources, targets, strict=True), *zip(alone, alone, strict=True)]  # "7 7" keeps person 7
    write_whole(path, "".join(f"{u} {v}\n" for u, v in pairs))
    same = Network.from_edges(sources, targets, n=network.n).checksum == known.checksum
    return Fetched(known, FetchStatus.VERIFIED if same else FetchStatus.OTHER_NUMBERING, path)


def _read_zip(source: Source) -> Network:
    """Read the file with the best ending, the largest if there are several (others explain the data)."""
    archive = Archive(source)
    for ending in _MEMBER_ENDINGS:
        members = [name for name in archive.names if name.lower().endswith(ending)]
        if members:
            return read_source(archive.read(max(members, key=archive.size)), Options(directed=False))
    raise InputError(f"no {', '.join(_MEMBER_ENDINGS)} file in the zip")


def download(url: str, part: Path, progress: Progress | None = None) -> None:
    """Download into ``part``, continuing an earlier attempt if the server allows it.

    The bytes that have arrived stay in ``part`` when this fails.
    """
    if not url.startswith(("http://", "https://")):
        raise InputError("only http and https addresses can be downloaded")
    try:
        _receive(url, part, progress or (lambda done, total: None))
    except urllib.error.HTTPError as error:
        raise InputError(f"the server answered {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise InputError(f"cannot be downloaded ({reason})") from None


def _receive(url: str, part: Path, progress: Progress) -> None:
    have = part.stat().st_size if part.exists() else 0
    with _open(url, have) as response:
        done = have if response.status == 206 else 0  # partial content: the missing rest
        if done and not response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
            raise ValueError("the server sent another part of the file than asked for")
        total = None if response.length is None else done + response.length
        too_large = InputError(f"larger than {MAX_DOWNLOAD >> 20} MiB, so not the file expected")
        if total is not None and total > MAX_DOWNLOAD:
            raise too_large
        with part.open("ab" if done else "wb") as file:
            progress(done, total)
            while done <= MAX_DOWNLOAD and (chunk := response.read(_CHUNK)):
                file.write(chunk)
                done += len(chunk)
                progress(done, total)
    if done > MAX_DOWNLOAD:
        part.unlink()
        raise too_large
    if total is not None and done < total:
        raise InputError(f"the connection broke after {done:,} of {total:,} bytes; run it again to go on from there")


def _open(url: str, have: int) -> Any:
    """Ask for the bytes after the first ``have``, or for all of them if the server has no bytes after those."""
    headers = {"User-Agent": "claim"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:  # range not satisfiable: the bytes we have are not of this file
            raise
        error.close()
        return _open(url, 0)
