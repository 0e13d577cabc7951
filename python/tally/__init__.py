"""Counts hardware events of parts of a Python program.

    with tally.region("parse"):          a named part, shown by `tally stat` and by TALLY_OUTPUT=table
        parse(text)

    counts = tally.count(lambda: parse(text), events=["instructions", "branches"])
    counts["instructions"].value         the number, or None
    counts["instructions"].trust         how reliable it is: "exact", "counted", … or "absent", with a reason

Without a PMU, run the program under `tally stat`: its engine then counts exactly.
"""
from ._counting import count, counting
from ._library import Error
from ._regions import Region, region, regions
from ._results import Count, Counts

__all__ = ["Count", "Counts", "Error", "Region", "count", "counting", "region", "regions"]
