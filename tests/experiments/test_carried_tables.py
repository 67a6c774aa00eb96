"""Pages that say where a table comes from carry exactly that table."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CARRIED = re.compile(r"<!-- from (?P<source>results/\S+\.md) -->\n+(?P<table>(\|.*\n)+)")


def carried() -> list[tuple[str, str, str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        (page.name, each["source"], each["table"])
        for page in pages
        for each in CARRIED.finditer(page.read_text(encoding="utf-8"))
    ]


def test_tables_on_pages_are_those_of_the_results():
    for page, source, table in carried():
        assert table == (ROOT / source).read_text(encoding="utf-8"), f"{page}: not the table of {source}"


def test_the_record_carries_results_of_the_experiments():
    assert "results/paper/tables/average-paper.md" in [source for page, source, _ in carried() if page == "record.md"]


def test_a_changed_number_is_found():
    text = "before\n<!-- from results/paper/tables/glance.md -->\n\n| a | b |\n| --- | ---: |\n| x | 1.0 |\nafter\n"
    found = CARRIED.search(text)
    assert found["source"] == "results/paper/tables/glance.md"
    assert found["table"] == "| a | b |\n| --- | ---: |\n| x | 1.0 |\n"
