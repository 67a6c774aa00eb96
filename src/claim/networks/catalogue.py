"""Networks by name: published networks, families, and where their files are."""

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal, TypeAlias

from claim.errors import InputError
from claim.io.text import printable, shown
from claim.networks.formats import read_network
from claim.networks.network import Network

Role: TypeAlias = Literal["train", "test"]
Kind: TypeAlias = Literal["public", "synthetic"]


@dataclass(frozen=True)
class KnownNetwork:
    """A network of the catalogue; policies learn on the train networks of a family and are judged on its test ones."""

    name: str
    family: str
    role: Role
    kind: Kind
    origin: str  # whom to cite, or how it is made
    people: int | None = None  # None: known once a synthetic network is made
    edges: int | None = None
    start_seed: int | None = None  # seed of the published start sets, where one was published
    checksum: str | None = None  # of the network the published experiments used
    downloads: tuple[str, ...] = ()  # below the publisher's address, likeliest first
    make: Callable[[], Network] | None = None

    @property
    def address(self) -> str:
        """The unmistakable name, such as ``retweet/israel``."""
        return f"{self.family}/{self.name}"

    @property
    def how_to_get(self) -> str:
        """What a user does to have it."""
        return "made when asked for" if self.kind == "synthetic" else f"claim networks fetch {self.name}"

    def matches(self, network: Network) -> bool:
        """Whether a network has the published size; without one, anything matches."""
        return self.people in (None, network.n) and self.edges in (None, network.m)


PUBLISHER = "https://nrvis.com/download/data/"

RETWEET_SOURCE = (
    "Retweet networks from Network Repository: R. A. Rossi and N. K. Ahmed, "
    "The Network Data Repository with Interactive Graph Analytics and Visualization, AAAI 2015."
)
VOLE_SOURCE = (
    "Vole contact networks: S. Davis, B. Abbasi, S. Shah, S. Telfer and M. Begon, "
    "Spatial analyses of wildlife contact networks, J. R. Soc. Interface 12(102), 2015; "
    "also carried by Network Repository (Rossi and Ahmed, AAAI 2015)."
)

_CHECKSUMS = {
    "copen": "4ab3ad7ca22c611fa681f161d25627de33f31f9b3baddd45cb403d8b2ff77b8e",
    "occupy": "855bc3a0aad29de6183c2c980fcea02b619bc73e21cca8e638296439cbb1748d",
    "israel": "e669ce2b988d034e2fadaba923fec2b8c22f98fea4e0487956499755f717d58e",
    "damascus": "b1e5afd3e74e2a997c44a4000e6042dfb4f385494839077aed29435a92fb20fd",
    "obama": "a721f8390e8d50311608eebf974455dd18f2692311210b224208af3418352d54",
    "assad": "6bc31d4f76309e0d30d3533ddf2d6af51a1bfad68e30ae31fdfa960459af146e",
    "plj": "dfdc8b7773a4ac660342c10f720b652700bb2f0c4dd503f9427cba9636aa9d95",
    "rob": "904de1a529ef2774169fc75a0364bf19f620e54ede0980331f2c17def9e3642e",
    "bhp": "b04cdcdc09872bd6bb6d69ab93b7eacd4a7ba4b3bc152a57adac50339bfdb99a",
    "kcs": "65622a74c3d318c3c46ef9c5bd43b8148c69c1531c71ecdabe0458ac646ce4ec",
}


def _retweet(name: str, role: Role, people: int, edges: int, seed: int | None, *downloads: str) -> KnownNetwork:
    checksum = _CHECKSUMS[name]
    return KnownNetwork(name, "retweet", role, "public", RETWEET_SOURCE, people, edges, seed, checksum, downloads)


def _voles(name: str, role: Role, people: int, edges: int, seed: int | None) -> KnownNetwork:
    checksum, downloads = _CHECKSUMS[name], (f"asn/mammalia-voles-{name}-trapping.zip",)
    return KnownNetwork(name, "animal", role, "public", VOLE_SOURCE, people, edges, seed, checksum, downloads)


# Not verified: of the downloads, only rt/rt-twitter-copen.zip and rt/rt_barackobama.zip were seen in use elsewhere; the
# other names follow the publisher's habit. rt_barackobama is said to hold some ten thousand people, so rt_obama is
# tried first. Whatever is downloaded counts only if it has the size given here.
#
# Columns: name, role, people, edges, seed of the published start sets, downloads.
PUBLIC_NETWORKS = (
    _retweet("copen", "train", 761, 1029, None, "rt/rt-twitter-copen.zip"),
    _retweet("occupy", "train", 3225, 3939, None, "rt/rt_occupy.zip"),
    _retweet("israel", "test", 3698, 4164, 10, "rt/rt_israel.zip"),
    _retweet("damascus", "test", 3052, 3869, 10, "rt/rt_damascus.zip"),
    _retweet("obama", "test", 3212, 3422, 10, "rt/rt_obama.zip", "rt/rt_barackobama.zip"),
    _retweet("assad", "test", 2139, 2786, 10, "rt/rt_assad.zip"),
    _voles("plj", "train", 1263, 3380, None),
    _voles("rob", "train", 1480, 3935, None),
    _voles("bhp", "test", 1686, 4623, 10),
    _voles("kcs", "test", 1218, 3592, 20),
)


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
    network: object,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    directed: bool | None = None,
    probabilities: bool = False,
) -> Network:
    """A network by its name (``israel`` or ``retweet/israel``) or, if nothing has that name, from a file.

    Anything else that stands for a network is taken by :meth:`Network.of`.
    """
    if not isinstance(network, str | os.PathLike):
        if directed is not None or probabilities:
            raise InputError("directed and probabilities are for names and files; make the network itself so")
        return Network.of(network)
    known = _by_name().get(network.lower()) if isinstance(network, str) else None
    if known is not None and known.make is not None:
        return _made(known, directed, probabilities)
    path = _existing_path(network) if known is None else locate(known, data_dir)
    if path is None and known is not None:
        raise InputError(_how_to_get(known, data_dir))
    if path is None:
        raise InputError(f"{_unknown(str(network))}, nor is it a file")
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
