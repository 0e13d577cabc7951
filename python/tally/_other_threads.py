"""The threads and processes that a part of a program starts, whose work its own thread does not count."""
import dataclasses
import os
import resource
import threading
import time

from ._counting import counting
from ._results import Count, Counts

_SPARE = 0.0005  # seconds of processor time: reading the clocks
_SPARE_OF_THREAD = 0.002  # its start and end, outside its counted part
_TRUSTS = ("exact", "counted", "modelled", "partial")
_UNCOUNTED = Count("", None, "absent", reason="a thread that it started did not count it")


def _has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


class OtherThreads:
    """Counts the threads of `threading` that start between begin() and end(), and finds work that is not counted."""

    def __init__(self, events=None):
        self._events = events
        self._lock = threading.Lock()
        self._counts, self._seconds, self._running = [], 0.0, 0

    def begin(self):
        self._original = original = threading.Thread._bootstrap_inner

        def count_thread(thread):
            with self._lock:
                self._running += 1
            with counting(self._events) as counts:
                original(thread)
            with self._lock:
                self._running -= 1
                self._counts.append(counts)
                self._seconds += time.thread_time()

        threading.Thread._bootstrap_inner = count_thread
        self._had_children = _has_children()
        self._children = resource.getrusage(resource.RUSAGE_CHILDREN)
        # In this order here and in end(), what the clocks themselves take is never taken for other threads.
        self._before = -time.thread_time() + time.process_time()

    def end(self):
        threading.Thread._bootstrap_inner = self._original
        self._uncounted = time.process_time() - time.thread_time() - self._before - self._seconds

    def _why_partial(self):
        if self._running:
            return "a thread that it started still runs"
        if resource.getrusage(resource.RUSAGE_CHILDREN) != self._children or (
                _has_children() and not self._had_children):
            return "processes that it started are not counted"
        if self._uncounted > _SPARE + _SPARE_OF_THREAD * len(self._counts):
            return "threads that did not start in it worked meanwhile"
        return ""

    def added_to(self, counts, cost):
        """Returns the counts with those of the threads, each without the cost of counting, by event."""
        added, why = [], self._why_partial()
        for count in counts.values():
            if count.value is None or not (why or self._counts):
                added.append(count)
                continue
            parts = [count] + [thread.get(count.event, _UNCOUNTED) for thread in self._counts]
            known = [part for part in parts if part.value is not None]
            reason = why or next((part.reason for part in parts if part.trust in ("partial", "absent")), "")
            trust = "partial" if reason else max((part.trust for part in known), key=_TRUSTS.index)
            value = sum(part.value for part in known) - cost.get(count.event, 0) * (len(known) - 1)
            added.append(dataclasses.replace(count, value=value, trust=trust, reason=reason or count.reason))
        return Counts(added, counts.returned)
