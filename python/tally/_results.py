"""Counts, as Python objects."""
import collections.abc
import dataclasses
import typing

from ._library import Error


@dataclasses.dataclass(frozen=True)
class Count:
    """A count of an event. Without a number, `value` is None, `trust` is "absent", and `reason` says why."""

    event: str  #: the full name: "instructions:u"
    value: typing.Optional[int]
    trust: str  #: "exact", "counted", "modelled", "partial" or "absent"
    unit: str = "events"  #: or "ns", "bytes"
    reason: str = ""  #: why it is absent or partial

    def __int__(self):
        if self.value is None:
            raise Error(f"there is no count of {self.event}: {self.reason}")
        return self.value

    def __str__(self):
        number = "absent" if self.value is None else f"{self.value:,}"
        unit = "" if self.unit == "events" else " " + self.unit
        return f"{self.event} {number}{unit} ({self.reason if self.value is None else self.trust})"


class Counts(collections.abc.Mapping):
    """The counts of several events, by name: counts["instructions"] and counts["instructions:u"] are the same."""

    def __init__(self, counts=(), returned=None):
        self._counts = {count.event: count for count in counts}
        self.returned = returned  #: what the counted function returned

    def __getitem__(self, event):
        if event in self._counts:
            return self._counts[event]
        for name, count in self._counts.items():
            if name.partition(":")[0] == event:
                return count
        raise KeyError(f"{event} was not counted, only {', '.join(self._counts) or 'nothing'}")

    def __iter__(self):
        return iter(self._counts)

    def __len__(self):
        return len(self._counts)

    def __str__(self):
        return "\n".join(map(str, self.values()))

    def __repr__(self):
        return f"<tally.Counts {', '.join(map(str, self.values()))}>"

    def to_frame(self):
        """Returns a pandas.DataFrame with a row for each event. Raises Error without pandas."""
        try:
            import pandas
        except ImportError:
            raise Error("to_frame() needs pandas, which is not installed",
                        "install it: `apt install python3-pandas` or `pip install pandas`") from None
        columns = [field.name for field in dataclasses.fields(Count)]
        frame = pandas.DataFrame([dataclasses.astuple(count) for count in self.values()], columns=columns)
        # Integers stay integers where another count is absent.
        return frame.astype({"value": "Int64"}).set_index("event")
