"""Broken and hostile files: each gives one line that says what is wrong and where, and nothing else."""

import gzip
import os
import re
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim.errors import InputError
from claim.io import text
from claim.networks import read_network
from claim.networks.formats import Options, Source, edgelist, read_source

Write = Callable[[str, str | bytes], Path]

BANNER = "%%MatrixMarket matrix coordinate pattern general\n"
REAL = "%%MatrixMarket matrix coordinate real general\n"
LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<graphml><graph><node id="&c;"/></graph></graphml>"""
EXTERNAL = """<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>
<gexf><graph><nodes><node id="&e;"/></nodes></graph></gexf>"""


def graphml(body: str, head: str = "") -> str:
    return f"<graphml>{head}\n<graph>\n{body}\n</graph></graphml>"


def gexf(nodes: str, edges: str = "", head: str = "") -> str:
    return f"<gexf><graph>{head}\n<nodes>{nodes}</nodes>\n<edges>{edges}</edges></graph></gexf>"


TWO = '<node id="a"/><node id="b"/>'
EDGE = '<edge source="a" target="b"/>'
KEY = '<key id="k" for="edge" attr.name="p"/>'
ATTRIBUTE = '<attributes class="edge"><attribute id="k" title="p"/></attributes>'


@dataclass(frozen=True)
class Case:
    """A file, the line of the error and a word of it."""

    name: str
    content: str | bytes
    line: int | None
    word: str
    options: dict[str, bool] = field(default_factory=dict)


P = {"probabilities": True}
CASES = {
    # nothing in it
    "empty": Case("a.edges", "", None, "no people"),
    "empty csv": Case("a.csv", "", None, "no people"),
    "only comments": Case("a.edges", "# nothing\n\n% here\n", None, "no people"),
    "only blanks": Case("a.edges", "  \n\t\n", None, "no people"),
    "only a header": Case("a.csv", "source,target\n", None, "no people"),
    "only a byte order mark": Case("a.csv", "\ufeff", None, "no people"),
    "no people in a matrix": Case("a.mtx", BANNER + "0 0 0\n", None, "no people"),
    "no people in graphml": Case("a.graphml", graphml(""), None, "no people"),
    "no people in gexf": Case("a.gexf", gexf(""), None, "no people"),
    "empty gzip": Case("a.csv.gz", gzip.compress(b""), None, "no people"),
    # not text
    "nul": Case("a.edges", b"0 1\n0 \x002\n", 2, "not a text file"),
    "latin-1": Case("a.csv", "source,target\nana,jos\xe9\n".encode("latin-1"), 2, "UTF-8"),
    "utf-16": Case("a.csv", "0,1\n".encode("utf-16"), 1, "UTF-8"),
    "picture": Case("a.txt", b"\x89PNG\r\n\x1a\n\x00\x00", 1, "not a text file"),
    "zip": Case("a.txt", b"PK\x03\x04\x14\x00\x00\x00", 1, "not a text file"),
    "web page": Case("a.edges", "<!DOCTYPE html><html><body>404</body></html>", 1, "neither GraphML nor GEXF"),
    "other xml": Case("a.txt", "<?xml version='1.0'?><osm/>", 1, "neither GraphML nor GEXF"),
    # gzip
    "truncated gzip": Case("a.edges.gz", gzip.compress(b"0 1\n" * 1000)[:-12], None, "ends too early"),
    "damaged gzip": Case("a.edges.gz", gzip.compress(b"0 1\n")[:-8] + b"\0" * 8, None, "damaged"),
    "gzip with rubbish inside": Case("a.edges.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff\xff\xff", None, "damaged"),
    "gzip with rubbish behind": Case("a.edges.gz", gzip.compress(b"0 1\n") + b"rubbish", None, "damaged"),
    "half a gzip header": Case("a.edges", b"\x1f\x8b\x08", None, "ends too early"),
    # edge lists
    "one column": Case("a.edges", "0 1\n2\n", 2, "only one column"),
    "one column in csv": Case("a.csv", "0,1\n2\n", 2, "only one column"),
    "a changed separator": Case("a.csv", "0,1\n1 2\n", 2, "only one column"),
    "a column of the header missing": Case("a.csv", "w,source,target\n1,0,1\n1,2\n", 3, "not both there"),
    "more columns than the header": Case("a.csv", '"source" "target"\n"1" 5 6\n', 2, "header names only 2"),
    "the header twice": Case("a.csv", "source,target\n0,1\nsource,target\n", 3, "second time"),
    "empty target": Case("a.csv", "0,1\n2,\n", 2, "label is empty"),
    "empty source": Case("a.csv", ",1\n", 1, "label is empty"),
    "empty tab field": Case("a.tsv", "0\t1\n2\t\t5\n", 2, "label is empty"),
    "leading tab": Case("a.tsv", "0\t1\n\t5\n", 2, "label is empty"),
    "quoted nothing": Case("a.csv", 'a,""\n', 1, "label is empty"),
    "nan": Case("a.edges", "0 1\n1 nan\n", 2, "not a whole number"),
    "nan on the first line": Case("a.edges", "nan nan\n1 2\n", 1, "not a whole number"),
    "inf": Case("a.csv", "source,target\n0,1\n-inf,1\n", 3, "not a whole number"),
    "float": Case("a.edges", "0 1\n1 2.5\n", 2, "not a whole number"),
    "floats": Case("a.edges", "1.0 2.0\n", 1, "not a whole number"),
    "exponent": Case("a.edges", "0 1\n1e5 1\n", 2, "not a whole number"),
    "open quote": Case("a.csv", 'a,b\n"c,d\n', 2, "quotes"),
    "rubbish after a quote": Case("a.csv", 'a,b\n"c"x,d\n', 2, "quotes"),
    "giant quoted field": Case("a.csv", 'a,b\n"' + "x" * 200_000 + '",d\n', 2, "quotes"),
    "giant line": Case("a.edges", "0 1\n" + "1 " * 600_000 + "\n", 2, "longer than"),
    "giant comment": Case("a.edges", "#" * 1_000_001 + "\n0 1\n", 1, "longer than"),
    "giant label": Case("a.edges", "0 1\n2 " + "x" * 10_001 + "\n", 2, "longer than 10,000"),
    "terminal escape": Case("a.edges", "ann bob\nann \x1b[31mred\n", 2, "control character"),
    "vertical tab": Case("a.edges", "ann b\x0bob\n", 1, "control character"),
    # tables whose columns are not understood
    "a column for each friend": Case(
        "a.csv", "name,friend1,friend2\nana,ben,carl\n", 1, "name, friend1, friend2 are not"
    ),
    "friends with numbers": Case("a.csv", "name,friend1,friend2\n1,2,3\n4,5,6\n", 1, "name, friend1, friend2 are not"),
    "friends with semicolons": Case("a.csv", "Name;Friend 1;Friend 2\nana;ben;carl\n", 1, "Name, Friend 1, Friend 2"),
    "contacts that are mostly empty": Case("a.csv", "person,contact1,contact2\nana,ben,\n", 1, "person,contact"),
    "friends after other columns": Case("a.csv", "name,consent,friend_1\nana,yes,ben\n", 1, "source,target"),
    "numbered columns of any name": Case("a.csv", "id,c1,c2\n1,2,3\n", 1, "id, c1, c2"),
    "a third person": Case("a.csv", "person1,person2,person3\nana,ben,carl\n", 1, "person1, person2, person3"),
    "a second contact": Case("a.csv", "person,contact,contact 2\n1,2,3\n", 1, "person, contact, contact 2"),
    "a friend beside the contact": Case("a.csv", "person,contact,friend\nana,ben,carl\n", 2, "person, contact, friend"),
    "friends beside a probability": Case(
        "a.csv", "name,friend1,friend2,p\na,b,c,0.5\n", 1, "name, friend1, friend2, p"
    ),
    "an unknown header of two columns": Case("a.csv", "name,friend\nana,ben\n", 1, "name, friend are not"),
    "that header twice": Case("a.csv", "name,friend\nana,ben\nname,friend\nana,carl\n", 1, "name, friend are not"),
    "that header and a weight": Case("a.csv", "Quién,A quién,weight\nana,ben,3\n", 1, "Quién, A quién, weight"),
    "a header in Spanish": Case("a.csv", "Encuestada;Amiga\nana;eva\n", 1, "Encuestada, Amiga are not"),
    "contacts in one cell": Case("a.csv", "respondent,contacts\nana,ben; carla\n", 1, "respondent, contacts are not"),
    "people and their ages": Case("a.csv", "id,age\n1,34\n2,45\n", 1, "id, age are not"),
    "names and their ages": Case("a.csv", "quien,edad\nana,34\nben,45\n", 1, "quien, edad are not"),
    "people and their religion": Case(
        "a.csv", "person,religion,rooms\n0,none,2\n1,none,3\n", 1, "person, religion, rooms"
    ),
    "a row for each person": Case("a.csv", "ana,ben,carl,dora\nben,eva,fay\n", 1, "ana, ben, carl, dora are not"),
    "a row for each code": Case("a.csv", "007,008,009\n008,010,011\n", 1, "007, 008, 009 are not"),
    "a third person later on": Case("a.txt", "ana ben\nben carl dora\n", 2, "'dora'"),
    "names with blanks": Case("a.txt", "Ana Lee Ben Diaz\n", 1, "Ana, Lee, Ben, Diaz are not"),
    "people called u and v and w": Case("a.csv", "u,v,w\nv,x,y\n", 1, "'w'"),
    "a row for each number": Case("a.txt", "1 2 3\n4 5\n6 7 8 9\n", None, "rows of 2 to 4 columns"),
    "two people in a cell": Case("a.csv", "person,contact\nana,ben;carla\n", 2, "'ben;carla' is several people"),
    "three people in a cell": Case("a.csv", 'person,contact\nana,"ben, carla, dan"\n', 2, "is several people"),
    "known people in a cell": Case(
        "a.csv", 'person,contact\nana,ben\nana,"ben, eva"\neva,dan\n', 3, "is several people"
    ),
    "very many columns": Case("a.csv", ",".join(f"friend{i}" for i in range(99)), 1, "friend0, friend1"),
    # probabilities
    "probability nan": Case("a.csv", "source,target,p\n0,1,nan\n", 2, "0 to 1"),
    "probability negative": Case("a.csv", "source,target,p\n0,1,-0.1\n", 2, "0 to 1"),
    "probability above 1": Case("a.csv", "source,target,prob\n0,1,0.2\n0,2,1.5\n", 3, "0 to 1"),
    "probability infinite": Case("a.csv", "source,target,p\n0,1,inf\n", 2, "0 to 1"),
    "probability of words": Case("a.csv", "source,target,Probability\n0,1,often\n", 2, "0 to 1"),
    "probability with underscore": Case("a.csv", "source,target,p\n0,1,0_1\n", 2, "0 to 1"),
    "probability missing": Case("a.csv", "source,target,p\n0,1,\n", 2, "missing"),
    "probability column missing": Case("a.csv", "source,target,p\n0,1\n", 2, "missing"),
    "no third column": Case("a.edges", "0 1\n", 1, "missing", P),
    "bad third column": Case("a.edges", "0 1 0.5\n1 2 2\n", 2, "0 to 1", P),
    "bad third column on the first line": Case("a.edges", "0 1 x\n1 2 1\n", 1, "0 to 1", P),
    "decimal comma": Case("a.csv", "source;target;p\n0;1;0,5\n", 2, "0 to 1"),
    # Matrix Market
    "no banner": Case("a.mtx", "3 3 1\n1 2\n", 1, "first line"),
    "empty matrix file": Case("a.mtx", "", 1, "first line"),
    "vector": Case("a.mtx", "%%MatrixMarket vector coordinate real general\n", 1, "first line"),
    "array": Case("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n", 1, "coordinate"),
    "complex": Case("a.mtx", "%%MatrixMarket matrix coordinate complex general\n", 1, "'complex'"),
    "hermitian": Case("a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", 1, "'hermitian'"),
    "no size": Case("a.mtx", BANNER, 1, "size line"),
    "short size": Case("a.mtx", BANNER + "%\n3 3\n", 3, "size line"),
    "negative size": Case("a.mtx", BANNER + "-3 -3 1\n", 2, "size line"),
    "rectangle": Case("a.mtx", BANNER + "3 4 0\n", 2, "square"),
    "billions of people": Case("a.mtx", BANNER + "999999999999 999999999999 1\n1 2\n", 2, "without contacts"),
    "astronomic size": Case("a.mtx", BANNER + f"{'9' * 40} {'9' * 40} 1\n1 2\n", 2, "size line"),
    "index 0": Case("a.mtx", BANNER + "3 3 1\n0 1\n", 3, "1 to 3"),
    "index too large": Case("a.mtx", BANNER + "3 3 2\n1 2\n\n1 4\n", 5, "1 to 3"),
    "index in words": Case("a.mtx", BANNER + "3 3 1\none two\n", 3, "1 to 3"),
    "half an entry": Case("a.mtx", BANNER + "3 3 1\n1\n", 3, "needs 2 numbers"),
    "entry without value": Case("a.mtx", REAL + "3 3 1\n1 2\n", 3, "needs 3 numbers"),
    "too few entries": Case("a.mtx", BANNER + "3 3 2\n1 2\n", 3, "1 of the 2"),
    "billions of entries": Case("a.mtx", BANNER + "3 3 999999999999\n1 2\n", 3, "1 of the 999999999999"),
    "too many entries": Case("a.mtx", BANNER + "3 3 1\n1 2\n2 3\n", 4, "more entries"),
    "pattern probabilities": Case("a.mtx", BANNER + "3 3 1\n1 2\n", 1, "no values", P),
    "matrix value above 1": Case("a.mtx", REAL + "3 3 1\n1 2 7\n", 3, "0 to 1", P),
    # XML
    "billion laughs": Case("a.graphml", LAUGHS, 2, "refused"),
    "external entity": Case("a.gexf", EXTERNAL, 2, "refused"),
    "external document type": Case("a.graphml", '<!DOCTYPE graphml SYSTEM "http://x/y.dtd"><graphml/>', 1, "refused"),
    "unknown entity": Case("a.graphml", graphml('<node id="&x;"/>'), 3, "not well-formed"),
    "broken off": Case("a.graphml", "<graphml>\n<graph>\n<node id='1'/>", 3, "not well-formed"),
    "crossed tags": Case("a.gexf", "<gexf>\n<graph></gexf>", 2, "not well-formed"),
    "empty xml": Case("a.graphml", "", 1, "not well-formed"),
    "no xml at all": Case("a.gexf", "0 1\n", 1, "not well-formed"),
    "binary xml": Case("a.graphml", b"\x00\x01\x02", 1, "not well-formed"),
    "xml that is no utf-8": Case("a.graphml", b"<graphml>\n<graph>\xff</graph></graphml>", 2, "not well-formed"),
    "unknown encoding": Case("a.graphml", '<?xml version="1.0" encoding="klingon"?><graphml/>', 1, "encoding"),
    "wrong root": Case("a.graphml", "<gexf/>", 1, "expected <graphml>"),
    "deep nesting": Case("a.graphml", "<graphml>" + "<a>" * 300, 1, "nested more than"),
    "giant tag": Case("a.graphml", "<graphml>\n<node " + "x" * (5 << 20), 2, "longer than 1 MiB"),
    "node without id": Case("a.graphml", graphml("<node/>"), 3, "no id"),
    "node twice": Case("a.graphml", graphml('<node id="a"/>\n<node id="a"/>'), 4, "declared twice"),
    "edge without target": Case("a.graphml", graphml('<edge source="a"/>'), 3, "no target"),
    "undeclared node": Case("a.graphml", graphml('<node id="a"/>\n' + EDGE), 4, "no such node"),
    "hyperedge": Case("a.graphml", graphml("<hyperedge/>"), 3, "hyperedges"),
    "nested graph": Case("a.graphml", graphml('<node id="a"><graph/></node>'), 3, "nested"),
    "two graphs": Case("a.graphml", "<graphml><graph/>\n<graph/></graphml>", 2, "more than one graph"),
    "mixed directions": Case("a.graphml", graphml('<edge source="a" target="b" directed="true"/>'), 3, "mixed"),
    "xml nan node": Case("a.graphml", graphml('<node id="1"/>\n<node id="nan"/>'), 4, "whole number"),
    "xml control character": Case("a.graphml", graphml('<node id="a&#x9;b"/>'), 3, "control character"),
    "xml giant label": Case("a.graphml", graphml(f'<node id="{"x" * 10_001}"/>'), 3, "longer than 10,000"),
    "xml probability": Case(
        "a.graphml",
        graphml(TWO + '\n<edge source="a" target="b"><data key="k">2</data></edge>', KEY),
        4,
        "0 to 1",
    ),
    "xml some without probability": Case(
        "a.graphml",
        graphml(TWO + '<edge source="a" target="b"><data key="k">1</data></edge>\n' + EDGE, KEY),
        4,
        "missing",
    ),
    "xml no probabilities": Case("a.graphml", graphml(TWO + EDGE), 3, "missing", P),
    "xml bad default": Case("a.graphml", graphml("", KEY[:-2] + "><default>x</default></key>"), 1, "0 to 1"),
    "gexf undeclared node": Case("a.gexf", gexf('<node id="a"/>', EDGE), 3, "no such node"),
    "gexf nested nodes": Case("a.gexf", gexf('<node id="a">\n<nodes><node id="b"/></nodes></node>'), 3, "nested"),
    "gexf parents": Case("a.gexf", gexf('<node id="a" pid="b"/>'), 2, "nested"),
    "gexf strange edge": Case("a.gexf", gexf(TWO, '<edge source="a" target="b" type="mutual"/>'), 3, "'mutual'"),
    "gexf mixed": Case("a.gexf", gexf(TWO, '<edge source="a" target="b" type="directed"/>'), 3, "mixed"),
    "gexf two graphs": Case("a.gexf", "<gexf><graph/>\n<graph/></gexf>", 2, "more than one graph"),
    "gexf probability": Case(
        "a.gexf",
        gexf(TWO, '<edge source="a" target="b">\n<attvalue for="k" value="-1"/></edge>', ATTRIBUTE),
        4,
        "0 to 1",
    ),
}


def refused(path: Path, **options: bool) -> str:
    """The message with which a file is refused; whatever the file, one printable line that begins with its name."""
    with pytest.raises(InputError) as caught:
        read_network(path, **options)
    message = str(caught.value)
    assert message.isprintable(), message
    assert message.startswith(str(path))
    assert len(message) < len(str(path)) + 200
    return message


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_refused_in_one_line(write: Write, case: Case) -> None:
    path = write(case.name, case.content)
    message = refused(path, **case.options)
    assert case.word in message
    where = re.match(r":(\d+): ", message.removeprefix(str(path)))
    assert (int(where[1]) if where else None) == case.line, message


@pytest.mark.parametrize("case", [case for case in CASES.values() if not case.name.endswith(".gz")])
def test_refused_inside_gzip_too(write: Write, case: Case) -> None:
    content = case.content if isinstance(case.content, bytes) else case.content.encode()
    refused(write(f"{case.name}.gz", gzip.compress(content)), **case.options)


def test_missing_file(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nowhere.csv")


def test_folder(tmp_path: Path) -> None:
    assert "is a folder" in refused(tmp_path)


def test_file_used_as_folder(write: Write) -> None:
    assert "cannot be read" in refused(write("a.csv", "0,1") / "b.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert "not a regular file" in refused(tmp_path / "pipe.csv")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a file that the user may not read")
def test_forbidden_file(write: Write) -> None:
    path = write("a.csv", "0,1")
    path.chmod(0)
    assert "cannot be read (Permission denied)" in refused(path)


def test_file_that_cannot_be_opened(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write("a.csv", "0,1")
    monkeypatch.setattr(Path, "open", forbidden)
    assert "cannot be read (Permission denied)" in refused(path)


@pytest.mark.parametrize("name", ["a\0b.csv", "x" * 300])
def test_impossible_file_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_network(tmp_path / name)
    assert str(caught.value).isprintable()


@pytest.mark.skipif(os.name == "nt", reason="the system forbids such names anyway")
def test_file_names_are_made_printable(write: Write) -> None:
    with pytest.raises(InputError) as caught:
        read_network(write("a\n\x1b[31m.csv", "0,1\n2\n"))
    assert str(caught.value).isprintable()
    assert r"a\n\x1b[31m.csv:2: " in str(caught.value)
    assert read_network(write("a\nb.csv", "0,1\n")).name == r"a\nb"


def test_gzip_bombs_are_refused_with_little_memory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "GZIP_FREE_BYTES", 1 << 19)
    monkeypatch.setattr(text, "GZIP_MAX_RATIO", 10)
    bombs = {
        "pairs.edges": b"1 2\n" * (1 << 20),
        "names.edges": b"a b\n" * (1 << 20),
        "comments.txt": b"# nothing but this remark\n" * (1 << 18),
        "blanks.mtx": BANNER.encode() + b"\n" * (8 << 20),
        "text.graphml": b"<graphml>" + b" " * (8 << 20),
    }
    paths = [write(f"{name}.gz", gzip.compress(bomb, 1)) for name, bomb in bombs.items()]
    del bombs
    tracemalloc.start()
    try:
        for path in paths:
            assert "MiB of text" in refused(path)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


def test_a_plain_file_has_a_size_cap_too(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(edgelist, "MAX_EDGE_BYTES", 1 << 20)
    for line in ("100000 200000\n", "100000 somebody\n"):
        assert "holds more than 1 MiB of text" in refused(write("a.edges", line * 100_000))


def test_messages_quote_files_safely() -> None:
    assert text.shown("a\x1b\n") == r"'a\x1b\n'"
    assert len(text.shown("x" * 1000)) == 63
    assert len(text.shown("\x1b" * 1000)) == 63


def only_input_errors(name: str, content: bytes, **options: bool) -> None:
    message, people = "", 0
    try:
        people = read_source(Source(Path(name), content), Options(**options)).n
    except InputError as error:
        message = str(error)
    assert message.isprintable()
    assert bool(message) == (people == 0)


NAMES = st.sampled_from(["a", "a.csv", "a.tsv", "a.mtx", "a.graphml", "a.gexf", "a.gz"])
PIECES = st.sampled_from(
    [
        *("0", "1", "17", "nan", "0.5", "-1", "ann", "source", "target", "p", "é", "\x85", "\u2028"),
        *(" ", ",", ";", "\t", '"', "\n", "\n", "\r", "#", "%", "{", "<", "&", ">"),
        *(BANNER, REAL, "2 2 1\n", "<graphml>", "<graph>", TWO, EDGE, "</graph>", "</graphml>", KEY, ATTRIBUTE),
        *("<gexf>", "<nodes>", "</nodes>", "<edges>", "</edges>", "</gexf>", "<data key='k'>", "</data>", "<?xml?>"),
    ]
)


@given(NAMES, st.binary(max_size=200), st.booleans())
@settings(max_examples=300)
def test_arbitrary_bytes(name: str, content: bytes, probabilities: bool) -> None:
    only_input_errors(name, content, probabilities=probabilities)
    only_input_errors(name, gzip.compress(content), probabilities=probabilities)
    only_input_errors(name, b"\x1f\x8b" + content, probabilities=probabilities)


@given(NAMES, st.lists(PIECES, max_size=25), st.booleans())
@settings(max_examples=600)
def test_plausible_rubbish(name: str, pieces: list[str], probabilities: bool) -> None:
    only_input_errors(name, "".join(pieces).encode(), probabilities=probabilities)


@given(st.data())
def test_damaged_files(data: st.DataObject) -> None:
    valid = [
        b"source,target,p\n0,1,0.5\n1,2,0.25\n",
        BANNER.encode() + b"3 3 2\n1 2\n2 3\n",
        graphml(TWO + EDGE, KEY).encode(),
        gexf(TWO, EDGE, ATTRIBUTE).encode(),
        gzip.compress(b"0 1\n1 2\n"),
    ]
    content = bytearray(data.draw(st.sampled_from(valid)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    only_input_errors("a", bytes(content[: data.draw(st.integers(0, len(content)))]))
