"""Networks: immutable arrays with labels, file formats, named families and synthetic look-alikes."""

from claim.networks.network import Dropped, Label, Network

__all__ = ["Dropped", "Label", "Network"]
