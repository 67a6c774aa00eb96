"""What the names of columns mean: the two people of a tie, probabilities, contacts and other things.

Edge lists on the command line and tables in the field assistant use the same words.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

PROBABILITY_NAMES = frozenset({"p", "prob", "probability"})

# The columns of the two people of a tie, as normal() writes them.
PAIRS = (
    ("source", "target"), ("sourceid", "targetid"), ("from", "to"), ("fromid", "toid"), ("fromnodeid", "tonodeid"),
    ("src", "dst"), ("u", "v"), ("i", "j"), ("id1", "id2"), ("node1", "node2"), ("nodea", "nodeb"),
    ("vertex1", "vertex2"), ("person", "contact"), ("person1", "person2"), ("respondent", "contact"),
    ("name1", "name2"), ("user1", "user2"), ("ego", "alter"), ("sender", "receiver"),
)  # fmt: skip

_CONTACT = (
    "friend|contact|alter|nominee|nomination|acquaintance|neighbou?r|colleague|classmate|coworker|relative|connection"
    "|partner|amig[oa]|contacto|conocid[oa]|companer[oa]|vecin[oa]|pariente|contato|conhecid[oa]|connaissance|kontakt"
)
_NUMBERED = re.compile(rf"(?:{_CONTACT}|peer|buddy|ami|amie|rafiki)(?:e?s)?\d{{1,2}}(?!\d)")
_UNNUMBERED = re.compile(
    rf"(?:names?(?:of)?|nombres?(?:del?)?|best|close|my)*(?:{_CONTACT})(?:e?s)?(?:names?|ids?|codes?|named)?"
)
_RECRUITMENT = re.compile(
    r"(?:own|recruiters?)?(?:coupon|cupon)(?:e?s)?(?:id|code|number|no)?\d*|recruiters?(?:id|code|name)?"
    r"|(?:recruited|referred|nominated|named|invited)by|reclutadora?|reclutad[oa]por"
)
_PEOPLE = frozenset({
    "name", "names", "fullname", "firstname", "lastname", "surname", "nickname", "person", "people", "respondent",
    "participant", "interviewee", "informant", "subject", "member", "student", "employee", "user", "node", "vertex",
    "ego", "id", "ids", "code", "personcode", "personid", "personname", "source", "target", "sender", "receiver",
    "from", "who", "whom", "nombre", "nombres", "apellido", "apellidos", "persona", "personas", "encuestado",
    "encuestada", "entrevistado", "entrevistada", "participante", "informante", "miembro", "codigo", "quien", "nome",
    "pessoa",
})  # fmt: skip
_ATTRIBUTES = frozenset({
    "weight", "w", "value", "strength", "score", "rating", "sign", "frequency", "count", "number", "times", "time",
    "timestamp", "date", "day", "month", "year", "start", "end", "begin", "duration", "type", "kind", "relation",
    "relationship", "tie", "label", "category", "class", "color", "colour", "order", "layer", "age", "sex", "gender",
    "status", "state", "consent", "village", "region", "district", "city", "place", "address", "house", "phone",
    "mobile", "email", "mail", "note", "notes", "comment", "comments", "remark", "remarks", "peso", "fecha", "hora",
    "tipo", "edad", "sexo", "genero", "telefono", "direccion", "barrio",
})  # fmt: skip
_YES_OR_NO = frozenset({
    "yes", "no", "true", "false", "si", "ja", "nein", "oui", "non", "sim", "nao", "none", "na",
})  # fmt: skip


def normal(name: str) -> str:
    """A column's name for comparison: letters and digits only, without case and accents."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in bare if character.isalnum())


def stem(name: str) -> str:
    """The name without the number at its end: ``friend`` for ``Friend 2``."""
    return normal(name).rstrip("0123456789")


def known_pair(columns: Sequence[str]) -> tuple[int, int] | None:
    """Where the two people of a tie stand, if the columns have a known pair of names."""
    names = [normal(column) for column in columns]
    found = next((pair for pair in PAIRS if pair[0] in names and pair[1] in names), None)
    return None if found is None else (names.index(found[0]), names.index(found[1]))


def is_numbered_contact(name: str, ends: Collection[str] = ()) -> bool:
    """Whether this is one of several columns of contacts, such as ``friend_2`` or ``Alter 1 name``.

    ``ends`` are the columns of the two people; beside ``person1`` and ``person2``, ``person3`` is a contact too.
    """
    like_an_end = stem(name) != normal(name) and stem(name) in map(stem, ends)
    return like_an_end or _NUMBERED.search(normal(name)) is not None


def is_contact(name: str) -> bool:
    """Whether a column of this name may hold contacts, such as ``friends``; it may also hold their details."""
    return _UNNUMBERED.fullmatch(normal(name)) is not None


def is_recruitment(name: str) -> bool:
    """Whether a column holds the recruiter of a person, such as ``coupon2`` or ``referred by``."""
    return _RECRUITMENT.fullmatch(normal(name)) is not None


def is_person(name: str) -> bool:
    """Whether this is a name for a column of people, such as ``respondent`` or ``friend2``, and hardly a person's."""
    return stem(name) in _PEOPLE or is_contact(stem(name))


def is_attribute(name: str) -> bool:
    """Whether this is a usual name for an attribute of a tie or a person."""
    return normal(name) in _ATTRIBUTES


def looks_like_name(cell: str) -> bool:
    """Whether a cell may name people: words, and neither yes or no nor a telephone number or an address."""
    letters = normal(cell)
    return len(letters) > 1 and letters.isalpha() and "@" not in cell and letters not in _YES_OR_NO
