"""People files: attributes matched by label, groups, and clear words about files that do not fit."""

from pathlib import Path

import pytest

from claim import load
from claim.errors import InputError
from claim.networks.groups import MOST_GROUPS, Groups


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "centre.csv"
    path.write_text("source,target\nana,ben\nben,carla\ncarla,dan\n", encoding="utf-8")
    return path


def beside(edges: Path, text: str, encoding: str = "utf-8") -> Path:
    path = edges.with_name("centre.people.csv")
    path.write_text(text, encoding=encoding)
    return path


def test_a_file_beside_the_network_is_found_and_matched_by_label(edges: Path) -> None:
    beside(edges, "person,region,age\ndan,north,30\nana,south,20\nben,north,\ncarla,Unknown,20\n")
    network = load(edges)
    assert list(network.labels) == ["ana", "ben", "carla", "dan"]
    assert network.people.attributes == {"region": ("south", "north", "", "north"), "age": ("20", "", "20", "30")}
    groups = network.groups("region")
    assert groups.names == ("north", "south")
    assert groups.numbers.tolist() == [1, 0, 2, 0]
    assert groups.sizes.tolist() == [2, 1]
    assert groups.unknown == 1


def test_a_file_that_is_named_comes_first(edges: Path, tmp_path: Path) -> None:
    beside(edges, "person,region\nana,south\n")
    other = tmp_path / "other.csv"
    other.write_text("age;person\n20;ana\n", encoding="utf-8")
    assert load(edges, people=other).people.attributes == {"age": ("20", "", "", "")}


def test_other_tables_and_encodings_are_read(edges: Path) -> None:
    beside(edges, "Nombre;región\nana;Sur\nben;Norte\n", "utf-16")
    assert load(edges).people.attributes == {"región": ("Sur", "Norte", "", "")}


def test_numbers_as_labels(tmp_path: Path) -> None:
    (tmp_path / "numbers.edges").write_text("0 1\n1 2\n", encoding="utf-8")
    (tmp_path / "numbers.people.csv").write_text("person,group\n0,a\n1,b\n2,a\n", encoding="utf-8")
    assert load(tmp_path / "numbers.edges").groups("group").numbers.tolist() == [0, 1, 0]


def test_nodes_of_a_graph_have_attributes(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("ana", "ben"), ("ben", "carla")])
    networkx.set_node_attributes(graph, {"ana": "north", "ben": "south"}, "region")
    for ending, write in ((".graphml", networkx.write_graphml), (".gexf", networkx.write_gexf)):
        path = tmp_path / f"centre{ending}"
        write(graph, path)
        groups = load(path).groups("region")
        assert groups.names == ("north", "south")
        assert groups.numbers.tolist() == [0, 1, 2]


def test_people_who_are_in_the_file_only_are_left_out_and_known(edges: Path) -> None:
    beside(edges, "person,region\nana,south\nzoe,north\nben,north\n")
    people = load(edges).people
    assert people.left_out == ("zoe",)
    assert people.attributes["region"] == ("south", "north", "", "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("person,region\nana,south\nben,north\nana,north\n", "csv:4: the person 'ana' is in line 2 already"),
        ("person,region\nzoe,north\n", "no one in it is in the network, whose people are 'ana, ben, carla, dan', …"),
        ("person\nana\n", "there is no column besides that of the people"),
        ("", "is empty"),
        ("person,region\n", "csv:1: there are no people below the header"),
        ("person,region,age,region\nana,south,1,north\n", "csv:1: the column 'region' is there twice"),
        ("ana,south\nben,north\n", "a file of people begins with a header"),
    ],
)
def test_files_that_do_not_fit_are_explained_in_one_line(edges: Path, text: str, problem: str) -> None:
    beside(edges, text)
    network = load(edges)  # the network itself is fine
    with pytest.raises(InputError) as caught:
        network.groups("region")
    assert problem in str(caught.value)
    assert "centre.people.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_attribute_that_is_not_there_is_named_with_those_that_are(edges: Path) -> None:
    with pytest.raises(InputError, match=r"'region' is not known of its people .add a file of people"):
        load(edges).groups("region")
    beside(edges, "person,region,age\nana,south,\n")
    with pytest.raises(InputError, match=r"'gender' is not known of its people .known: 'region', 'age'"):
        load(edges).groups("gender")
    with pytest.raises(InputError, match="'age' is known of no one"):
        load(edges).groups("age")


def test_too_many_groups_are_refused() -> None:
    values = [str(i) for i in range(10_000)]
    with pytest.raises(InputError, match=f"'code' makes 10,000 groups, more than {MOST_GROUPS}"):
        Groups.of("code", values)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("x" * 101, "'region' has a value of 101 characters, more than 100"),
        ("a\x1b[31mb", r"the value 'a\x1b[31mb' of 'region' has a control character in it"),
    ],
)
def test_names_of_groups_that_disturb_a_terminal_are_refused(edges: Path, value: str, problem: str) -> None:
    beside(edges, f"person,region\nana,south\nben,{value}\n")
    with pytest.raises(InputError) as caught:
        load(edges).groups("region")
    assert str(caught.value) == problem


def test_people_are_no_part_of_the_checksum(edges: Path) -> None:
    before = load(edges).checksum
    beside(edges, "person,region\nana,south\n")
    assert load(edges).checksum == before


def test_villages_know_their_people(data: Path) -> None:
    village = load("village2", data_dir=data)
    assert village.groups("electricity").sizes.sum() + village.groups("electricity").unknown == village.n
    assert {"religion", "roof", "leader", "loan"} <= set(village.people.attributes)
