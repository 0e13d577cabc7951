"""Counts of tests: in a file, and compared. They are dictionaries: name of the part, event, and then `value`, `trust`
and `reason`."""
import dataclasses
import json
import os

SCHEMA = "tally-pytest/1"


def add(counts, name, new):
    """Adds Count objects to the counts of a part."""
    part = counts.setdefault(name, {})
    for count in new:
        known = part.get(count.event)
        both = known and known["value"] is not None and count.value is not None
        part[count.event] = {"value": known["value"] + count.value if both else count.value,
                             "trust": count.trust, "reason": count.reason}


def of_regions(regions):
    """Returns the counts of tally.regions()."""
    counts = {}
    for region in regions.values():
        add(counts, region.name, region.counts.values())
        if region.reason:
            counts[region.name]["regions"] = {"value": None, "trust": "absent", "reason": region.reason}
    return counts


def difference(later, earlier):
    """Returns the counts between two readings, of the parts that were entered between them."""
    between = {}
    for name, events in later.items():
        before = earlier.get(name, {})
        if events == before:
            continue
        between[name] = {
            event: {**count, "value": count["value"] - (before.get(event, {}).get("value") or 0)}
            if count["value"] is not None else count
            for event, count in events.items()}
    return between


def of_runs(runs, choose=min):
    """Returns one count of each event of each part of the last run: the smallest, or the one that `choose` returns."""
    chosen = {}
    for name, events in runs[-1].items():
        for event, count in events.items():
            values = [run.get(name, {}).get(event, {}).get("value") for run in runs]
            known = [value for value in values if value is not None]
            chosen.setdefault(name, {})[event] = {**count, "value": choose(known) if known else None}
    return chosen


def why_absent(counts):
    """Returns the reason if the counts have no number at all."""
    all_counts = [count for events in counts.values() for count in events.values()]
    if not all_counts or any(count["value"] is not None for count in all_counts):
        return ""
    return all_counts[0]["reason"]


def partial_parts(counts):
    """Returns the names of parts with partial counts, and the reasons."""
    return sorted({(name, count["reason"]) for name, events in counts.items() for count in events.values()
                   if count["trust"] == "partial"})


@dataclasses.dataclass
class Change:
    """A count that differs from the baseline. Without a number on one side, it changed by infinitely many percent."""

    name: str
    event: str
    before: int
    now: int

    @property
    def percent(self):
        if self.now is None:
            return float("inf")
        if self.before <= 0:
            return 0.0 if self.now <= 0 else float("inf")
        return 100 * (self.now - self.before) / self.before

    def is_growth(self, percent, least):
        """Returns whether the count grew by more than `percent` and by `least` events, or is no longer counted."""
        return self.now is None or self.percent > percent and self.now - self.before >= least

    def is_fall(self, percent, least):
        return self.now is not None and self.percent < -percent and self.before - self.now >= least

    def text(self):
        if self.now is None:
            return f"{self.name}: {self.event} was {self.before:,}, and is not counted now"
        word = "grew" if self.now > self.before else "fell"
        return f"{self.name}: {self.event} {word} by {abs(self.percent):.2f} %, from {self.before:,} to {self.now:,}"


def changes(before, now):
    """Returns a Change for each count of the baseline, whether or not it differs; the largest growth first."""
    found = []
    for name, events in before.items():
        for event, count in events.items():
            new = now.get(name, {}).get(event, {"value": None})
            if count["value"] is not None:
                found.append(Change(name, event, count["value"], new["value"]))
    return sorted(found, key=lambda change: -change.percent)


def read(file):
    """Returns the content of a file of counts. Raises OSError, or ValueError if it is another file."""
    with open(file, encoding="utf-8") as text:
        try:
            content = json.load(text)
        except ValueError as error:
            raise ValueError(f"{file} is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"{file} has no counts of tests (its schema is not {SCHEMA})")
    return content


def write(file, tests, python):
    """Writes counts of tests. Tests in the file that did not run keep their counts, if they are of this Python."""
    try:
        known = read(file)
        known = known["tests"] if known["python"] == python else {}
    except (OSError, ValueError):
        known = {}
    content = {"schema": SCHEMA, "python": python, "tests": dict(sorted({**known, **tests}.items()))}
    new = f"{file}.new"
    with open(new, "w", encoding="utf-8") as text:
        json.dump(content, text, indent=1, ensure_ascii=False)
        text.write("\n")
    os.replace(new, file)
