"""CLAIM's binary form of a network: its arrays as they are in memory, so that they are mapped and not read."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.io.files import HALF_WRITTEN, move, temporary
from claim.io.text import Source
from claim.networks.assembling import MANY, NumberLabels
from claim.networks.formats.base import Format, Options
from claim.networks.network import Label, Network, OffsetArray

ENDING = ".claimnet"
MAGIC = b"claim network 1\n"
HEADER = 4096  # bytes before the arrays
ALIGNED = 64
TYPES = {"offsets": "<i8", "contacts": "<i4", "probabilities": "<f8", "numbers": "<i8", "ends": "<i8", "text": "|u1"}
PIECE = 1 << 24  # contacts that are checked at once


class TextLabels(Sequence[Label]):
    """Labels as UTF-8, one after the other; ``ends`` says where each ends."""

    def __init__(self, ends: OffsetArray, text: npt.NDArray[np.uint8]) -> None:
        self.ends, self.text = ends, text

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> Label: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Label]: ...
    def __getitem__(self, place: int | slice) -> Label | Sequence[Label]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return bytes(self.text[self.ends[place - 1] if place else 0 : self.ends[place]]).decode("utf-8", "replace")


def write(network: Network, path: Path) -> None:
    """Write a network, whole or not at all; the people file stays where it is."""
    arrays: dict[str, npt.NDArray[Any]] = {"offsets": network.offsets, "contacts": network.contacts}
    if network.probabilities is not None:
        arrays["probabilities"] = network.probabilities
    if isinstance(network.labels, NumberLabels):
        arrays["numbers"] = network.labels.numbers
    elif all(isinstance(label, int) and abs(label) < 2**63 for label in network.labels):
        arrays["numbers"] = np.array(network.labels, dtype=np.int64)
    elif all(isinstance(label, str) for label in network.labels):
        texts = [str(label).encode() for label in network.labels]
        arrays["ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        arrays["text"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
    else:
        raise InputError(f"{network.name}: labels must be all texts, or all whole numbers of at most 63 bits")
    header = {"name": network.name, "directed": network.directed, "counts": {k: len(v) for k, v in arrays.items()}}
    beginning = MAGIC + json.dumps(header).encode()
    if len(beginning) > HEADER:
        raise InputError("the name of the network is too long")
    with temporary(path.with_name(f".{path.name}{HALF_WRITTEN}")) as new:
        with new.open("wb") as file:
            file.write(beginning.ljust(HEADER))
            for name, array in arrays.items():
                file.write(np.ascontiguousarray(array, dtype=TYPES[name]).data)
                file.write(bytes(-file.tell() % ALIGNED))
        os.chmod(new, 0o644)
        move(new, path)


def read(source: Source, options: Options) -> Network:
    """Map the arrays of a file; what could lead a loop out of them is checked."""
    if options.directed is not None or options.probabilities:
        raise source.error(
            None, "says itself whether it is directed and has probabilities; convert the file it came from"
        )
    if source.content is not None:
        whole = np.frombuffer(source.content, dtype=np.uint8)
    else:
        with source.open():  # refuses what is no file
            pass
        whole = np.memmap(source.path, dtype=np.uint8, mode="r")
    damaged = source.error(None, "the file is damaged or incomplete")
    if bytes(whole[: len(MAGIC)]) != MAGIC:
        raise source.error(None, f"no {ENDING} file of this version")
    try:
        header = json.loads(bytes(whole[len(MAGIC) : HEADER]))
        counts = {name: int(header["counts"][name]) for name in header["counts"]}
        name, directed = str(header["name"]), bool(header["directed"])
        arrays, begin = {}, HEADER
        for each, count in counts.items():
            kind = np.dtype(TYPES[each])
            end = begin + count * kind.itemsize
            if count < 0 or end > len(whole):
                raise damaged
            arrays[each] = whole[begin:end].view(kind)
            begin = end + -end % ALIGNED
        offsets, contacts = arrays["offsets"], arrays["contacts"]
        labels = NumberLabels(arrays["numbers"]) if "numbers" in arrays else TextLabels(arrays["ends"], arrays["text"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged from None
    n, p = len(offsets) - 1, arrays.get("probabilities")
    sound = n >= 0 and len(labels) == n and offsets[0] == 0 and offsets[-1] == len(contacts)
    sound = sound and bool((np.diff(offsets) >= 0).all()) and (p is None or len(p) == len(contacts))
    if isinstance(labels, TextLabels):
        ends = labels.ends
        sound = sound and bool((np.diff(ends, prepend=0) >= 0).all()) and (not n or int(ends[-1]) == len(labels.text))
    for first in range(0, len(contacts), PIECE):
        piece = contacts[first : first + PIECE]
        sound = sound and int(piece.min()) >= 0 and int(piece.max()) < n
    if p is not None and sound:
        sound = bool(((p >= 0) & (p <= 1)).all())
    if not sound:
        raise damaged
    network = Network(offsets, contacts, labels if n > MANY else tuple(labels), directed, p)
    return replace(network, name=name)


FORMAT = Format((ENDING,), lambda head: head.startswith(MAGIC), read)
