"""Named regions of the program, and their counts."""
import contextlib
import dataclasses
import inspect
import json
import os
import tempfile
import warnings

from ._library import Error, last_error, load
from ._results import Count, Counts

_not_counted = {}  # name: why its regions could not begin


def _nothing(_text):
    return 0


class region(contextlib.ContextDecorator):
    """Counts a part of the program under a name: `with tally.region("parse"):`, or `@tally.region("parse")` for each
    call of a function. Regions may nest and recurse; each thread has its own. If nothing can be counted here, the
    program runs without counts, and regions() returns the reason. Warns once if libtally is not found."""

    def __init__(self, name):
        self.name = name
        self._text = name.encode()
        try:
            library = load()
        except Error as error:
            if not _not_counted:
                warnings.warn(f"regions are not counted: {error}", RuntimeWarning, stacklevel=2)
            _not_counted.setdefault(name, error)
            self._begin = self._end = _nothing
            return
        self._begin = library.tally_region_begin
        self._end = library.tally_region_end

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) \
                or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} returns before its code runs, so its calls cannot be counted: "
                            "use `with tally.region(…):` inside it, around code that neither awaits nor yields")
        return super().__call__(function)

    def __enter__(self):
        if self._begin(self._text) != 0:
            _not_counted.setdefault(self.name, last_error())
        return self

    def __exit__(self, *raised):
        self._end(self._text)
        return False


@dataclasses.dataclass(frozen=True)
class Region:
    """A region's counts so far, over all threads."""

    name: str
    entries: int
    counts: Counts  #: the sum over all entries
    reason: str = ""  #: why it was not counted: it then has no entries and no counts


def _count_of(event):
    unit = "ns" if event["event"].endswith("-clock") else "events"
    return Count(event["event"], event["value"], event["trust"], unit, event.get("reason") or "")


def regions():
    """Returns the regions so far as a dictionary from names to Region. A region that could not be counted has no
    entries, and the reason."""
    missing = {name: Region(name, 0, Counts(), str(why)) for name, why in _not_counted.items()}
    try:
        library = load()
    except Error:
        if missing:
            return missing
        raise
    with tempfile.TemporaryDirectory(prefix="tally-regions-") as place:
        path = os.path.join(place, "regions.json")
        if library.tally_dump(path.encode()) != 0:
            raise last_error()
        with open(path, encoding="utf-8") as text:
            known = json.load(text)["regions"]
    found = {one["region"]: Region(one["region"], one["entries"], Counts(map(_count_of, one["events"])))
             for one in known}
    return {**missing, **found}
