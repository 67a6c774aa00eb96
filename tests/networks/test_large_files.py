"""Large edge lists are read piece by piece, and the binary form is mapped; both give the same networks."""

import gzip

import numpy as np
import pytest

from claim.errors import InputError
from claim.io import text
from claim.networks import Network, assembling, load
from claim.networks.assembling import NumberLabels, Pairs
from claim.networks.formats import binary, read_network


def zstd_of(content: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(content)


@pytest.fixture
def always_large(monkeypatch):
    """Every file goes the way of large ones: a file of pairs, compiled loops, arrays of labels."""
    monkeypatch.setattr(assembling, "PIECE", 3)
    monkeypatch.setattr(assembling, "IN_MEMORY", 64)
    monkeypatch.setattr(assembling, "MANY", 0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("labels", [np.arange(40), np.arange(40) * 10**15 + 7])
def test_pairs_make_the_network_of_all_pairs_at_once(always_large, directed, labels):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        ends = labels[rng.integers(0, 12 + seed, (rng.integers(4, 90), 2))]  # with loops and repeated ones
        with Pairs() as pairs:
            for piece in np.array_split(ends, 5):
                pairs.add(piece)
            found = pairs.network(directed)
        known, indices = np.unique(ends, return_inverse=True)
        expected = Network.from_edges(*indices.reshape(-1, 2).T, labels=known.tolist(), directed=directed)
        assert found == expected
        assert found.dropped == expected.dropped
        assert isinstance(found.labels, NumberLabels)
        assert (found.contacts.dtype, found.offsets.dtype) == (expected.contacts.dtype, expected.offsets.dtype)


def test_text_is_parsed_by_compiled_code_as_otherwise(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = "".join(f"{a},{b}\r\n" for a, b in rng.integers(0, 10**17, (200, 2)).tolist())
    path = tmp_path / "ties.csv"
    path.write_text("# people\n" + lines + "999999999999999999,0")
    expected = load(path)
    monkeypatch.setattr(assembling, "PIECE", 3)
    assert load(path) == expected


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_packed_files_are_read(tmp_path, ending):
    content = "".join(f"{i} {i * 7 % 5000}\n" for i in range(5000)).encode()
    plain = tmp_path / "ties.edges"
    plain.write_bytes(content)
    packed = tmp_path / f"ties.edges{ending}"
    halves = content[:20_002], content[20_002:]  # two frames, one after the other
    packed.write_bytes(b"".join(map(gzip.compress if ending == ".gz" else zstd_of, halves)))
    assert load(packed) == load(plain)
    assert load(packed).name == "ties"


def test_damaged_zstd_files_and_bombs_are_refused_in_one_line(tmp_path, monkeypatch):
    content = zstd_of(b"".join(b"%d %d\n" % (i, i * i) for i in range(3000)))
    monkeypatch.setattr(text, "GZIP_FREE_BYTES", 1 << 19)
    monkeypatch.setattr(text, "GZIP_MAX_RATIO", 10)
    bad = {
        "ends too early": content[:-200],
        "is damaged": content[:4] + b"\xff" * 8 + content[12:],
        "MiB of text": zstd_of(b"1 2\n" * (1 << 20)),
    }
    for problem, packed in bad.items():
        path = tmp_path / "a.edges.zst"
        path.write_bytes(packed)
        with pytest.raises(InputError, match=problem):
            load(path)


# The binary form ------------------------------------------------------------------------------------------------------

NETWORKS = {
    "numbers": Network.from_edges([0, 1, 2], [1, 2, 0], n=5, name="numbers"),
    "texts": Network.from_edges([0, 1], [1, 2], labels=["Ann", "Zoë", "老王", ""], name="texts"),
    "directed": Network.from_edges([0, 1], [1, 0], labels=[-5, 3, 8], directed=True),
    "probabilities": Network.from_edges([0, 1], [1, 2], probabilities=[0.25, 1.0]),
    "empty": Network.from_edges([], [], n=1),
}


@pytest.mark.parametrize("many", [0, 10])
@pytest.mark.parametrize("which", NETWORKS)
def test_the_binary_form_gives_the_same_network(tmp_path, which, many, monkeypatch):
    monkeypatch.setattr(binary, "MANY", many)
    network, path = NETWORKS[which], tmp_path / "some.claimnet"
    binary.write(network, path)
    again = read_network(path)
    assert again == network
    assert (list(again.labels), again.directed, again.name) == (list(network.labels), network.directed, "some")
    assert (again.probabilities is None) == (network.probabilities is None)
    assert again.index_of(network.labels[-1]) == network.n - 1
    with pytest.raises(ValueError, match="read-only"):
        again.offsets[0] = 1


def test_arrays_are_mapped_and_not_read(tmp_path):
    path = tmp_path / "some.claimnet"
    binary.write(NETWORKS["numbers"], path)
    contacts = load(path).contacts
    while isinstance(contacts.base, np.ndarray):
        contacts = contacts.base
    assert isinstance(contacts, np.memmap)


def damaged(content: bytes, place: int, value: int) -> bytes:
    return (
        content[: binary.HEADER + place]
        + value.to_bytes(4, "little", signed=True)
        + content[binary.HEADER + place + 4 :]
    )


def test_damaged_files_are_refused_before_a_loop_runs_out_of_them(tmp_path):
    path = tmp_path / "some.claimnet"
    binary.write(NETWORKS["probabilities"], path)
    whole = path.read_bytes()
    begin = 64  # of the contacts; four offsets are before
    bad = [whole[:-80], whole[: binary.HEADER], whole[:50], whole.replace(b'"contacts": 4', b'"contacts": 9')]
    bad += [whole.replace(b'"offsets": 4', b'"offsets":-4'), whole.replace(b'"numbers"', b'"nambers"')]
    bad += [damaged(whole, begin, 3), damaged(whole, begin, -1), damaged(whole, 8, 100), damaged(whole, 0, 1)]
    bad += [damaged(whole, 2 * begin + 4, 0x7F000000)]
    for content in bad:
        path.write_bytes(content)
        with pytest.raises(InputError, match="damaged or incomplete"):
            load(path)
    path.write_bytes(b"something else altogether")
    with pytest.raises(InputError, match=r"no \.claimnet file"):
        load(path)
