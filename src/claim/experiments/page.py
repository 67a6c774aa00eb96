"""One HTML page that needs nothing but itself: tables that sort, pictures inside."""

import base64
import html
import json
from collections.abc import Sequence
from typing import Any

from claim.experiments.section import Picture, Section, Table


def page(
    title: str, introduction: Sequence[str], sections: Sequence[Section], troubles: Sequence[str], record: Any
) -> str:
    """The whole report."""
    links = "".join(f'<li><a href="#{each.name}">{html.escape(each.title)}</a></li>' for each in sections)
    body = "\n".join(_section(each) for each in sections)
    return _TEMPLATE.format(
        title=html.escape(title),
        introduction=_paragraphs(introduction),
        links=links,
        sections=body,
        troubles=_troubles(troubles),
        record=html.escape(json.dumps(record, indent=1)),
    )


def _section(section: Section) -> str:
    parts = [f'<section id="{section.name}"><h2>{html.escape(section.title)}</h2>', _paragraphs(section.words)]
    parts += [_picture(each) for each in section.pictures]
    parts += [_table(each) for each in section.tables]
    return "\n".join([*parts, "</section>"])


def _paragraphs(words: Sequence[str]) -> str:
    return "\n".join(f"<p>{html.escape(each)}</p>" for each in words)


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.svg).decode()
    caption = html.escape(picture.caption)
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _table(table: Table) -> str:
    head = "".join(_head(name, [cells[i] for cells in table.cells]) for i, name in enumerate(table.heads))
    body = "\n".join("<tr>" + "".join(map(_cell, cells)) + "</tr>" for cells in table.cells)
    caption = html.escape(table.caption)
    return (
        f'<div class="wide"><table><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _head(name: str, column: Sequence[str]) -> str:
    """Over its column: numbers and their heads stand to the right."""
    numbers = sum(map(_is_number, column)) > len(column) / 2
    return f'<th scope="col"{" class=n" * numbers}><button>{html.escape(name)}</button></th>'


def _cell(text: str) -> str:
    return f"<td{' class=n' * _is_number(text)}>{html.escape(text)}</td>"


def _is_number(text: str) -> bool:
    return text[:1] in tuple("0123456789+-") or text in ("–", "not run")


def _troubles(troubles: Sequence[str]) -> str:
    if not troubles:
        return "<p>Everything has been run.</p>"
    listed = "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in troubles) + "</ul>"
    return f"<details><summary>{len(troubles)} jobs</summary>{listed}</details>" if len(troubles) > 20 else listed


_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1c1f23; max-width: 78rem; margin: 2rem auto; padding: 0 1rem; }}
h1, h2 {{ line-height: 1.2; }}
h2 {{ margin-top: 3rem; border-top: 1px solid #dfe2e6; padding-top: 1.5rem; }}
p {{ max-width: 52rem; }}
pre {{ background: #f3f4f6; border-radius: 4px; padding: 1em; font-size: .8rem; max-height: 24rem; overflow: auto; }}
.wide {{ overflow-x: auto; margin: 1.5rem 0; }}
table {{ border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: #444; padding-bottom: .4rem; white-space: nowrap; }}
th, td {{ padding: .25rem .7rem; border-bottom: 1px solid #dfe2e6; text-align: left; white-space: nowrap; }}
th {{ white-space: normal; vertical-align: bottom; }}
th.n, td.n {{ text-align: right; }}
th button {{ all: unset; cursor: pointer; font-weight: 600; }}
th button:focus-visible {{ outline: 2px solid #2166ac; }}
th[aria-sort=ascending] button::after {{ content: " ↑"; }}
th[aria-sort=descending] button::after {{ content: " ↓"; }}
tbody tr:hover {{ background: #f6f8fa; }}
figure {{ margin: 1.5rem 0; }}
img {{ max-width: 100%; height: auto; }}
figcaption {{ color: #555; font-size: .9rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
{introduction}
<ul>{links}<li><a href="#troubles">What has not been run</a></li><li><a href="#record">Record</a></li></ul>
{sections}
<section id="troubles"><h2>What has not been run</h2>
{troubles}
</section>
<section id="record"><h2>Record</h2>
<pre>{record}</pre>
</section>
<script>
for (const table of document.querySelectorAll("table")) {{
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {{
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[column].textContent;
    const order = (a, b) => {{
      const [x, y] = [parseFloat(key(a)), parseFloat(key(b))];
      return isNaN(x) || isNaN(y) ? key(a).localeCompare(key(b)) : x - y;
    }};
    const rows = [...table.tBodies[0].rows].sort(order);
    table.tBodies[0].append(...(down ? rows.reverse() : rows));
  }}));
}}
</script>
</body>
</html>
"""
