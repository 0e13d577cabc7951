"""Counts of one call, or of one part of the program."""
import functools
import gc
import statistics

from ._library import MOST_EVENTS, CCounts, last_error, load
from ._results import Count, Counts

_CALLS = 64  # that measure the cost of counting; the interpreter specialises code in the first ones


def _nothing():
    pass


def _call(read, counters, before, after, function):
    read(counters, before, MOST_EVENTS)
    returned = function()
    events = read(counters, after, MOST_EVENTS)
    return events, returned


class _Counters:
    """Open counters, and the cost of reading them in the interpreter."""

    def __init__(self, events):
        self.read = load().tally_read
        self.handle = load().tally_open(events.encode())
        if not self.handle:
            raise last_error()
        self.cost = {}
        self.cost_inside = {}
        self._calibrate()

    def _calibrate(self):
        calls = [self.call(_nothing)[0] for _ in range(_CALLS)]
        self.cost = self._median(calls)
        parts = []
        for _ in range(_CALLS):
            part = counting.__new__(counting)
            part._prepare(self)
            with part as counts:
                pass
            parts.append(counts.values())
        self.cost_inside = self._median(parts)

    @staticmethod
    def _median(measured):
        last = [list(counts) for counts in measured[_CALLS // 2:]]
        return {counts[0].event: int(statistics.median(count.value for count in counts))
                for counts in zip(*last) if counts[0].value is not None}

    def call(self, function):
        """Returns the counts of one call of a function, and what it returned."""
        before, after = CCounts(), CCounts()
        events, returned = _call(self.read, self.handle, before, after, function)
        return self.between(before, after, events, self.cost), returned

    @staticmethod
    def between(before, after, events, cost):
        """Returns the counts from one reading to another, minus the cost of counting."""
        counts = []
        for first, last in zip(before[:events], after[:events]):
            event, trust = last.event.decode(), last.trust.decode()
            value = None if trust == "absent" else last.value - first.value - cost.get(event, 0)
            counts.append(Count(event, value, trust, last.unit.decode(), last.reason.decode("utf-8", "replace")))
        return counts


@functools.lru_cache(maxsize=None)
def _opened(events):
    return _Counters(events)


def _counters(events):
    if events is None:
        return _opened("")
    return _opened(events if isinstance(events, str) else ",".join(events))


class _Uncollected:
    """Keeps the garbage collector from running: it would be counted where it happens to run."""

    def __enter__(self):
        self.enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *raised):
        if self.enabled:
            gc.enable()


def count(function, events=None):
    """Counts one call of `function`, in the calling thread, and returns Counts; `returned` is what the function returned.

    `events`: names as in `tally stat -e`, as a list or separated by commas. By default those of TALLY_EVENTS, else those
    of the `tally stat` that runs the program, else instructions and cycles. What the interpreter executes for counting
    is subtracted. The garbage collector does not run meanwhile. A count that is not available here is absent, with the
    reason. Raises Error for an unknown event, and whatever the function raises."""
    counters = _counters(events)
    with _Uncollected():
        counts, returned = counters.call(function)
    return Counts(counts, returned)


class counting:
    """Counts the part of the program in `with tally.counting(events) as counts:`. The counts are known at its end."""

    def __init__(self, events=None):
        self._prepare(_counters(events))

    def _prepare(self, counters):
        self._counters = counters
        self._before, self._after = CCounts(), CCounts()
        self._uncollected = _Uncollected()
        self._counts = Counts()

    def __enter__(self):
        self._uncollected.__enter__()
        self._counters.read(self._counters.handle, self._before, MOST_EVENTS)
        return self._counts

    def __exit__(self, *raised):
        events = self._counters.read(self._counters.handle, self._after, MOST_EVENTS)
        self._uncollected.__exit__()
        counted = self._counters.between(self._before, self._after, events, self._counters.cost_inside)
        self._counts.__init__(counted)
        return False
