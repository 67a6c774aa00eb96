"""What is known of a network that goes by a name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from claim.networks.network import Network

Role: TypeAlias = Literal["train", "test"]
Kind: TypeAlias = Literal["public", "synthetic"]


@dataclass(frozen=True)
class KnownNetwork:
    """A network of the catalogue; policies learn on the train networks of a family and are judged on its test ones."""

    name: str
    family: str
    role: Role
    kind: Kind
    origin: str  # whom to cite, or how it is made
    people: int | None = None  # None: known once a synthetic network is made
    edges: int | None = None
    start_seed: int | None = None  # seed of the published start sets, where one was published
    checksum: str | None = None  # of the network the published experiments used
    downloads: tuple[str, ...] = ()  # below the publisher's address, likeliest first
    make: Callable[[], Network] | None = None

    @property
    def address(self) -> str:
        """The unmistakable name, such as ``retweet/israel``."""
        return f"{self.family}/{self.name}"

    @property
    def how_to_get(self) -> str:
        """What a user does to have it."""
        return "made when asked for" if self.kind == "synthetic" else f"claim networks fetch {self.name}"

    def matches(self, network: Network) -> bool:
        """Whether a network has the published size; without one, anything matches."""
        return self.people in (None, network.n) and self.edges in (None, network.m)
