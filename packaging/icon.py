"""Draw the icon of the program, that of ``src/claim/field/web/static/icon.svg``, as PNG and ICO."""

import struct
import zlib
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Pixels: TypeAlias = npt.NDArray[np.uint8]

SIZES = (16, 24, 32, 48, 64, 128, 256)
FINER = 8  # points drawn for each pixel, along each side
UNITS = 32  # of the drawing, along each side
CORNER = 7
GREEN, WHITE = (0x1F, 0x5F, 0x5B), (0xFF, 0xFF, 0xFF)
PEOPLE = ((16, 10, 4), (9, 22, 3), (23, 22, 3))  # x, y and radius
LINE = 1  # half its width


def draw(size: int) -> Pixels:
    """The icon as an array of ``size`` × ``size`` pixels of red, green, blue and opacity."""
    at = (np.arange(size * FINER) + 0.5) * UNITS / (size * FINER)
    x, y = np.meshgrid(at, at)
    inside = np.hypot(*(np.maximum(np.abs(each - UNITS / 2) - UNITS / 2 + CORNER, 0) for each in (x, y))) <= CORNER
    white = np.zeros_like(inside)
    for px, py, radius in PEOPLE:
        white |= np.hypot(x - px, y - py) <= radius
    (ax, ay, _), *others = PEOPLE
    for bx, by, _ in others:
        along = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2), 0, 1)
        white |= np.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)) <= LINE
    fine = np.where(white[..., None], WHITE, GREEN)
    fine = np.concatenate([fine, 255 * inside[..., None]], axis=-1)
    pixels: Pixels = fine.reshape(size, FINER, size, FINER, 4).mean(axis=(1, 3)).round().astype(np.uint8)
    return pixels


def png(size: int) -> bytes:
    """The icon as a PNG file."""
    rows = b"".join(b"\0" + row.tobytes() for row in draw(size))  # 0: no filter
    parts = (
        (b"IHDR", struct.pack(">2I5B", size, size, 8, 6, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def ico() -> bytes:
    """The icon in all sizes as an ICO file for Windows."""
    pictures = [png(size) for size in SIZES]
    head, start = struct.pack("<3H", 0, 1, len(SIZES)), 6 + 16 * len(SIZES)
    for i, (size, picture) in enumerate(zip(SIZES, pictures, strict=True)):
        offset = start + sum(map(len, pictures[:i]))
        head += struct.pack("<4B2H2I", size % 256, size % 256, 0, 0, 1, 32, len(picture), offset)  # 0 stands for 256
    return head + b"".join(pictures)


def write(folder: Path) -> None:
    """Write ``icon.png`` and ``icon.ico``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "icon.png").write_bytes(png(256))
    (folder / "icon.ico").write_bytes(ico())
