"""The field assistant as a program for people without Python: starting it opens the assistant in the browser.

PyInstaller makes this file and all it imports into a folder; see ``bundle.py``.
"""

import argparse
import locale
import multiprocessing
import os
import signal
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from filelock import FileLock, Timeout

from claim import __version__
from claim.errors import ClaimError
from claim.field.store.library import default_directory
from claim.field.web.i18n import chosen_language
from claim.io import files

USUAL_PORT = 8737
PATIENCE = 20.0  # seconds until a running program that does not answer is reported
TEXTS = {
    "en": {
        "starting": "CLAIM field assistant {version}. It is starting; the first time this can take longer.",
        "open": "The assistant opens in your browser, for this computer only. If no page appears, copy this address"
        " into the browser. It works once:",
        "folder": "Studies are kept, encrypted, in {folder}",
        "stop": "To stop, close this window or press Ctrl+C. Studies are then locked.",
        "stop_practice": "To stop, close this window or press Ctrl+C. The practice study is then deleted.",
        "stopped": "The assistant has stopped.",
        "running": "The assistant is running already. Its page opens in the browser; studies are locked.",
        "silent": "The assistant is running already but does not answer. Close its window, then start it again.",
        "error": "The assistant cannot start: {problem}",
        "enter": "Press Enter to close this window.",
    },
    "es": {
        "starting": "Asistente de campo CLAIM {version}. Se está iniciando; la primera vez puede tardar más.",
        "open": "El asistente se abre en su navegador, solo en este equipo. Si no aparece ninguna página, copie esta"
        " dirección en el navegador. Funciona una sola vez:",
        "folder": "Los estudios se guardan, cifrados, en {folder}",
        "stop": "Para terminar, cierre esta ventana o pulse Ctrl+C. Los estudios quedan entonces bloqueados.",
        "stop_practice": "Para terminar, cierre esta ventana o pulse Ctrl+C. El estudio de práctica se borra entonces.",
        "stopped": "El asistente ha terminado.",
        "running": "El asistente ya está en marcha. Su página se abre en el navegador; los estudios están bloqueados.",
        "silent": "El asistente ya está en marcha, pero no responde. Cierre su ventana y vuelva a iniciarlo.",
        "error": "El asistente no puede iniciarse: {problem}",
        "enter": "Pulse Intro para cerrar esta ventana.",
    },
}


def main(arguments: list[str] | None = None) -> int:
    """Start the assistant, or open the one that is running; returns the exit code."""
    options = _options(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that cannot show a letter shows "?"
    texts = TEXTS[chosen_language(None, system_language())]
    try:
        return run(options, texts)
    except KeyboardInterrupt:
        with suppress(OSError):  # the window is closed
            say(texts["stopped"])
        return 0
    except (ClaimError, OSError) as error:
        problem = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        say(texts["error"].format(problem=problem))
        if sys.platform == "win32" and sys.stdin.isatty():  # the window would close before anybody can read it
            input(texts["enter"])
        return 2


def run(options: argparse.Namespace, texts: dict[str, str]) -> int:
    """Serve until the program is stopped, unless it is running already."""
    folder = default_directory()
    program = OneProgram(folder)
    if not program.begin():
        answered = program.ask_to_open()
        say(texts["running" if answered else "silent"])
        return 0 if answered else 2
    say(texts["starting"].format(version=__version__))
    stop_like_ctrl_c()
    use_system_libraries()
    keep_compiled_code()
    from claim.field.web.app import serve  # imports numba, which reads the folder of compiled code now

    def opened(address: str) -> None:
        say(texts["open"])
        print(address, flush=True)
        if not options.rehearsal:
            say(texts["folder"].format(folder=folder))
        say(texts["stop_practice" if options.rehearsal else "stop"])
        if not options.no_browser:
            threading.Thread(
                target=webbrowser.open, args=(address,), daemon=True
            ).start()  # some browsers are waited for

    port = usable_port(USUAL_PORT) if options.port is None else options.port
    serve(port, rehearsal=options.rehearsal, opened=opened, asked_again=program.asked_to_open)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="claim-assistant", description="The CLAIM field assistant in your browser.")
    parser.add_argument("--rehearsal", action="store_true", help="practise with made-up people")
    parser.add_argument("--no-browser", action="store_true", help="only show the address")
    usual = f"the port on 127.0.0.1, 0 for any free one; {USUAL_PORT} if it is free by default"
    parser.add_argument("--port", type=int, help=usual)
    parser.add_argument("--version", action="version", version=f"claim-assistant {__version__}")
    return parser.parse_args(arguments)


def say(text: str) -> None:
    """Write to standard error, as ``claim app`` does; standard output has the address only."""
    print(text, file=sys.stderr, flush=True)


def system_language() -> str:
    """The language of the system, such as ``es_MX``; empty if it is not known."""
    if sys.platform != "win32":
        named = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
        return next((value for value in named if value), "")
    import ctypes

    return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")


def usable_port(usual: int) -> int:
    """The usual port, so that the address stays the same, or 0 (any free one) if another program has it."""
    from claim.field.web.app import bound

    try:
        with bound(usual):
            return usual
    except ClaimError:
        return 0


class OneProgram:
    """One running assistant for each folder of studies; another start asks it to open its page again.

    The two meet in the folder, which only its owner can enter: a lock that goes with the process, and a file that says
    that the page is wanted. It holds nothing; the running program makes the new one-time address and opens it itself.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = FileLock(files.private_directory(folder) / ".assistant.lock", timeout=0, mode=0o600)
        self._request = folder / ".assistant.open"

    def begin(self) -> bool:
        """Become the running program; False if there is one."""
        try:
            self._lock.acquire()
        except Timeout:
            return False
        self._request.unlink(missing_ok=True)
        return True

    def end(self) -> None:
        """Let another program begin."""
        self._lock.release()

    def ask_to_open(self, seconds: float = PATIENCE) -> bool:
        """Ask the running program to open its page; False if it does not answer."""
        self._request.touch(mode=0o600)
        end = time.monotonic() + seconds
        while self._request.exists():
            if time.monotonic() > end:
                self._request.unlink(missing_ok=True)
                return False
            time.sleep(0.05)
        return True

    def asked_to_open(self) -> bool:
        """Whether the page was asked for since the last call."""
        try:
            self._request.unlink()
        except OSError:
            return False
        return True


def stop_like_ctrl_c() -> None:
    """Stop in order when the window is closed: studies are locked and a rehearsal is deleted."""
    for name in ("SIGTERM", "SIGHUP", "SIGBREAK"):  # the last two: a closed window, on Windows SIGBREAK
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def use_system_libraries() -> None:
    """Let programs that this one starts, such as the browser, find the libraries of the system and not those here."""
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        before = os.environ.pop(f"{name}_ORIG", None)  # PyInstaller keeps the user's own value here
        if before is not None:
            os.environ[name] = before
        elif getattr(sys, "frozen", False):
            os.environ.pop(name, None)


def keep_compiled_code() -> None:
    """Keep numba's machine code in the user's cache: the folder of the program may be read-only."""
    with suppress(OSError):  # then claim.compiling keeps it in a temporary folder
        folder = files.private_directory(cache_directory() / "compiled")
        os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))


def cache_directory() -> Path:
    """Where this system keeps what a user's programs can make again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "claim" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "claim"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "claim"


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
