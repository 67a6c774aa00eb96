"""The file formats networks can be read from, one module each.

To add one, write a module with a ``FORMAT`` and name it here.
"""

from claim.io.text import Source
from claim.networks.formats import edgelist, graphxml, matrixmarket
from claim.networks.formats.base import Format, Options, Parsed

FORMATS: tuple[Format, ...] = (matrixmarket.FORMAT, graphxml.GRAPHML, graphxml.GEXF, edgelist.FORMAT)

__all__ = ["FORMATS", "Format", "Options", "Parsed", "Source"]
