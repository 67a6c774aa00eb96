"""Networks by name: published networks, families, and where their files are."""

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from claim.errors import InputError
from claim.io.text import Source, printable, shown
from claim.networks.formats import read_network
from claim.networks.network import Network, NetworkLike
from claim.networks.synthetic import FAMILIES, SyntheticFamily

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
        if self.downloads:
            return f"claim networks fetch {self.name}"
        return "made when asked for" if self.kind == "synthetic" else BY_HAND

    def matches(self, network: Network) -> bool:
        """Whether a network has the published size; without one, anything matches."""
        return self.people in (None, network.n) and self.edges in (None, network.m)


PUBLISHER = "https://nrvis.com/download/data/"
BY_HAND = "hdl:1902.1/21538"  # where the villages are published; nothing downloads them
_SOURCES = {
    "retweet": "Retweet networks from Network Repository: R. A. Rossi and N. K. Ahmed, "
    "The Network Data Repository with Interactive Graph Analytics and Visualization, AAAI 2015.",
    "animal": "Vole contact networks: S. Davis, B. Abbasi, S. Shah, S. Telfer and M. Begon, "
    "Spatial analyses of wildlife contact networks, J. R. Soc. Interface 12(102), 2015; "
    "also carried by Network Repository (Rossi and Ahmed, AAAI 2015).",
    "villages": "Households of villages in Karnataka, India, and who is tied to whom: A. Banerjee, "
    "A. G. Chandrasekhar, E. Duflo and M. O. Jackson, The Diffusion of Microfinance, "
    f"Science 341, 2013; data at Harvard Dataverse, {BY_HAND}.",
}
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
    "village1": "48b64a31bfda53f18d6f06999c87ebb3abbc4782c507f9d436cc97738a09bb48",
    "village2": "1d521fd0bdebfa696dd50c43ed03dd7860d1fee877f7ca2cc1711f297672aa68",
    "village3": "90d6886d129571c8f792aa3836e55477599420c5adc2b6d23debf462cc0cd53a",
    "village12": "2294367dd6f8da725f2f5acee78c08cace41d1ff00d2665294e84028288fd831",
    "village19": "7fb449134e721633680c99249fd66536782c743490df9d2736d0a220d667730e",
    "village20": "13afb8b2fe13aeea81fa0cf117b290d0e51f9ab275b8e8aa23b3af271ab23fd3",
    "village21": "1f34194c7080b73c3386e8c21d48004c091ff661b8cd8f80ed621ae559f25229",
    "village23": "160422bb60c69d9c8d56936a7272454bd2cf3ae1f61f9cbde400c2648fd54d7a",
    "village24": "0c9ea29ccb18966a2a219f3e766e58c9d99c723b4ccf7015ee735b1d48ae9290",
    "village25": "f18a2aa616fed1495a9a172f6584f4645165f74a6042c6db12c3fe0fa64696d1",
    "village28": "35e60047ac20baff0c785949c68a1c05c16b8fcf4729f7d04c9870532ee73243",
    "village29": "e304daedd00f6fe1a8336c3419b3966571c76723e5230a7f662829f2d7621276",
    "village32": "fcf825111c71962ae028946fe47ac45c49c0bb309155137135d26e209c5c0a57",
    "village33": "43b3ecd8bbc1a2a4957ea88216a63a139d2c1a7b3e8ddcf1ecd7f48fa86756da",
    "village36": "5e7454582cd12cb84e49cde609be13fc05088f642f8b3a1ff52a468d5f617e7f",
    "village39": "5975f419f6353da35c84c2c2583ce65451a50033c4467f4b771cf875fdcc32b5",
    "village42": "d6dde63e111d67b6f75e3313db8b5b3bb76ead3375e8768a3805cf34b1a39273",
    "village43": "ecafb343845dae1cf4d33cef2706160376d18d7317523e867277c9fec14dc5e5",
    "village46": "dd3c65aae08e5563c05653f2b59c0e26dd64ceaa4ce40199967cad16c72d57f7",
    "village51": "8a01f0aee824d3b176be67eb37364c68b7cb3881327c81e274f58052bfb54f98",
}


def _public(
    name: str, family: str, role: Role, people: int, edges: int, start_seed: int | None, *downloads: str
) -> KnownNetwork:
    source, checksum = _SOURCES[family], _CHECKSUMS[name]
    return KnownNetwork(name, family, role, "public", source, people, edges, start_seed, checksum, downloads)


def _synthetic(family: SyntheticFamily, name: str) -> KnownNetwork:
    role: Role = "test" if name in family.test else "train"
    return KnownNetwork(name, family.name, role, "synthetic", family.description, make=partial(family.make, name))


# Not verified: of the downloads, only rt/rt-twitter-copen.zip and rt/rt_barackobama.zip were seen in use elsewhere; the
# other names follow the publisher's habit. rt_barackobama is said to hold some ten thousand people, so rt_obama is
# tried first. Whatever is downloaded counts only if it has the size given here.
#
# Columns: name, family, role, people, edges, seed of the published start sets, downloads.
PUBLIC_NETWORKS = (
    _public("copen", "retweet", "train", 761, 1029, None, "rt/rt-twitter-copen.zip"),
    _public("occupy", "retweet", "train", 3225, 3939, None, "rt/rt_occupy.zip"),
    _public("israel", "retweet", "test", 3698, 4164, 10, "rt/rt_israel.zip"),
    _public("damascus", "retweet", "test", 3052, 3869, 10, "rt/rt_damascus.zip"),
    _public("obama", "retweet", "test", 3212, 3422, 10, "rt/rt_obama.zip", "rt/rt_barackobama.zip"),
    _public("assad", "retweet", "test", 2139, 2786, 10, "rt/rt_assad.zip"),
    _public("plj", "animal", "train", 1263, 3380, None, "asn/mammalia-voles-plj-trapping.zip"),
    _public("rob", "animal", "train", 1480, 3935, None, "asn/mammalia-voles-rob-trapping.zip"),
    _public("bhp", "animal", "test", 1686, 4623, 10, "asn/mammalia-voles-bhp-trapping.zip"),
    _public("kcs", "animal", "test", 1218, 3592, 20, "asn/mammalia-voles-kcs-trapping.zip"),
    _public("village1", "villages", "train", 174, 867, None),
    _public("village3", "villages", "train", 272, 1294, None),
    _public("village12", "villages", "train", 166, 703, None),
    _public("village20", "villages", "train", 131, 476, None),
    _public("village23", "villages", "train", 235, 1063, None),
    _public("village25", "villages", "train", 243, 1162, None),
    _public("village29", "villages", "train", 270, 1126, None),
    _public("village32", "villages", "train", 227, 1171, None),
    _public("village36", "villages", "train", 269, 1496, None),
    _public("village42", "villages", "train", 173, 715, None),
    _public("village2", "villages", "test", 178, 674, None),
    _public("village19", "villages", "test", 200, 918, None),
    _public("village21", "villages", "test", 193, 952, None),
    _public("village24", "villages", "test", 158, 806, None),
    _public("village28", "villages", "test", 298, 1374, None),
    _public("village33", "villages", "test", 194, 758, None),
    _public("village39", "villages", "test", 274, 1203, None),
    _public("village43", "villages", "test", 192, 826, None),
    _public("village46", "villages", "test", 249, 1084, None),
    _public("village51", "villages", "test", 236, 1604, None),
)
KNOWN_NETWORKS = (
    *PUBLIC_NETWORKS,
    *(_synthetic(family, name) for family in FAMILIES.values() for name in family.recipes),
)
_BY_NAME = {key.lower(): known for known in KNOWN_NETWORKS for key in (known.name, known.address)}

LOOK_ALIKES = {"retweet-like": "retweet", "vole-like": "animal"}  # family to the family whose models suit it

EVERY_FAMILY = "all"
DATA_VARIABLE = "CLAIM_DATA"  # environment variable that names the data directory
_ENDINGS = (".edges", ".edges.gz")


def load(
    network: object,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    directed: bool | None = None,
    probabilities: bool = False,
    people: str | os.PathLike[str] | None = None,
) -> Network:
    """Load a network by its name (``israel`` or ``retweet/israel``) or, if no network has that name, from a file.

    Anything else that stands for a network is taken by :meth:`Network.of`. ``data_dir`` is the folder of the public
    networks (else ``CLAIM_DATA``). ``directed`` overrides what a file says; ``probabilities`` says that its third
    column, or the values of a matrix, are the probabilities of the ties. ``people`` is a file that says more about the
    people, such as their region (see :meth:`Network.groups`); without it, ``NAME.people.csv`` beside the network's file
    is taken, or the nodes of a GraphML or GEXF file.
    """
    loaded = _loaded(network, data_dir, directed, probabilities)
    return loaded if people is None else replace(loaded, people_file=Source(Path(people)))


def _loaded(
    network: object, data_dir: str | os.PathLike[str] | None, directed: bool | None, probabilities: bool
) -> Network:
    if not isinstance(network, str | os.PathLike):
        if directed is not None or probabilities:
            raise InputError("directed and probabilities are for names and files; make the network itself so")
        return Network.of(network)
    known = _BY_NAME.get(network.lower()) if isinstance(network, str) else None
    if known is None:
        if not os.path.exists(network):  # false, too, for a name too long for a file or with a NUL in it
            raise InputError(f"{_unknown(str(network))}, nor is it a file")
        return read_network(network, directed=directed, probabilities=probabilities)
    if known.make is not None:
        if directed or probabilities:
            raise InputError(f"{known.name} is made undirected and without edge probabilities")
        return known.make()
    path = locate(known, data_dir)
    if path is None:
        places = " or ".join(printable(str(directory)) for directory in data_directories(data_dir))
        raise InputError(f"{known.name} is not in {places}; how to get it: {known.how_to_get}")
    return read_network(path, directed=directed, probabilities=probabilities, name=known.name)


def networks_given(networks: Iterable[NetworkLike] | NetworkLike, role: str = "test") -> list[str | Network]:
    """One entry per network, names still as names: a family stands for its networks of a role.

    ``networks`` are one or several, each given as :func:`load` takes it; a text may list several, separated by commas.
    """
    if isinstance(networks, str):
        networks = [name.strip() for name in networks.split(",") if name.strip()]
    elif not isinstance(networks, Sequence | Set | Iterator):  # graphs and matrices are iterable, too
        networks = [networks]
    given: list[str | Network] = []
    for each in networks:
        named = isinstance(each, str | os.PathLike)
        given += [name for name in expand([os.fspath(each)], role) if name not in given] if named else [load(each)]
    return given


def load_all(
    given: Iterable[str | Network],
    data_dir: str | os.PathLike[str] | None = None,
    directed: bool | None = None,
) -> list[Network]:
    """Load what :func:`networks_given` lists; each name may stand for one network only, because tables show names."""
    options: Any = {"data_dir": data_dir, "directed": directed}
    loaded = [each if isinstance(each, Network) else load(each, **options) for each in given]
    names = [network.name for network in loaded]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two networks are called {twice}: give each a name of its own")
    return loaded


def find(name: str) -> KnownNetwork:
    """Find a known network by its name, alone or after its family and a slash."""
    if name.lower() not in _BY_NAME:
        raise InputError(_unknown(name))
    return _BY_NAME[name.lower()]


def family_of(network: Network) -> str | None:
    """The family of a known network; a public one is recognised by its structure, whatever file it came from."""
    for known in KNOWN_NETWORKS:
        if known.checksum == network.checksum or (known.kind == "synthetic" and known.name == network.name):
            return known.family
    return None


def families() -> list[str]:
    """The names of all families."""
    return list(dict.fromkeys(known.family for known in KNOWN_NETWORKS))


def family_networks(family: str, role: str | None = None) -> list[KnownNetwork]:
    """The networks of a family (``all``: of every family but look-alikes), or only those of the role train or test."""
    wanted = [each for each in families() if not each.endswith("-like")] if family == EVERY_FAMILY else [family]
    if not set(wanted) <= set(families()):
        raise InputError(f"{shown(family)} is no family of networks; there are {', '.join(families())}")
    if role not in (None, "train", "test"):
        raise InputError(f"{shown(f'{family}:{role}')}: networks of a family are its train or its test networks")
    return [known for known in KNOWN_NETWORKS if known.family in wanted and role in (None, known.role)]


def with_look_alikes(family: str) -> list[str]:
    """The family, and after it the synthetic family that resembles it, if there is one."""
    return [family, *(like for like, real in LOOK_ALIKES.items() if real == family)]


def expand(names: Sequence[str], role: str = "test") -> list[str]:
    """The names with families replaced by their networks of a role, each once.

    ``retweet:train`` and ``retweet:test`` say which are meant. Anything else, such as a file, stays as it is.
    """
    expanded: list[str] = []
    for name in names:
        family, _, wanted = name.partition(":")
        found = family_networks(family, wanted or role) if family in (EVERY_FAMILY, *families()) else None
        expanded += [name] if found is None else [known.name for known in found]
    return list(dict.fromkeys(expanded))


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


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), [known.name for known in KNOWN_NETWORKS], n=3)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    return f"{shown(name)} is no known network{hint}"
