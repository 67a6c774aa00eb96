"""EgoWeb: one table of who named whom, and one of pairs among those named by the same person."""

from claim.field.exchange.builder import Builder, Importer, Role, Tables, has, normal, unused
from claim.field.exchange.records import SurveyRecord, TieRecord
from claim.io.tables import Table

INTERVIEW = (
    Role("ego.id", "the ego", ("egoid",), needed=True),
    Role("ego.interview", "the interview", ("interviewid",), needed=True),
)
ALTERS = (
    *INTERVIEW,
    Role("alter.number", "the number of the person named", ("alternumber",), needed=True),
    Role("alter.name", "the name of the person named", ("altername",), needed=True),
)
PAIRS = (
    *INTERVIEW,
    Role("pair.number1", "the number of the first of a pair", ("alter1number",), needed=True),
    Role("pair.name1", "the name of the first of a pair", ("alter1name",), needed=True),
    Role("pair.number2", "the number of the second of a pair", ("alter2number",), needed=True),
    Role("pair.name2", "the name of the second of a pair", ("alter2name",), needed=True),
)
_TIED = "pair.tied"
_NO = frozenset({"", "0", "no", "false", "never", "none", "n", "not at all", "na", "n/a", "."})

Alters = dict[tuple[str, str], str]  # interview and number to code


def read(tables: Tables, builder: Builder) -> None:
    """People and their egos first, then the pairs."""
    alters: Alters = {}
    named = [table for table in tables if has(table, "Alter Name")]
    pairs = [table for table in tables if has(table, "Alter 1 Name")]
    for table in named:
        _read_alters(table, builder, alters)
    for table in pairs:
        _read_pairs(table, builder, alters)
    for table in tables:
        if table not in (*named, *pairs):
            unused(builder, table)


def recognises(tables: Tables) -> bool:
    """Whether the columns are EgoWeb's."""
    return any(has(table, "EgoID") and (has(table, "Alter Name") or has(table, "Alter 1 Name")) for table in tables)


def _read_alters(table: Table, builder: Builder, alters: Alters) -> None:
    picked = builder.columns.find(table, ALTERS)
    interviews: dict[str, tuple[int, str, int]] = {}  # line, ego, how many named
    for line, row in picked.rows() if picked else ():
        ego = builder.named(table, line, row["ego.id"], status="surveyed")
        if ego is None:
            continue
        interview, name = row["ego.interview"].strip(), row["alter.name"]
        first, _, count = interviews.get(interview, (line, ego, 0))
        interviews[interview] = (first, ego, count + bool(name.strip()))  # an ego without any has an empty row
        alter = builder.named(table, line, name) if name.strip() else None
        if alter is not None:
            alters[interview, row["alter.number"].strip()] = alter
            builder.tie(table, line, TieRecord(ego, alter, named_by=(ego,)))
    for interview, (line, ego, count) in interviews.items():
        outcome = "answered" if count else "named nobody"
        builder.survey(table, line, SurveyRecord(interview, ego, outcome=outcome, n_named=count))


def _read_pairs(table: Table, builder: Builder, alters: Alters) -> None:
    picked = builder.columns.find(table, (*PAIRS, _tied_role(table)))
    for line, row in picked.rows() if picked else ():
        if _TIED in row and _says_no(row[_TIED]):
            continue
        ego = builder.named(table, line, row["ego.id"], status="surveyed")
        ends = [_alter(table, line, row, each, builder, alters) for each in ("1", "2")]
        if ego is not None and ends[0] is not None and ends[1] is not None:
            builder.tie(table, line, TieRecord(ends[0], ends[1], named_by=(ego,)))


def _tied_role(table: Table) -> Role:
    """The first answer after the pair says whether they know each other, unless the user says which."""
    last = max(i for i, column in enumerate(table.columns) if normal(column).startswith("alter"))
    words = tuple(normal(column) for column in table.columns[last + 1 : last + 2])
    return Role(_TIED, "whether the two know each other", words)


def _says_no(answer: str) -> bool:
    word = answer.strip().casefold()
    return word in _NO or word.startswith("-")  # EgoWeb writes what was skipped or refused as -1 and below


def _alter(table: Table, line: int, row: dict[str, str], which: str, builder: Builder, alters: Alters) -> str | None:
    key = row["ego.interview"].strip(), row[f"pair.number{which}"].strip()
    if key not in alters:
        code = builder.named(table, line, row[f"pair.name{which}"])
        if code is None:
            return None
        alters[key] = code
    return alters[key]


IMPORTER = Importer("egoweb", "EgoWeb (ego-alter and alter-pair files)", recognises, read)
