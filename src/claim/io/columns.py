"""What the names of columns mean: the two people of a tie, probabilities, contacts and other things.

Edge lists on the command line and tables in the field assistant use the same words.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import NamedTuple

PROBABILITY_NAMES = frozenset({"p", "prob", "probability"})

# The columns of the two people of a tie, as normal() writes them.
PAIRS = (
    ("source", "target"), ("sourceid", "targetid"), ("from", "to"), ("fromid", "toid"), ("fromnodeid", "tonodeid"),
    ("src", "dst"), ("u", "v"), ("i", "j"), ("id1", "id2"), ("node1", "node2"), ("nodea", "nodeb"),
    ("vertex1", "vertex2"), ("person", "contact"), ("person1", "person2"), ("respondent", "contact"),
    ("name1", "name2"), ("user1", "user2"), ("ego", "alter"), ("sender", "receiver"), ("persona", "contacto"),
    ("persona1", "persona2"), ("encuestado", "contacto"), ("encuestada", "contacto"), ("entrevistado", "contacto"),
    ("entrevistada", "contacto"), ("participante", "contacto"), ("origen", "destino"), ("desde", "hasta"), ("de", "a"),
)  # fmt: skip

_CONTACT = (
    "friend|contacto?|alter|nominee|nomination|acquaintance|neighbou?r|colleague|classmate|coworker|relative|connection"
    "|partner|amig[oa]|conocid[oa]|companer[oa]|vecin[oa]|pariente|contato|conhecid[oa]|connaissance|kontakt"
)
_NUMBERED = re.compile(rf"(?:{_CONTACT}|peer|buddy|amie?|rafiki)(?:e?s)?\d{{1,2}}(?!\d)")
_PART = re.compile(
    rf"(?P<before>.*?)(?P<word>{_CONTACT}|peer|buddy|amie?|rafiki)(?:e?s)?(?P<middle>[a-z]*?)(?P<number>\d{{1,2}})"
    r"(?P<after>[a-z]*)"
)
_LONGEST = 500  # characters of a name in which a contact is looked for
_CALLED = re.compile(
    "s?(?:(?:full|nick|first|given)?names?|first|alias|person|named|number|no|num|numero|nombres?|nombrecompleto|apodo"
    "|(?P<code>ids?|codes?|codigo|initials|iniciales))?"
)
_SURNAME = re.compile("s?(?:last|sur|family|second)names?|s?last|apellidos?")
_UNNUMBERED = re.compile(
    rf"(?:names?(?:of)?|nombres?(?:del?)?|best|close|my)*(?:{_CONTACT})(?:e?s)?(?:names?|ids?|codes?|named)?"
)
_RECRUITMENT = re.compile(
    r"(?:own|recruiters?)?(?:coupon|cupon)(?:e?s)?(?:id|code|number|no)?\d*|recruiters?(?:id|code|name)?"
    r"|(?:recruited|referred|nominated|named|invited)by|reclutadora?|reclutad[oa]por"
)
_COUPON = r"(?:(?:id|code|number|no|numero|codigo)(?:of|del?)?(?:the|el)?)?(?:coupon|cupon)(?:e?s)?"
_OWN_COUPON = re.compile(
    rf"(?:own|my|propio)?{_COUPON}"
    r"(?:id|code|number|no|numero|propio|codigo|in|received|recibido|used|usado|traido|quetrajo)?"
)
_GIVEN_COUPON = re.compile(
    rf"(?:given|issued)?{_COUPON}(?:given|issued|handedout|out|entregado|dado|repartido)?s?"
    r"(?:id|code|number|no|numero|codigo)?\d{1,2}"
)
_PEOPLE = frozenset({
    "name", "names", "fullname", "firstname", "lastname", "surname", "nickname", "person", "people", "respondent",
    "participant", "interviewee", "informant", "subject", "member", "student", "employee", "user", "node", "vertex",
    "ego", "id", "ids", "code", "personcode", "personid", "personname", "source", "target", "sender", "receiver",
    "from", "who", "whom", "nombre", "nombres", "apellido", "apellidos", "persona", "personas", "encuestado",
    "encuestada", "entrevistado", "entrevistada", "participante", "informante", "miembro", "codigo", "quien", "nome",
    "pessoa", "givenname", "familyname", "nombrecompleto", "primerapellido", "segundoapellido", "identificador",
    "nombreapellido", "nombreapellidos", "nombreyapellido", "nombreyapellidos", "yourname", "respondentname",
})  # fmt: skip
_ATTRIBUTES = frozenset({
    "weight", "w", "value", "strength", "score", "rating", "sign", "frequency", "count", "number", "times", "time",
    "timestamp", "date", "day", "month", "year", "start", "end", "begin", "duration", "type", "kind", "relation",
    "relationship", "tie", "label", "category", "class", "color", "colour", "order", "layer", "age", "sex", "gender",
    "status", "state", "consent", "village", "region", "district", "city", "place", "address", "house", "phone",
    "mobile", "email", "mail", "note", "notes", "comment", "comments", "remark", "remarks", "peso", "fecha", "hora",
    "tipo", "edad", "sexo", "genero", "telefono", "direccion", "barrio", "consentimiento", "correo", "ciudad", "nota",
    "notas", "observaciones", "comentario", "comentarios", "estado", "relacion", "frecuencia",
})  # fmt: skip
_YES_OR_NO = frozenset({
    "yes", "no", "true", "false", "si", "ja", "nein", "oui", "non", "sim", "nao", "none", "na",
})  # fmt: skip

_NO_ONE = frozenset({
    "-", "--", "–", "—", ".", "/", "none", "no one", "nobody", "n/a", "#n/a", "nil", "null", "ninguno", "ninguna",
    "nadie", "no hay",
})  # fmt: skip
_ENDS = frozenset(word for pair in PAIRS for word in pair if len(word) > 1)


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
    return _RECRUITMENT.fullmatch(normal(name)) is not None or is_own_coupon(name) or is_given_coupon(name)


class ContactPart(NamedTuple):
    """What a column of a form holds of the contact of this word and number, such as ``friend`` and 2."""

    word: str
    number: int
    is_surname: bool
    is_code: bool


def contact_part(name: str) -> ContactPart | None:
    """The part of a contact in a column such as ``friend_2`` or ``Contact 1 last name``; None for their age, say."""
    words = (normal(word) for word in re.findall(r"[^\W\d_]+", name))
    match = _PART.fullmatch(normal(name)) if len(name) <= _LONGEST else None
    if match is None or any(word in _ATTRIBUTES and word != "number" for word in words):
        return None
    told = match["middle"] + match["after"]
    called, surname = _CALLED.fullmatch(told), _SURNAME.search(match["before"]) or _SURNAME.fullmatch(told)
    if not called and not surname:
        return None
    return ContactPart(match["word"], int(match["number"]), bool(surname), bool(called and called["code"]))


def is_own_coupon(name: str) -> bool:
    """Whether a column holds the coupon that a person was recruited with."""
    return _OWN_COUPON.fullmatch(normal(name)) is not None


def is_given_coupon(name: str) -> bool:
    """Whether a column holds one of the coupons that a person handed out, such as ``coupon_2``."""
    return _GIVEN_COUPON.fullmatch(normal(name)) is not None


def is_known(name: str) -> bool:
    """Whether this is a usual name of a column, and hardly anything else."""
    known = (is_person, is_attribute, is_contact, is_numbered_contact, is_recruitment)
    return any(test(name) for test in known) or normal(name) in _ENDS


def is_person(name: str) -> bool:
    """Whether this is a name for a column of people, such as ``respondent`` or ``friend2``, and hardly a person's."""
    return stem(name) in _PEOPLE or is_contact(stem(name))


def is_attribute(name: str) -> bool:
    """Whether this is a usual name for an attribute of a tie or a person."""
    return normal(name) in _ATTRIBUTES


def names_no_one(cell: str) -> bool:
    """Whether a cell says that there is no contact, such as ``none`` or ``-``."""
    return cell.strip().casefold() in _NO_ONE


def looks_like_name(cell: str) -> bool:
    """Whether a cell may name people: words, and neither yes or no nor a telephone number or an address."""
    letters = normal(cell)
    return len(letters) > 1 and letters.isalpha() and "@" not in cell and letters not in _YES_OR_NO
