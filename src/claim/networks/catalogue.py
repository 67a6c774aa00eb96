"""Networks known by name: families, their split into training and test networks, and where the files are."""

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from claim.errors import InputError
from claim.networks.formats.text import printable, shown
from claim.networks.known import KnownNetwork, Role
from claim.networks.network import Network
from claim.networks.public import PUBLIC_NETWORKS
from claim.networks.reading import read_network

DATA_VARIABLE = "CLAIM_DATA"  # environment variable that names the data directory
_ENDINGS = (".edges", ".edges.gz")


@dataclass(frozen=True)
class Listed:
    """A known network, and where it is."""

    network: KnownNetwork
    path: Path | None  # None: not on disk, or made when asked for

    @property
    def present(self) -> bool:
        """Whether it can be loaded now."""
        return self.path is not None or self.network.kind == "synthetic"


def load(
    name_or_path: str | os.PathLike[str],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    directed: bool | None = None,
    probabilities: bool = False,
) -> Network:
    """A network by its name (``israel`` or ``retweet/israel``) or, if nothing has that name, from a file."""
    known = _by_name().get(name_or_path.lower()) if isinstance(name_or_path, str) else None
    if known is not None and known.make is not None:
        return _made(known, directed, probabilities)
    path = _existing_path(name_or_path) if known is None else locate(known, data_dir)
    if path is None and known is not None:
        raise InputError(_how_to_get(known, data_dir))
    if path is None:
        raise InputError(f"{_unknown(str(name_or_path))}, nor is it a file")
    name = None if known is None else known.name
    return read_network(path, directed=directed, probabilities=probabilities, name=name)


def find(name: str) -> KnownNetwork:
    """The known network of this name, alone or after its family and a slash."""
    known = _by_name().get(name.lower())
    if known is None:
        raise InputError(_unknown(name))
    return known


def family_of(network: Network) -> str | None:
    """The family of a known network; a public one is known by its structure, whatever file it came from."""
    for known in _entries():
        if known.checksum == network.checksum or (known.kind == "synthetic" and known.name == network.name):
            return known.family
    return None


def families() -> list[str]:
    """The names of all families."""
    return list(dict.fromkeys(known.family for known in _entries()))


def family_networks(family: str, role: Role | None = None) -> list[KnownNetwork]:
    """The networks of a family, or only its training or test networks."""
    if family not in families():
        raise InputError(f"{shown(family)} is no family of networks; there are {', '.join(families())}")
    return [known for known in _entries() if known.family == family and role in (None, known.role)]


def expand(names: Sequence[str]) -> list[str]:
    """The names with families replaced by their networks, each once.

    A family stands for its test networks; ``retweet:train`` and ``retweet:test`` say which. Anything else, such as a
    file, stays as it is.
    """
    expanded: list[str] = []
    for name in names:
        family, _, role = name.partition(":")
        expanded += _members(family, role) if family in families() else [name]
    return list(dict.fromkeys(expanded))


def known_networks(data_dir: str | os.PathLike[str] | None = None) -> list[Listed]:
    """All known networks, with the file of those that are on disk."""
    return [Listed(known, locate(known, data_dir)) for known in _entries()]


def locate(known: KnownNetwork, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The file of a public network, if it is in one of the data directories."""
    if known.kind == "synthetic":
        return None
    found = (path for directory in data_directories(data_dir) for path in places(known, directory) if path.is_file())
    return next(found, None)


def places(known: KnownNetwork, directory: Path) -> list[Path]:
    """Where in a data directory the file of a public network may be; the first is where downloads go."""
    stems = (directory / known.family / known.name, directory / known.name)
    return [stem.with_name(stem.name + ending) for stem in stems for ending in _ENDINGS]


def data_directories(data_dir: str | os.PathLike[str] | None = None) -> list[Path]:
    """Where files are looked for: the directory given, else ``CLAIM_DATA``, and then the user's own directory."""
    chosen = data_dir or os.environ.get(DATA_VARIABLE)
    return [Path(chosen).expanduser(), user_data_directory()] if chosen else [user_data_directory()]


def user_data_directory() -> Path:
    """Where this system keeps a user's data, and where downloads go by default."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "claim"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "claim"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "claim"


@cache
def _entries() -> tuple[KnownNetwork, ...]:
    return (*PUBLIC_NETWORKS, *_synthetic_entries())


@cache
def _by_name() -> dict[str, KnownNetwork]:
    by_name: dict[str, KnownNetwork] = {}
    for known in _entries():
        by_name.setdefault(known.name.lower(), known)
        by_name[known.address.lower()] = known
    return by_name


def _synthetic_entries() -> list[KnownNetwork]:
    """The made networks; imported only here, so that naming networks stays light."""
    from claim.networks.synthetic import FAMILIES

    entries: list[KnownNetwork] = []
    for family in FAMILIES.values():
        roles: dict[Role, tuple[str, ...]] = {"train": family.train, "test": family.test}
        for role, names in roles.items():
            for name in names:
                make = partial(family.make, name)
                entries.append(KnownNetwork(name, family.name, role, "synthetic", family.description, make=make))
    return entries


def _members(family: str, role: str) -> list[str]:
    if role not in ("", "train", "test"):
        raise InputError(f"{shown(f'{family}:{role}')}: networks of a family are its train or its test networks")
    return [known.name for known in family_networks(family) if known.role == (role or "test")]


def _made(known: KnownNetwork, directed: bool | None, probabilities: bool) -> Network:
    assert known.make is not None
    network = known.make()
    if directed not in (None, network.directed):
        raise InputError(f"{known.name} is made {'directed' if network.directed else 'undirected'}")
    if probabilities and network.probabilities is None:
        raise InputError(f"{known.name} is made without edge probabilities")
    return network


def _existing_path(path: str | os.PathLike[str]) -> Path | None:
    try:
        return Path(path) if Path(path).exists() else None
    except (OSError, ValueError):  # a name too long for a file, or with a NUL in it
        return None


def _how_to_get(known: KnownNetwork, data_dir: str | os.PathLike[str] | None) -> str:
    places = " or ".join(printable(str(directory)) for directory in data_directories(data_dir))
    return f"{known.name} is not in {places}; get it with: {known.how_to_get}"


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), [known.name for known in _entries()], n=3)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    return f"{shown(name)} is no known network{hint}"
