"""Compiles loops with numba and keeps the machine code in a folder that can be written."""

import logging
import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any

import numba

_cache = True
_config: Any = numba.config


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator like ``numba.njit`` that keeps the machine code between runs, if it can.

    Numba keeps it beside the source or in the home folder. Where neither can be written, as in containers and shared
    installations, it is kept in a temporary folder. Without that one too, each run compiles anew.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        global _cache
        try:
            return numba.njit(cache=_cache, **options)(function)
        except RuntimeError:  # numba: "cannot cache function ...: no locator available"
            if not _cache:
                raise
            _cache = _use_temporary_folder()
        return decorate(function)

    return decorate


def _use_temporary_folder() -> bool:
    try:
        folder = _folder_of_this_user()
    except OSError:
        folder = None
    if folder is None or folder == _config.CACHE_DIR:  # the second: numba has just tried it
        _warn("Compiled code cannot be kept, so every start takes longer")
        return False
    _config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder  # worker processes inherit the variable
    _warn(f"Compiled code is kept in {folder}")
    return True


def _folder_of_this_user() -> str | None:
    """A temporary folder that no other user can write to: numba runs the code that it finds there."""
    if not hasattr(os, "getuid"):  # Windows gives each user a temporary folder of their own
        return os.path.join(tempfile.gettempdir(), "claim-compiled")
    folder = os.path.join(tempfile.gettempdir(), f"claim-compiled-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return folder if private else None


def _warn(what: str) -> None:
    advice = "Set NUMBA_CACHE_DIR to a folder that can be written to keep it there."
    logging.getLogger(__name__).warning("%s. %s", what, advice)
