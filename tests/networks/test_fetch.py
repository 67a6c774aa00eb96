"""Fetching, against a real HTTP server on this computer."""

import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from claim.errors import InputError
from claim.networks import load, read_network
from claim.networks.catalogue import KnownNetwork, find
from claim.networks.fetch import Fetched, FetchStatus, download, fetch, fetchable
from claim.networks.network import Network

RING = Network.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
EDGES = b"% publisher's remark\n1,2,1301\n2,1,1302\n2,3,1303\n3,4,1304\n4,1,1305\n1,2,1306\n"
MIRRORED = b"1,3,1\n3,2,1\n2,4,1\n4,1,1\n"  # a ring too, but its people are numbered otherwise


def known(*downloads: str) -> KnownNetwork:
    return KnownNetwork(
        "ring", "shapes", "test", "public", "made up", 4, 4, None, RING.checksum, downloads or ("rt/ring.zip",)
    )


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Publisher(ThreadingHTTPServer):
    """Serves files, with or without Range support, and can hang up in the middle."""

    daemon_threads = True
    ranges = True
    announce_length = True
    hang_up_after: int | None = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data/"


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append((self.path, asked))
        content = self.server.files.get(self.path.removeprefix("/data/"))
        if content is None:
            return self.send_error(404)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.server.ranges else 0
        if start and start >= len(content):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if self.server.announce_length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][: self.server.hang_up_after])
        return None

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Publisher() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(publisher: Publisher, destination: Path, network: KnownNetwork | None = None) -> Fetched:
    return fetch(network or known(), destination, base_url=publisher.url)


def failure(publisher: Publisher, destination: Path, network: KnownNetwork | None = None) -> str:
    done = get(publisher, destination, network)
    assert done.status is FetchStatus.FAILED
    message = done.problem or ""
    assert message.isprintable()
    assert publisher.url in message
    assert f"by hand, save the network's edge list as {destination / 'shapes' / 'ring.edges'}" in message
    assert not (destination / "shapes" / "ring.edges").exists()
    return message


def test_a_published_network_is_verified_and_written(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"readme.html": b"<html>", "ring.edges": EDGES})
    done = get(publisher, tmp_path)
    assert done.status is FetchStatus.VERIFIED
    assert done.path == tmp_path / "shapes" / "ring.edges"
    assert done.path.read_text() == "0 1\n0 3\n1 2\n2 3\n"
    assert read_network(done.path).checksum == RING.checksum
    assert [path.name for path in done.path.parent.iterdir()] == ["ring.edges"]


def test_matrix_market_in_the_zip(publisher: Publisher, tmp_path: Path) -> None:
    matrix = b"%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n3 2\n4 3\n4 1\n"
    publisher.files["rt/ring.zip"] = zipped({"notes.txt": b"some words", "ring.mtx": matrix})
    assert get(publisher, tmp_path).status is FetchStatus.VERIFIED


def test_people_without_contacts_survive(publisher: Publisher, tmp_path: Path) -> None:
    pair = Network.from_edges([0], [2], n=4)
    entry = KnownNetwork("ring", "shapes", "test", "public", "", 4, 1, None, pair.checksum, ("rt/ring.zip",))
    matrix = b"%%MatrixMarket matrix coordinate pattern symmetric\n4 4 1\n3 1\n"
    publisher.files["rt/ring.zip"] = zipped({"ring.mtx": matrix})
    done = get(publisher, tmp_path, entry)
    assert done.status is FetchStatus.VERIFIED
    assert done.path is not None
    assert read_network(done.path).checksum == pair.checksum


def test_same_size_but_other_numbers_is_saved_and_said(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"ring.edges": MIRRORED})
    done = get(publisher, tmp_path)
    assert done.status is FetchStatus.OTHER_NUMBERING
    assert "published start sets will not match" in done.status.value
    assert done.path is not None
    assert done.path.exists()


def test_what_is_there_is_not_fetched_again(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"ring.edges": EDGES})
    path = get(publisher, tmp_path).path
    assert get(publisher, tmp_path).status is FetchStatus.PRESENT
    assert path is not None
    path.rename(tmp_path / path.name)  # without the folder of its family, where it is found as well
    assert get(publisher, tmp_path).status is FetchStatus.PRESENT
    assert len(publisher.requests) == 1
    (tmp_path / "shapes" / "ring.edges").write_text("half a file")
    assert get(publisher, tmp_path).status is FetchStatus.VERIFIED


def test_the_next_address_is_tried(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/other.zip"] = zipped({"a.edges": b"1 2\n"})
    publisher.files["rt/ring.zip"] = zipped({"a.edges": EDGES})
    assert get(publisher, tmp_path, known("rt/no.zip", "rt/other.zip", "rt/ring.zip")).status is FetchStatus.VERIFIED


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_connection_is_resumed(publisher: Publisher, tmp_path: Path, ranges: bool) -> None:
    whole = publisher.files["rt/ring.zip"] = zipped({"ring.edges": EDGES}, zipfile.ZIP_STORED)
    publisher.ranges, publisher.hang_up_after = ranges, 100
    assert f"broke after 100 of {len(whole)} bytes" in failure(publisher, tmp_path)
    part = tmp_path / "shapes" / "ring.zip.part"
    assert part.read_bytes() == whole[:100]

    publisher.hang_up_after = None
    assert get(publisher, tmp_path).status is FetchStatus.VERIFIED
    assert publisher.requests == [("/data/rt/ring.zip", None), ("/data/rt/ring.zip", "bytes=100-")]
    assert not part.exists()


def test_a_part_longer_than_the_file_is_thrown_away(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"ring.edges": EDGES})
    part = tmp_path / "shapes" / "ring.zip.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * 100_000)
    assert get(publisher, tmp_path).status is FetchStatus.VERIFIED


def test_a_part_of_another_file_fails_once_only(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"ring.edges": EDGES})
    part = tmp_path / "shapes" / "ring.zip.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * (len(publisher.files["rt/ring.zip"]) - 1))
    failure(publisher, tmp_path)
    assert get(publisher, tmp_path).status is FetchStatus.VERIFIED


@pytest.mark.parametrize("announced", [True, False])
def test_progress(publisher: Publisher, tmp_path: Path, announced: bool) -> None:
    publisher.announce_length = announced
    size = len(publisher.files.setdefault("rt/ring.zip", zipped({"ring.edges": EDGES})))
    seen: list[tuple[int, int | None]] = []
    fetch(known(), tmp_path, base_url=publisher.url, progress=lambda done, total: seen.append((done, total)))
    total = size if announced else None
    assert (seen[0], seen[-1]) == ((0, total), (size, total))


def damaged() -> bytes:
    content = bytearray(zipped({"ring.edges": EDGES}, zipfile.ZIP_STORED))
    content[60] ^= 0xFF  # within the member, so that its checksum fails
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (zipped({"ring.edges": EDGES + b"4,5,0\n"}), "has 5 people and 5 edges, ring has 4 and 4"),
        (b"<html>not found</html>", "a zip file that is damaged or incomplete"),
        (b"", "a zip file that is damaged or incomplete"),
        (damaged(), "a zip file that is damaged or incomplete"),
        (zipped({"ring.edges": EDGES})[:-30], "a zip file that is damaged or incomplete"),
        (zipped({"ring.edges": EDGES}, zipfile.ZIP_LZMA), "a zip file packed in an unusual way"),
        (zipped({"readme.html": b"<html>"}), "no .edges, .mtx, .txt file in the zip"),
        (zipped({"ring.edges": b"1,2\n1,\n"}), "[ring.edges]:2: a label is empty"),
        (zipped({"ring.edges": b"\x00\x01"}), "[ring.edges]:1: not a text file"),
        (zipped({"ring.edges": b""}), "no people in it"),
    ],
)
def test_what_is_not_the_network_is_refused(publisher: Publisher, tmp_path: Path, content: bytes, word: str) -> None:
    publisher.files["rt/ring.zip"] = content
    assert word in failure(publisher, tmp_path)
    assert list((tmp_path / "shapes").iterdir()) == []


def test_a_zip_bomb_is_refused(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"ring.edges": b"1 2\n" * (1 << 20)})
    assert "ring.edges' inside unpacks to an absurd size" in failure(publisher, tmp_path)


def test_a_path_in_the_zip_leads_nowhere(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/ring.zip"] = zipped({"../../evil.edges": EDGES})
    destination = tmp_path / "a" / "b"
    assert "the unsafe member name '../../evil.edges'" in failure(publisher, destination)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("announced", [True, False])
def test_endless_downloads_are_refused(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, announced: bool
) -> None:
    monkeypatch.setattr("claim.networks.fetch.MAX_DOWNLOAD", 1 << 20)
    publisher.announce_length = announced
    publisher.files["rt/ring.zip"] = bytes(3 << 20)
    assert "larger than 1 MiB" in failure(publisher, tmp_path)


def test_not_found(publisher: Publisher, tmp_path: Path) -> None:
    assert "the server answered 404 Not Found" in failure(publisher, tmp_path)


def test_no_connection(publisher: Publisher, tmp_path: Path) -> None:
    publisher.server_close()
    message = failure(publisher, tmp_path)
    assert "cannot be downloaded (" in message


def test_only_web_addresses(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only http and https"):
        download("file:///etc/passwd", tmp_path / "x.part")


def test_a_destination_that_cannot_be_written(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = get(publisher, tmp_path / "file")
    assert done.status is FetchStatus.FAILED
    assert "cannot make this folder" in (done.problem or "")


def test_the_size_must_be_the_published_one(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["rt/rt_israel.zip"] = zipped({"rt_israel.edges": EDGES})
    copen, israel = (fetch(fetchable(name), tmp_path, base_url=publisher.url) for name in ("copen", "israel"))
    assert "404" in (copen.problem or "")
    assert "has 4 people and 4 edges, israel has 3698 and 4164" in (israel.problem or "")


def test_unknown_and_synthetic_networks_cannot_be_fetched() -> None:
    with pytest.raises(InputError, match="no known network"):
        fetchable("isreal")
    with pytest.raises(InputError, match="nothing to fetch"):
        fetchable("zone2")


def test_a_real_network_in_the_publishers_form(real_data: Path, publisher: Publisher, tmp_path: Path) -> None:
    """What the publisher is said to serve: 1-based ids, a time stamp, repeated pairs."""
    sources, targets, _ = load("copen", data_dir=real_data).edges()
    rows = [f"{v + 1},{u + 1},{1300000000 + i}" for i, (u, v) in enumerate(zip(sources, targets, strict=True))]
    content = "\n".join(rows + rows[:50]).encode()
    publisher.files["rt/rt-twitter-copen.zip"] = zipped({"rt-twitter-copen.edges": content})
    result = fetch(fetchable("copen"), tmp_path, base_url=publisher.url)
    assert result.status is FetchStatus.VERIFIED
    assert load("copen", data_dir=tmp_path).checksum == find("copen").checksum
