"""The file formats networks can be read from, one module each.

To add one, write a module with a ``FORMAT`` and name it here.
"""

from claim.networks.formats import edgelist, gexf, graphml, matrixmarket
from claim.networks.formats.base import Format, Options, Parsed
from claim.networks.formats.text import Source

FORMATS: tuple[Format, ...] = (matrixmarket.FORMAT, graphml.FORMAT, gexf.FORMAT, edgelist.FORMAT)

__all__ = ["FORMATS", "Format", "Options", "Parsed", "Source"]
