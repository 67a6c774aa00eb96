"""Hooks of MkDocs: option tables of the command line from the program itself, and executed notebooks as pages.

A page of the documentation writes ``<!-- options: claim select -->`` where the table of a command belongs.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.main import get_command

from claim.cli import app

MARK = re.compile(r"^<!-- options: (claim.*?) -->$", re.MULTILINE)
COMMAND_LINE = "reference/command-line.md"


# The command line -----------------------------------------------------------------------------------------------------


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the marks of a page by option tables; the page of the command line has one for every verb."""
    program = get_command(app)
    marked = MARK.findall(markdown)
    verbs = [f"claim {name}" for name, command in program.commands.items() if not command.hidden]
    wrong = set(marked) - set(verbs)
    missing = set(verbs) - set(marked) if page.file.src_uri == COMMAND_LINE else set()
    if wrong or missing:
        raise PluginError(
            f"{page.file.src_uri}: marks without a verb {sorted(wrong)}, verbs without a mark {sorted(missing)}"
        )
    return MARK.sub(lambda mark: described(program.commands[mark[1].removeprefix("claim ")], mark[1]), markdown)


def described(command: Any, path: str) -> str:
    """The help and options of a verb, and of the commands below it under a heading each."""
    parts = [help_text(command), option_table(command)] if command.callback else []
    for name, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            parts.append(f"### {path} {name}\n\n{described(each, f'{path} {name}')}")
    return "\n\n".join(parts)


def help_text(command: Any) -> str:
    """The help of a command in Markdown."""
    return re.sub(r"\[/?bold\]", "`", command.help or "").strip()


def option_table(command: Any) -> str:
    """Arguments and options of a command, what they mean and their defaults."""
    hints = get_type_hints(command.callback)
    shown = [each for each in command.params if not each.hidden and each.name != "help"]
    rows = [row_of(each, choices(hints.get(each.name))) for each in shown]
    lines = ["| option | meaning | default |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)])


def choices(hint: Any) -> str:
    """The values of a ``Literal``, or of one that may be None: ``published/fresh``."""
    inner = [hint, *get_args(hint)]
    return "/".join(str(value) for each in inner if get_origin(each) is Literal for value in get_args(each))


def row_of(parameter: Any, values: str) -> tuple[str, str, str]:
    """How a parameter is written, what it means, and its default."""
    if parameter.param_type_name == "argument":
        names = [parameter.name.upper()]
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
    names = sorted(names, key=len, reverse=True)
    value = parameter.metavar or values
    written = ", ".join(f"`{name}`" for name in names) + (f" `{value}`" if value and names[0].startswith("-") else "")
    default = parameter.default
    if parameter.required:
        shown = "required"
    elif default is None or default is False or default in ("", ()) or callable(default):
        shown = ""
    else:
        shown = f"`{default}`"
    return written, (parameter.help or "").strip(), shown


# Docstrings -----------------------------------------------------------------------------------------------------------


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Remove the roles of names in docstrings, such as ``:class:``, which Markdown does not know."""
    return re.sub(r":(class|func|meth):(?=<code>)", "", html)


# Notebooks ------------------------------------------------------------------------------------------------------------


class NotebookFile(File):
    """An executed notebook that is shown as a page."""

    def is_documentation_page(self) -> bool:
        """MkDocs renders it as a page instead of copying the file."""
        return True


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Make every notebook a page."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            files.remove(file)
            files.append(NotebookFile(file.src_uri, config.docs_dir, config.site_dir, config.use_directory_urls))
    return files


def on_page_read_source(*, page: Page, config: MkDocsConfig) -> str | None:
    """The Markdown of a notebook; other pages are read as usual."""
    if not isinstance(page.file, NotebookFile):
        return None
    notebook = json.loads(page.file.content_string)
    return "\n\n".join(part for cell in notebook["cells"] for part in cell_parts(cell))


def cell_parts(cell: dict[str, Any]) -> Iterator[str]:
    """A cell and its outputs in Markdown."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" in data:
            yield f"![Figure](data:image/png;base64,{''.join(data['image/png']).replace(chr(10), '')})"
        elif "text/html" in data:
            yield f"<div>{''.join(data['text/html'])}</div>"
        else:
            yield f"```text\n{''.join(data['text/plain']).rstrip()}\n```"
