"""The file formats networks can be read from, one module each, and reading a file of any of them.

To add one, write a module with a ``FORMAT`` and name it in ``FORMATS``.
"""

import os
from dataclasses import replace
from pathlib import Path

from claim.io.text import Source, printable
from claim.networks.formats import binary, edgelist, graphxml, matrixmarket
from claim.networks.formats.base import Format, Options
from claim.networks.network import Network

__all__ = ["FORMATS", "Format", "Options", "Source", "read_network", "read_source"]

GRAPHS = (graphxml.GRAPHML, graphxml.GEXF)
FORMATS: tuple[Format, ...] = (binary.FORMAT, matrixmarket.FORMAT, *GRAPHS, edgelist.FORMAT)

_MARKUP = (b"<?xml", b"<!doctype", b"<html")


def read_network(
    path: str | os.PathLike[str], *, directed: bool | None = None, probabilities: bool = False, name: str | None = None
) -> Network:
    """Read the network in a file: edge list, Matrix Market, GraphML or GEXF, plain, gzip or zstd, or the binary form.

    ``directed`` overrides what the file says. Edge probabilities are read where the file names them ``p``, ``prob``
    or ``probability``; ``probabilities=True`` says that the third column of an edge list, or the values of a Matrix
    Market file, are probabilities. Raises :class:`~claim.errors.InputError` with file and line number.
    """
    source = Source(Path(path))
    network = read_source(source, Options(directed, probabilities), name)
    beside = source.path.with_name(f"{_network_name(source.path)}.people.csv")
    if beside.is_file():
        return replace(network, people_file=Source(beside))
    return replace(network, people_file=source) if _choose_format(source) in GRAPHS else network


def read_source(source: Source, options: Options, name: str | None = None) -> Network:
    """Read the network in a file, or in bytes that go by a file's name."""
    network = _choose_format(source).read(source, options)
    if not network.n:
        raise source.error(None, "no people in it")
    return replace(network, name=_network_name(source.path) if name is None else name)


def _choose_format(source: Source) -> Format:
    """The format of the file's ending, otherwise the one that its first bytes look like."""
    ending = _unpacked_path(source.path).suffix.lower()
    for known in FORMATS:
        if ending in known.endings and known is not edgelist.FORMAT:
            return known
    # Publishers put Matrix Market into .txt and .edges files too; as an edge list its size line would be an edge.
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    found = next((known for known in FORMATS if known.looks_like(head)), edgelist.FORMAT)
    if found is edgelist.FORMAT and head[:9].lower().startswith(_MARKUP):
        raise source.error(1, "XML or HTML, but neither GraphML nor GEXF")
    return found


def _network_name(path: Path) -> str:
    """The file's name without ``.gz`` or ``.zst`` and the format's ending."""
    bare = _unpacked_path(path)
    known = any(bare.suffix.lower() in each.endings for each in FORMATS)
    return printable(bare.stem if known else bare.name) or "network"


def _unpacked_path(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() in (".gz", ".zst") else path
