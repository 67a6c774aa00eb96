"""``claim app``: the field assistant in the browser of this machine."""

from typing import Annotated

import typer

from claim.cli.common import say
from claim.errors import ClaimError, install_command


def app(
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 for any free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only show the address.")] = False,
    rehearsal: Annotated[bool, typer.Option("--rehearsal", help="Practise with made-up people.")] = False,
) -> None:
    """Open the field assistant: whom to survey next, answers, leaders, all on this machine.

    Example: [bold]claim app --rehearsal[/bold]
    """
    try:
        from claim.field.web.app import serve
    except ImportError as error:
        raise ClaimError(f"the field assistant needs {error.name}: {install_command('app')}") from error

    def opened(address: str) -> None:
        say("The field assistant is open, for this machine only. The address works once:")
        typer.echo(address)
        say(f"Stop it with Ctrl-C; {'the practice study is then deleted' if rehearsal else 'studies are then locked'}.")
        if not no_browser:
            typer.launch(address)

    serve(port, rehearsal=rehearsal, opened=opened)
