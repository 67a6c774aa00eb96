"""From files to tables: CSV files, workbooks, zip files of CSV files, GraphML and GEXF."""

import codecs

from claim.field.exchange.files.archive import Archive, is_zip
from claim.field.exchange.files.graphxml import read_graph
from claim.field.exchange.files.tables import Table, Tally, read_csv
from claim.field.exchange.files.uploads import Upload
from claim.field.exchange.files.xlsx import WORKBOOK, read_workbook

_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def load(uploads: list[Upload]) -> list[Table]:
    """The tables of all files."""
    tally = Tally()
    tables = [table for upload in uploads for table in _load(upload, tally)]
    if not any(table.columns for table in tables):
        raise uploads[0].error(None, "nothing to read in it")
    return tables


def _load(upload: Upload, tally: Tally) -> list[Table]:
    if is_zip(upload):
        archive = Archive(upload)
        return read_workbook(upload, archive, tally) if WORKBOOK in archive else _members(upload, archive, tally)
    if _is_xml(upload.content):
        return read_graph(upload, tally)
    return [read_csv(upload, tally)]


def _is_xml(content: bytes) -> bool:
    head = content[:200]
    for mark in _BOMS:
        head = head.removeprefix(mark)
    return head.replace(b"\0", b"").lstrip().startswith(b"<")


def _members(upload: Upload, archive: Archive, tally: Tally) -> list[Table]:
    """The CSV files in a zip file; everything else in it, such as photos, is never unpacked."""
    archive.refuse_packed()
    wanted = [name for name in archive.names if name.lower().endswith(".csv")]
    if not wanted:
        raise upload.error(None, "a zip file without any CSV file in it")
    members = (archive.read(name) for name in wanted)  # one in memory at a time
    return [read_csv(member, tally) for member in members if member.content.strip()]
