"""What the build makes besides the program: icon, archive and checksum."""

import ast
import hashlib
import io
import os
import platform
import re
import sys
import tarfile
from pathlib import Path

import bundle
import icon
import pytest

import claim

ROOT = Path(__file__).parents[2]


def test_the_icon_has_a_transparent_corner_a_green_ground_and_white_people():
    picture = icon.draw(64)
    assert picture.shape == (64, 64, 4)
    assert picture[0, 0, 3] == 0
    assert picture[32, 2].tolist() == [*icon.GREEN, 255]
    for x, y, _ in icon.PEOPLE:
        assert picture[2 * y, 2 * x].tolist() == [*icon.WHITE, 255]


def test_other_programs_read_the_icon(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    icon.write(tmp_path)
    with image.open(tmp_path / "icon.png") as picture:
        assert picture.size == (256, 256)
        assert picture.convert("RGBA").getpixel((128, 80)) == (*icon.WHITE, 255)
    with image.open(io.BytesIO(icon.ico())) as picture:
        assert picture.info["sizes"] == {(size, size) for size in icon.SIZES}


def test_modules_with_compiled_functions_are_collected_as_files():
    package = Path(claim.__file__).parent
    specification = (ROOT / "packaging" / "claim-assistant.spec").read_text(encoding="utf-8")
    listed = ast.literal_eval(re.search(r"^COMPILED = (.*)$", specification, re.MULTILINE)[1])
    compiled = [
        path.relative_to(package.parent).with_suffix("").as_posix().replace("/", ".")
        for path in package.rglob("*.py")
        if re.search(r"^@(kernel|inlined|compiled)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(compiled) > 5
    left_out = "claim.learning."  # trains, and is not in the program
    assert not [name for name in compiled if not name.startswith((left_out, *(f"{each}." for each in listed)))]


@pytest.mark.parametrize(
    ("system", "machine", "ending"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Darwin", "arm64", "macos-arm64"),
        ("Linux", "aarch64", "linux-arm64"),
    ],
)
def test_the_name_says_version_system_and_machine(monkeypatch, system, machine, ending):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert bundle.archive_name(claim.__version__) == f"claim-assistant-{claim.__version__}-{ending}"


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links and modes are POSIX")
def test_the_archive_keeps_links_and_modes_and_its_checksum_lies_beside_it(tmp_path):
    folder = tmp_path / "claim-assistant"
    folder.mkdir()
    (folder / "program").write_text("run")
    (folder / "program").chmod(0o755)
    os.symlink("program", folder / "link")
    archive = bundle.pack(folder, "claim-assistant-1-linux-x86_64")
    with tarfile.open(archive) as tar:
        link, program = tar.getmembers()
    assert (link.name, link.linkname) == ("claim-assistant/link", "program")
    assert (program.mode, program.uid, program.uname) == (0o755, 0, "")
    written = bundle.write_checksum(archive)
    assert written.name == "claim-assistant-1-linux-x86_64.tar.gz.sha256"
    assert written.read_text() == f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n"
