import gzip
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim.networks import Network, read_network
from claim.networks.assembling import Pairs
from claim.networks.formats import Options, Source, read_source
from claim.networks.formats.edgelist import add_integer_pairs, read, read_carefully

Write = Callable[[str, str | bytes], Path]


def edges_of(network: Network) -> set[frozenset[object]]:
    sources, targets, _ = network.edges()
    return {frozenset((network.labels[u], network.labels[v])) for u, v in zip(sources, targets, strict=True)}


def from_text(text: str | bytes, name: str = "ties.txt", **options: bool) -> Network:
    content = text.encode() if isinstance(text, str) else text
    return read_source(Source(Path(name), content), Options(**options))


# Edge lists


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n2 3\n",
        "1 2\n2 3",
        "1\t2\n2\t3\n",
        "1,2\n2,3\n",
        "1;2\n2;3\n",
        "1, 2\n2, 3\n",
        "  1    2\n 2 3  \n",
        "1 \t 2\n2 3\n",
        "\ufeff1 2\n2 3\n",
        "1 2\r\n2 3\r\n",
        "1 2\r2 3\r",
        "# people\n% here\n// there\n\n1 2\n   \n# more\n2 3\n",
        "source,target\n1,2\n2,3\n",
        "Source\tTarget\n1\t2\n2\t3\n",
        "FROM TO\n1 2\n2 3\n",
        "Node 1,Node 2\n1,2\n2,3\n",
        "colleague_a colleague_b\n1 2\n2 3\n",
        '"source" "target"\n"1" "2"\n"2" "3"\n',
        "weight,target,source\n9,2,1\n9,3,2\n",
        ",u,v\n0,1,2\n1,2,3\n",
        "1 2 0.5 1082040961\n2 3\n",
        "1 2\t1\n2 3\t4\n",
        "1 2 {'weight': 7, 'p': 2}\n2 3 {}\n",
        "1,2,\n2,3,,,\n",
        "1 2\n2 3\n2 1\n3 3\n",
        "1 2 1 1082040961\n2 3 1 1082040962\n",
        "1 2 -1\n2 3 1\n",
        "1,2,2026-03-01\n2,3,2026-03-01T10:20:00Z\n",
        "1 2 2026-03-01 10:20\n2 3 2026-03-02 11:00\n",
        "1 2 # friends\n2 3 # colleagues\n",
        "a_id,b_id,weight,type\n1,2,3,friend\n2,3,1,kin\n",
        "source,target,type,weight,named_by\n1,2,Undirected,1,1|2\n2,3,Undirected,1,3\n",
        "source,target,friend,remark\n1,2,yes,met at school\n2,3,no,\n",
        "person,contact,contact details\n1,2,Mill Road\n2,3,\n",
    ],
)
def test_edge_lists_in_many_guises(text: str) -> None:
    network = from_text(text)
    assert network.labels == (1, 2, 3)
    assert edges_of(network) == {frozenset({1, 2}), frozenset({2, 3})}
    assert not network.directed
    assert network.probabilities is None


@pytest.mark.parametrize("name", ["a.edges", "a.txt", "a.csv", "a.TSV", "a.edgelist", "a.dat", "a", "a.unheard"])
@pytest.mark.parametrize("packed", [False, True])
def test_any_ending_with_and_without_gzip(write: Write, name: str, packed: bool) -> None:
    content = gzip.compress(b"0,1\n") if packed else b"0,1\n"
    assert read_network(write(f"{name}.gz" if packed else name, content)).m == 1


def test_gzip_is_recognised_by_content_not_name(write: Write) -> None:
    assert read_network(write("ties.csv", gzip.compress(b"0,1\n"))).m == 1
    assert read_network(write("ties.csv.gz", b"0,1\n")).m == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.edges", "a"), ("b.csv.gz", "b"), ("out.village", "out.village"), ("v1.2.mtx", "v1.2"), ("plain", "plain")],
)
def test_the_name_is_the_files(write: Write, name: str, expected: str) -> None:
    content = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n" if ".mtx" in name else "0 1\n"
    path = write(name, content)
    assert read_network(path).name == expected
    assert read_network(path, name="given").name == "given"


def test_integer_people_are_ordered_by_number() -> None:
    assert from_text("10 9\n2 -1\n").labels == (-1, 2, 9, 10)
    assert from_text("3 0\n2 1\n").edges()[0].tolist() == [0, 1]


def test_named_people_are_ordered_as_they_appear() -> None:
    assert from_text("zoe ann\n7 zoe\n").labels == ("zoe", "ann", "7")


def test_a_person_may_be_called_nan_among_names() -> None:
    assert from_text("Nan Bob\nBob Inf\n").labels == ("Nan", "Bob", "Inf")


def test_labels_come_back_as_they_were_written() -> None:
    assert from_text("007 8\n7 8\n").labels == ("007", "8", "7")
    assert from_text("12_3 12_4\n").labels == ("12_3", "12_4")


@pytest.mark.parametrize("digits", [19, 30, 100, 101, 5000])
def test_very_large_numbers(digits: int) -> None:
    network = from_text(f"{'9' * digits} 1\n")
    assert sorted(map(str, network.labels)) == sorted(["9" * digits, "1"])
    assert network.checksum


def test_quoted_names_may_hold_separators() -> None:
    network = from_text('person,contact\n"Lee, Ann","O""Neil, Bob"\n')
    assert network.labels == ("Lee, Ann", 'O"Neil, Bob')
    assert from_text('"Lee, Ann" Bob\n').labels == ("Lee, Ann", "Bob")
    assert from_text("Ann Lee\tBob\n").labels == ("Ann Lee", "Bob")
    assert from_text("Ann\u00a0Lee Bob\n").labels == ("Ann\u00a0Lee", "Bob")


def test_a_first_line_of_people_is_no_header() -> None:
    assert from_text("u v\nv w\n").labels == ("u", "v", "w")  # v comes again, so it is a person
    assert from_text("ann bob\n").labels == ("ann", "bob")
    assert from_text("ann bob\nbob 3\n").labels == ("ann", "bob", "3")


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("person1 person2\nperson3 person4\n", 4),
        ("person1 person2\nperson1 person3\n", 3),
        ("student1,student2\nstudent3,student4\n", 4),
        ("friend sea\nsea ship\n", 3),
        ("ana,ben,3\nben,carl,\n", 3),
        ("Lee Ann,ben\n", 2),
        ('"Lee, Ann",ben\nAnn,carl\n', 4),
        ("tom & ann,ben\n", 2),
    ],
)
def test_what_looks_like_a_header_may_be_people(text: str, people: int) -> None:
    assert from_text(text).n == people


def test_a_header_leaves_no_people_behind() -> None:
    assert from_text("person1,person2\nann,bob\n").labels == ("ann", "bob")
    assert from_text("u v\nann bob\n").labels == ("ann", "bob")
    assert from_text("source,target\nsource,bob\n").labels == ("source", "bob")


def test_a_self_loop_keeps_the_person_and_drops_the_edge() -> None:
    network = from_text("1 2\n7 7\n1 2\n")
    assert network.labels == (1, 2, 7)
    assert (network.dropped.self_loops, network.dropped.duplicates) == (1, 1)


@pytest.mark.parametrize("name", ["p", "P", "prob", "Probability"])
def test_a_named_probability_column_is_used(name: str) -> None:
    network = from_text(f"when,source,target,{name}\n5,a,b,0.25\n6,b,c,1\n7,b,a,0.5\n")
    assert network.edges()[2].tolist() == [0.25, 1.0]  # type: ignore[union-attr]


def test_the_third_column_is_used_on_request() -> None:
    assert from_text("1 2 0.25\n").probabilities is None
    network = from_text("1 2 0.25\n2 3 1e-3\n", probabilities=True)
    assert network.edges()[2].tolist() == [0.25, 1e-3]  # type: ignore[union-attr]
    with_header = from_text("a_id,b_id,weight\n1,2,0.25\n", probabilities=True)
    assert with_header.edges()[2].tolist() == [0.25]  # type: ignore[union-attr]


def test_direction_is_the_callers_choice() -> None:
    assert from_text("1 2\n2 1\n", directed=True).m == 2
    assert from_text("a b\nb a\n", directed=True).directed
    assert not from_text("a b\nb a\n").directed


# The fast path


def read_integer_pairs(source: Source) -> np.ndarray | None:
    with Pairs() as pairs:
        return pairs._read() if add_integer_pairs(source, pairs) else None


@pytest.mark.parametrize("text", ["1 2\n", "1,2\n3,4\n", "1\t2\r\n3\t4", "# c\n\n1  2 \n\n3 4\n", "", "%\n"])
def test_plain_files_take_the_fast_path(text: str) -> None:
    assert read_integer_pairs(Source(Path("a"), text.encode())) is not None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a b\n",
            "1\n",
            "1 2 3\n",
            "1,,2\n",
            "1,2,\n",
            "1, 2\n",
            "1\t\t2\n",
            "\t1 2\n",
            "01 2\n",
            "-1 2\n",
            "1.5 2\n",
        ),
        *(
            "1 2\n3,4\n",
            "1 2\n\r3 4\n",
            "1 2\n# c\n",
            "1 2 \0\n",
            f"{'9' * 19} 1\n",
            "1 2\n3\n4\n",
            '"1" 2\n',
            "+1 2\n",
        ),
        *("# \xff\n1 2\n", "\ufeff1 2\n", "1;2\n", "1 2\r3 4\n", "# c\r1 2\n"),
    ],
)
def test_anything_unusual_is_left_to_the_careful_parser(text: str) -> None:
    assert read_integer_pairs(Source(Path("a"), text.encode())) is None


def test_separators_may_not_change_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claim.networks.formats.edgelist._CHUNK", 8)
    assert read_integer_pairs(Source(Path("a"), b"1 2\n" * 10 + b"3,4\n" * 10)) is None
    pairs = read_integer_pairs(Source(Path("a"), b"# c\n" + b"123 45\n" * 10))
    assert pairs is not None
    assert pairs.tolist() == [[123, 45]] * 10


def test_the_largest_fast_number() -> None:
    pairs = read_integer_pairs(Source(Path("a"), b"999999999999999999 0\n"))
    assert pairs is not None
    assert pairs.tolist() == [[10**18 - 1, 0]]


@given(st.text(alphabet="0123456789 \t,\r\n#%-.", max_size=60))
@settings(max_examples=400)
def test_fast_and_careful_agree_on_anything(text: str) -> None:
    source = Source(Path("a"), text.encode())
    pairs = read_integer_pairs(source)
    if pairs is None or not len(pairs):
        return
    fast, slow = read(source, Options()), read_carefully(source, Options())
    assert slow == fast
    assert slow.dropped == fast.dropped


@given(
    st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 50)), min_size=1, max_size=40),
    st.sampled_from([" ", "\t", ",", "   "]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_fast_and_careful_agree_on_plain_files(pairs: list[tuple[int, int]], separator: str, end: str) -> None:
    source = Source(Path("a"), end.join(f"{u}{separator}{v}" for u, v in pairs).encode())
    found = read_integer_pairs(source)
    assert found is not None
    assert found.tolist() == [list(pair) for pair in pairs]
    fast, slow = read(source, Options()), read_carefully(source, Options())
    assert slow == fast
    assert slow.dropped == fast.dropped


def test_many_edges_load_fast(write: Write) -> None:
    edges = np.random.default_rng(1).integers(0, 50_000, (200_000, 2))
    network = read_network(write("many.edges", "\n".join(f"{u} {v}" for u, v in edges.tolist())))
    assert network.n == len(np.unique(edges))
    assert network.m + network.dropped.self_loops + network.dropped.duplicates == len(edges)


# Matrix Market

PATH = "%%MatrixMarket matrix coordinate pattern symmetric\n% a path\n\n4 4 2\n2 1\n3 2\n"


def test_matrix_market_keeps_people_without_contacts() -> None:
    network = from_text(PATH, "path.mtx")
    assert network.labels == (1, 2, 3, 4)
    assert edges_of(network) == {frozenset({1, 2}), frozenset({2, 3})}


@pytest.mark.parametrize("name", ["a.mtx", "a.txt", "a.edges", "a", "a.mtx.gz"])
def test_matrix_market_is_recognised_by_content_too(write: Write, name: str) -> None:
    assert read_network(write(name, PATH)).n == 4


def test_matrix_market_values_are_weights_unless_said_otherwise() -> None:
    text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.5\n2 1 7\n"
    assert from_text(text, "a.mtx").probabilities is None
    good = text.replace(" 7", " 0.75")
    network = from_text(good, "a.mtx", probabilities=True, directed=True)
    assert network.edges()[2].tolist() == [0.5, 0.75]  # type: ignore[union-attr]


@pytest.mark.parametrize(("symmetry", "directed_edges"), [("general", 1), ("symmetric", 2), ("skew-symmetric", 2)])
def test_matrix_market_symmetry(symmetry: str, directed_edges: int) -> None:
    text = f"%%MatrixMarket MATRIX Coordinate Integer {symmetry}\n2 2 1\n2 1 5\n"
    assert from_text(text, "a.mtx").m == 1
    assert from_text(text, "a.mtx", directed=True).m == directed_edges


# GraphML and GEXF

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key id="d0" for="edge" attr.name="Probability" attr.type="double"/>
  <key id="d1" for="node" attr.name="p" attr.type="double"/>
  <graph edgedefault="directed">
    <node id="ann"><data key="d1">7</data></node>
    <edge source="ann" target="bob"><data key="d0"> 0.25 </data></edge>
    <node id="bob"><data key="d9"><y:ShapeNode><y:node/></y:ShapeNode></data></node>
  </graph>
</graphml>"""

GEXF = """<?xml version="1.0"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
  <graph defaultedgetype="directed" mode="static">
    <attributes class="node"><attribute id="0" title="p" type="float"/></attributes>
    <attributes class="edge"><attribute id="1" title="prob" type="float"/></attributes>
    <nodes>
      <node id="1" label="Ann"><attvalues><attvalue for="0" value="9"/></attvalues><viz:color r="1"/></node>
      <node id="0" label="Bob"/>
    </nodes>
    <edges><edge id="0" source="0" target="1"><attvalues><attvalue for="1" value="0.25"/></attvalues></edge></edges>
  </graph>
</gexf>"""


def test_graphml() -> None:
    network = from_text(GRAPHML, "a.graphml")
    assert network.labels == ("ann", "bob")
    assert network.directed
    assert network.edges()[2].tolist() == [0.25]  # type: ignore[union-attr]
    assert not from_text(GRAPHML, "a.graphml", directed=False).directed


def test_gexf() -> None:
    network = from_text(GEXF, "a.gexf")
    assert network.labels == (0, 1)
    assert network.directed
    assert network.edges()[2].tolist() == [0.25]  # type: ignore[union-attr]
    assert not from_text(GEXF, "a.gexf", directed=False).directed


@pytest.mark.parametrize("text", [GRAPHML, GEXF])
@pytest.mark.parametrize("name", ["a", "a.xml", "a.txt"])
def test_xml_is_recognised_by_content_too(text: str, name: str) -> None:
    assert from_text(text, name).n == 2


def test_default_probabilities_of_xml_files() -> None:
    key = '<key id="d0" for="edge" attr.name="p"><default>0.5</default></key>'
    nodes = '<node id="a"/><node id="b"/><node id="c"/>'
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="d0">1</data></edge>'
    network = from_text(f'<graphml>{key}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')
    assert network.edges()[2].tolist() == [0.5, 1.0]  # type: ignore[union-attr]
    attribute = '<attributes class="edge"><attribute id="x" title="p"><default>0.5</default></attribute></attributes>'
    edges = '<edge source="a" target="b"/><edge source="b" target="c" probability="1"/>'
    network = from_text(f"<gexf><graph>{attribute}<nodes>{nodes}</nodes><edges>{edges}</edges></graph></gexf>")
    assert network.edges()[2].tolist() == [0.5, 1.0]  # type: ignore[union-attr]


def test_a_prefix_for_the_whole_vocabulary_is_understood() -> None:
    text = GRAPHML.replace("<y:", "<z:").replace("</y:", "</z:")
    for name in ("graphml", "graph", "node", "edge", "data", "key"):
        text = text.replace(f"<{name} ", f"<g:{name} ").replace(f"<{name}>", f"<g:{name}>")
        text = text.replace(f"</{name}>", f"</g:{name}>")
    assert from_text(text, "a.graphml").m == 1


def test_files_written_by_networkx(tmp_path: Path) -> None:
    graph = nx.karate_club_graph()
    nx.write_graphml(graph, tmp_path / "karate.graphml")
    nx.write_gexf(graph, tmp_path / "karate.gexf")
    nx.write_edgelist(graph, tmp_path / "karate.edgelist")
    for path in tmp_path.iterdir():
        network = read_network(path)
        assert (network.n, network.m, network.labels) == (34, 78, tuple(range(34))), path


# Round trips of random networks


@st.composite
def networks(draw: st.DrawFn) -> Network:
    n = draw(st.integers(1, 10))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20))
    pairs += [(person, person) for person in range(n)]  # every person is in the file
    letters = st.characters(blacklist_categories=("C", "Z"), blacklist_characters=";")  # "a;b" is two people
    names = st.text(letters, min_size=1, max_size=8)
    text_labels = st.lists(names.map(lambda name: f"é{name}"), min_size=n, max_size=n, unique=True)
    return Network.from_edges(
        [u for u, _ in pairs],
        [v for _, v in pairs],
        labels=draw(st.one_of(st.none(), text_labels)),
        directed=draw(st.booleans()),
        probabilities=draw(st.lists(st.floats(0, 1), min_size=len(pairs), max_size=len(pairs)) | st.none()),
    )


def rows_of(network: Network) -> list[tuple[str, str, str]]:
    """Source, target and probability of every edge; one person's self-loop for each, first, in order."""
    sources, targets, p = network.edges()
    values = ["0"] * network.m if p is None else [repr(x) for x in p.tolist()]
    names = [str(label) for label in network.labels]
    loops = [(name, name, "0") for name in names]
    return loops + [(names[u], names[v], x) for u, v, x in zip(sources, targets, values, strict=True)]


def as_csv(network: Network) -> str:
    def quote(field: str) -> str:
        return '"' + field.replace('"', '""') + '"'

    header = "source,target" + (",p" if network.probabilities is not None else "")
    width = header.count(",") + 1
    return "\n".join([header, *(",".join(map(quote, row[:width])) for row in rows_of(network))])


def as_xml(network: Network, kind: str) -> str:
    from xml.sax.saxutils import quoteattr

    known = network.probabilities is not None
    nodes = "".join(f"<node id={quoteattr(str(label))}/>" for label in network.labels)
    edges = ""
    for u, v, p in rows_of(network)[network.n :]:
        data = {"graphml": f'<data key="k">{p}</data>', "gexf": f'<attvalue for="k" value="{p}"/>'}[kind]
        edges += f"<edge source={quoteattr(u)} target={quoteattr(v)}>{data if known else ''}</edge>"
    direction = "directed" if network.directed else "undirected"
    if kind == "graphml":
        key = '<key id="k" for="edge" attr.name="probability"/>'
        return f'<graphml>{key}<graph edgedefault="{direction}">{edges}{nodes}</graph></graphml>'
    key = '<attributes class="edge"><attribute id="k" title="probability"/></attributes>'
    body = f"{key}<nodes>{nodes}</nodes><edges>{edges}</edges>"
    return f'<gexf><graph defaultedgetype="{direction}">{body}</graph></gexf>'


@given(networks())
def test_round_trip_through_csv(network: Network) -> None:
    assert from_text(as_csv(network), "a.csv", directed=network.directed).checksum == network.checksum


@given(networks(), st.sampled_from(["graphml", "gexf"]))
def test_round_trip_through_xml(network: Network, kind: str) -> None:
    back = from_text(as_xml(network, kind), f"a.{kind}")
    assert back.labels == network.labels
    if network.m:
        assert back.checksum == network.checksum


@given(networks())
def test_round_trip_through_matrix_market(network: Network) -> None:
    sources, targets, p = network.edges()
    field = "pattern" if p is None else "real"
    values = [""] * network.m if p is None else [repr(x) for x in p.tolist()]
    entries = [f"{u + 1} {v + 1} {x}" for u, v, x in zip(sources, targets, values, strict=True)]
    head = [f"%%MatrixMarket matrix coordinate {field} general", f"{network.n} {network.n} {network.m}"]
    back = from_text("\n".join(head + entries), "a.mtx", directed=network.directed, probabilities=p is not None)
    assert back.labels == tuple(range(1, network.n + 1))
    numbered = Network.from_edges(sources, targets, labels=back.labels, directed=network.directed, probabilities=p)
    assert back.checksum == numbered.checksum


# Published files


def test_public_networks_have_their_published_ids(real_data: Path) -> None:
    network = read_network(real_data / "retweet" / "copen.edges")
    assert (network.n, network.m) == (761, 1029)
    assert network.labels == tuple(range(761))
    assert not network.dropped
