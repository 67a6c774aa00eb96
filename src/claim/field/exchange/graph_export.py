"""GraphML and GEXF as Gephi reads them: undirected, labels that are codes, places, and what is known of each person."""

from collections.abc import Iterator
from dataclasses import fields
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import quoteattr

from claim.field.exchange.files.characters import escaped, escaped_list
from claim.field.exchange.formats.values import written
from claim.field.exchange.records import Bundle, PersonRecord, TieRecord

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_TYPES = {
    "label": "string", "x": "double", "y": "double", "status": "string", "consent": "string", "is_start": "boolean",
    "first_named_by": "string", "surveyed_at": "string", "n_contacts": "int", "times_named": "int",
    "leader_rank": "int", "weight": "double", "named_by": "string",
}  # fmt: skip
_NODE = (
    "label",
    "x",
    "y",
    *(field.name for field in fields(PersonRecord) if field.name not in ("code", "name", "x", "y")),
)
_EDGE = ("weight", "named_by")


def graphml(bundle: Bundle) -> bytes:
    """GraphML with the keys ``label``, ``x`` and ``y`` for nodes and ``weight`` for edges."""
    lines = [_HEAD, '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [_key(name, "node") for name in _NODE] + [_key(name, "edge") for name in _EDGE]
    lines.append('<graph edgedefault="undirected">')
    for person in bundle.people:
        lines += [f"<node id={_quoted(person.code)}>", *map(_data, _person_values(person)), "</node>"]
    for i, tie in enumerate(bundle.ties):
        lines += [f'<edge id="e{i}" {_ends(tie)}>', *map(_data, _tie_values(tie)), "</edge>"]
    return "\n".join([*lines, "</graph>", "</graphml>", ""]).encode()


def gexf(bundle: Bundle) -> bytes:
    """GEXF 1.3, with places as ``viz:position``."""
    root = '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">'
    lines = [_HEAD, root, '<graph defaultedgetype="undirected">']
    lines += [*_attributes("node", _NODE[3:]), *_attributes("edge", _EDGE[1:]), "<nodes>"]
    for person in bundle.people:
        code = _quoted(person.code)
        lines += [f"<node id={code} label={code}>", *_attvalues(_person_values(person)), *_position(person), "</node>"]
    lines += ["</nodes>", "<edges>"]
    for i, tie in enumerate(bundle.ties):
        weight = f'weight="{written(tie.weight)}"'
        lines += [f'<edge id="{i}" {_ends(tie)} {weight}>', *_attvalues(_tie_values(tie)), "</edge>"]
    return "\n".join([*lines, "</edges>", "</graph>", "</gexf>", ""]).encode()


def _person_values(person: PersonRecord) -> Iterator[tuple[str, str]]:
    """What is known, as text that XML can hold."""
    yield "label", escaped(person.code)
    for name in _NODE[1:]:
        value = getattr(person, name)
        text = escaped(value) if isinstance(value, str) else written(value)
        if text:
            yield name, text


def _tie_values(tie: TieRecord) -> Iterator[tuple[str, str]]:
    yield "weight", written(tie.weight)
    if tie.named_by:
        yield "named_by", escaped_list(tie.named_by)


def _key(name: str, kind: str) -> str:
    return f'<key id="{name}" for="{kind}" attr.name="{name}" attr.type="{_TYPES[name]}"/>'


def _data(item: tuple[str, str]) -> str:
    return f'<data key="{item[0]}">{escape_markup(item[1])}</data>'


def _quoted(code: str) -> str:
    return quoteattr(escaped(code))


def _ends(tie: TieRecord) -> str:
    return f"source={_quoted(tie.source)} target={_quoted(tie.target)}"


def _attributes(kind: str, names: tuple[str, ...]) -> list[str]:
    types = {"int": "integer"}
    each = [f'<attribute id="{name}" title="{name}" type="{types.get(_TYPES[name], _TYPES[name])}"/>' for name in names]
    return [f'<attributes class="{kind}">', *each, "</attributes>"]


def _attvalues(items: Iterator[tuple[str, str]]) -> list[str]:
    own = ("label", "x", "y", "weight")  # have places of their own
    each = [f'<attvalue for="{name}" value={quoteattr(text)}/>' for name, text in items if name not in own]
    return ["<attvalues>", *each, "</attvalues>"] if each else []


def _position(person: PersonRecord) -> list[str]:
    if person.x is None or person.y is None:
        return []
    return [f'<viz:position x="{written(person.x)}" y="{written(person.y)}" z="0"/>']
