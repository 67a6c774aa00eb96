"""The ten public networks of the published experiments: sizes, sources, start seeds and checksums, as plain data.

The checksums are of the networks as the published experiments numbered their people; the published start sets are
drawn by these numbers.
"""

from claim.networks.known import KnownNetwork, Role

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
