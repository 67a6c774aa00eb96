"""Fetching the public networks from their publisher and checking that they are the ones that were published."""

import enum
import os
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from claim.errors import ClaimError, InputError
from claim.files import write_whole
from claim.networks.catalogue import find, places
from claim.networks.download import FetchError, Progress, download
from claim.networks.formats import Options, Source
from claim.networks.formats.text import printable
from claim.networks.known import KnownNetwork
from claim.networks.network import Network
from claim.networks.public import PUBLISHER
from claim.networks.reading import read_network, read_source

MAX_MEMBER = 64 * 1024**2  # bytes of a network file in a zip; the largest published one is far below 1 MiB
_MEMBER_ENDINGS = (".edges", ".mtx", ".txt")  # best first
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, ValueError, OverflowError)

__all__ = ["FetchError", "FetchStatus", "Fetched", "fetch", "fetch_one"]


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
    wanted = [_fetchable(name) for name in dict.fromkeys(names)]
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


def _fetchable(name: str) -> KnownNetwork:
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
