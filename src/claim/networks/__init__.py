"""Networks: immutable arrays with labels, file formats, named families and synthetic look-alikes."""

from claim.networks.catalogue import load
from claim.networks.formats import read_network
from claim.networks.network import Dropped, Label, Network, NetworkLike

__all__ = ["Dropped", "Label", "Network", "NetworkLike", "load", "read_network"]
