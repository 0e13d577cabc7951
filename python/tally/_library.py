"""Finds libtally.so.0 and declares its functions."""
import ctypes
import functools
import os
import pathlib
import shutil

SONAME = "libtally.so.0"
MOST_EVENTS = 16


class Error(Exception):
    """A failure: what was tried and how it failed (`message`), and what to do (`hint`)."""

    def __init__(self, message, hint=""):
        super().__init__(message + ("\n" + hint if hint else ""))
        self.message = message
        self.hint = hint


class CCount(ctypes.Structure):
    """tally_count of tally.h."""

    _fields_ = [("value", ctypes.c_longlong), ("event", ctypes.c_char_p), ("unit", ctypes.c_char_p),
                ("trust", ctypes.c_char_p), ("reason", ctypes.c_char_p)]


CCounts = CCount * MOST_EVENTS


def _build_tree():
    """Returns the newest library of the build trees next to this package, or None: for a package that is not installed."""
    top = pathlib.Path(__file__).resolve().parents[2]
    built = sorted(top.glob("build/*/" + SONAME), key=lambda path: path.stat().st_mtime)
    return str(built[-1]) if built else None


def _beside_command():
    """Returns the library of the installation that the command `tally` in PATH belongs to, or None."""
    command = shutil.which("tally")
    if command is None:
        return None
    prefix = pathlib.Path(command).resolve().parents[1]
    found = [*prefix.glob("lib/" + SONAME), *prefix.glob("lib/*/" + SONAME)]
    return str(found[0]) if found else None


def _open():
    chosen = os.environ.get("TALLY_LIBRARY")
    places = [chosen] if chosen else [SONAME, _build_tree(), _beside_command()]
    failures = []
    for place in filter(None, places):
        try:
            # Keeps the interpreter's lock: a call is short, and no other thread runs between it and the caller.
            return ctypes.PyDLL(place)
        except OSError as error:
            failures.append(str(error))
    raise Error("cannot load libtally: " + "; ".join(failures),
                "install the package libtally0, or set TALLY_LIBRARY to the path of " + SONAME)


@functools.lru_cache(maxsize=None)
def _loaded():
    """Returns the library, or the Error if it cannot be used: a failure is remembered, too."""
    try:
        return _declared(_open())
    except Error as error:
        return error


def load():
    """Returns the library. Raises Error if it is not found, or older than this package."""
    library = _loaded()
    if isinstance(library, Error):
        raise library
    return library


def _declared(library):
    """Declares the functions of the library. Raises Error if it lacks one."""
    text, pointer = ctypes.c_char_p, ctypes.c_void_p
    try:
        for name, result, arguments in [
                ("tally_region_begin", ctypes.c_int, [text]),
                ("tally_region_end", ctypes.c_int, [text]),
                ("tally_dump", ctypes.c_int, [text]),
                ("tally_error", text, []),
                ("tally_hint", text, []),
                ("tally_open", pointer, [text]),
                ("tally_read", ctypes.c_int, [pointer, ctypes.POINTER(CCount), ctypes.c_int]),
        ]:
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except AttributeError as error:
        raise Error(f"{library._name} is too old for this package: {error}",
                    "install the libtally0 of the same version, or set TALLY_LIBRARY") from None
    return library


def last_error():
    """Returns the Error of the calling thread's last failed call."""
    library = load()
    return Error(library.tally_error().decode("utf-8", "replace"), library.tally_hint().decode("utf-8", "replace"))
