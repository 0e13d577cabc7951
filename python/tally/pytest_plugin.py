"""The pytest plugin: a fixture `tally` that counts parts of a test, and compares the counts with earlier ones.

    pytest --tally-save counts.json          writes the counts of the tests that use the fixture
    pytest --tally-baseline counts.json      fails a test whose counts grew by more than --tally-limit
"""
import gc
import os
import platform
import shutil
import sys

import pytest
from _pytest.runner import CallInfo, runtestprotocol

import tally as counting_package

from . import _baseline

_PROPERTY = "tally"
_STARTED = "TALLY_PYTEST"  # in the environment of the pytest that this plugin started under `tally stat`


def pytest_addoption(parser):
    group = parser.getgroup("tally", "counts of tests (tally)")
    group.addoption("--tally-baseline", metavar="FILE", help="fail tests whose counts grew since FILE was written")
    group.addoption("--tally-save", metavar="FILE", help="write the counts of the tests that ran and passed to FILE")
    group.addoption("--tally-limit", metavar="PERCENT", default="1%", help="growth that is not a failure (default: 1%%)")
    group.addoption("--tally-runs", metavar="N", type=int, default=5,
                    help="run each test with the fixture N times, and keep the smallest counts (default: 5)")
    group.addoption("--tally-events", metavar="EVENTS", default="instructions",
                    help="what to count, as in `tally stat -e` (default: instructions)")


def _is_wanted(config):
    return config.option.tally_baseline or config.option.tally_save


def _command_line(config):
    """Returns the command that started this pytest, or None if a program called pytest.main()."""
    if list(config.invocation_params.args) != sys.argv[1:]:
        return None
    known = getattr(sys, "orig_argv", None)
    if known:
        return [sys.executable, *known[1:]]
    started = ["-m", "pytest"] if os.path.basename(sys.argv[0]) == "__main__.py" else [sys.argv[0]]
    return [sys.executable, *started, *sys.argv[1:]]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Starts pytest again under `tally stat`: its engine counts exactly, and the hashes of Python are not random."""
    if not _is_wanted(config) or config.option.help or _STARTED in os.environ:
        return
    command = _command_line(config)
    if command is None:
        return
    tally = shutil.which("tally")
    if tally is None:
        raise pytest.UsageError("--tally-baseline and --tally-save need the command `tally`, which is not in PATH")
    backend = ["--backend", "engine"] if platform.machine() == "x86_64" else ["--backend", "none"]
    os.environ[_STARTED] = "1"
    os.execv(tally, [tally, "stat", "-q", "--repeatable", *backend, "-o", os.devnull, "--", *command])


def pytest_configure(config):
    if _is_wanted(config):
        os.environ["TALLY_EVENTS"] = config.option.tally_events
        config.pluginmanager.register(_Comparison(config), "tally-comparison")


class Tally:
    """The fixture: counts parts of the test, in the ways of the package `tally`."""

    Error = counting_package.Error

    def __init__(self, name):
        self.counts = counting_package.Counts()  #: of the last `with tally:` or count()
        self._name = name
        self._kept, self._before = {}, {}
        self._open = None

    def region(self, name):
        """Counts a named part of the test: `with tally.region("parse"):`."""
        return counting_package.region(name)

    def count(self, function, events=None):
        """Counts one call of a function: see tally.count()."""
        self.counts = counting_package.count(function, events)
        self._keep(getattr(function, "__qualname__", None) or repr(function))
        return self.counts

    def __enter__(self):
        self._open = counting_package.counting()
        self.counts = self._open.__enter__()
        return self

    def __exit__(self, *raised):
        self._open.__exit__(*raised)
        self._keep(self._name)
        return False

    def _keep(self, name):
        _baseline.add(self._kept, name.replace(".<locals>", ""), self.counts.values())

    def _start(self):
        self._before = _baseline.of_regions(counting_package.regions())

    def all_counts(self):
        """Returns the counts of the test so far, by name and event."""
        regions = _baseline.difference(_baseline.of_regions(counting_package.regions()), self._before)
        return {**regions, **self._kept}


@pytest.fixture
def tally(request):
    """Counts parts of the test: `with tally:`, `tally.count(function)`, `tally.region("name")`."""
    os.environ.setdefault("TALLY_EVENTS", request.config.option.tally_events)
    counter = Tally(request.node.name)
    is_collected = gc.isenabled()
    gc.collect()
    gc.disable()
    counter._start()
    yield counter
    if is_collected:
        gc.enable()


class _Sibling:
    """Looks like a next test in the same class or module: what they have set up stays for the next run of a test."""

    def __init__(self, item):
        self._parents = item.listchain()[:-1]

    def listchain(self):
        return self._parents


class _Comparison:
    """Compares the counts of the tests with the baseline, and saves them."""

    def __init__(self, config):
        self.save, self.file = config.option.tally_save, config.option.tally_baseline
        self.limit = self._limit_of(config.option.tally_limit)
        self.baseline = self._read(self.file) if self.file else None
        self.runs = config.option.tally_runs
        if self.runs < 1:
            raise pytest.UsageError(f"--tally-runs {self.runs}: not a number of runs")
        self.tests, self.less, self.new = {}, [], []
        self.counted = []  # by the runs of the current test

    @staticmethod
    def _limit_of(text):
        try:
            limit = float(text.rstrip("% "))
        except ValueError:
            limit = -1
        if not 0 <= limit < float("inf"):
            raise pytest.UsageError(f"--tally-limit {text}: not a percentage, such as 1% or 0.5%")
        return limit

    @staticmethod
    def _read(file):
        try:
            return _baseline.read(file)
        except (OSError, ValueError) as error:
            raise pytest.UsageError(f"--tally-baseline: {error}; write the file with --tally-save {file}") from None

    def pytest_report_header(self):
        if self.baseline and self.baseline["python"] != platform.python_version():
            return [f"tally: {self.file} has the counts of Python {self.baseline['python']}, which executes other "
                    f"instructions than this Python {platform.python_version()}"]
        return []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Runs a test with the fixture several times: the address of a string or a list changes the count of
        one run. The last run is reported, or the first one that does not pass."""
        if "tally" not in getattr(item, "fixturenames", ()):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self.counted = []
        for run in range(1, self.runs + 1):
            reports = runtestprotocol(item, nextitem=nextitem if run == self.runs else _Sibling(item), log=False)
            if not all(report.passed for report in reports):
                break
        if run < self.runs:
            reports += self._end_early(item, nextitem, reports, run)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _end_early(self, item, nextitem, reports, run):
        """Tears down what was left for the next run, and says in which run the test did not pass. Returns the report of
        the teardown if that fails."""
        for report in reports:
            if report.failed and run > 1:
                report.sections.append(("tally", f"in run {run} of {self.runs} (--tally-runs)"))
        # The hooks of a teardown have run: only the setup of the class, the module and the session is left to tear down.
        call = CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown")
        return [] if call.excinfo is None else [item.ihook.pytest_runtest_makereport(item=item, call=call)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        counter = (getattr(item, "funcargs", None) or {}).get("tally")  # None after its teardown
        if report.when != "call" or not report.passed or not isinstance(counter, Tally):
            return
        counts = counter.all_counts()
        reason = _baseline.why_absent(counts)
        if reason:
            report.outcome = "skipped"
            report.longrepr = (str(item.fspath), item.location[1] or 0, f"Skipped: nothing is counted here: {reason}")
            return
        self.counted.append(counts)
        if len(self.counted) < self.runs:
            return
        counts = _baseline.smallest(self.counted)
        # The report brings them to the process that writes them, if pytest-xdist runs the tests in others.
        report.user_properties.append((_PROPERTY, counts))
        grown = [change.text() for change in self._changes(item.nodeid, counts) if change.percent > self.limit]
        if grown:
            report.outcome = "failed"
            report.longrepr = "\n".join(grown + [f"The limit is {self.limit:g} %. If the growth is intended, "
                                                 f"save new counts: --tally-save {self.file}"])

    def _changes(self, test, counts):
        known = self.baseline["tests"].get(test, {}) if self.baseline else {}
        return _baseline.changes(known, counts)

    def pytest_runtest_logreport(self, report):
        if report.when != "call" or not report.passed:
            return
        for name, counts in report.user_properties:
            if name != _PROPERTY:
                continue
            self.tests[report.nodeid] = counts
            if self.baseline and report.nodeid not in self.baseline["tests"]:
                self.new.append(report.nodeid)
            self.less += [f"{report.nodeid}: {change.text()}" for change in self._changes(report.nodeid, counts)
                          if change.percent < -self.limit]

    def pytest_sessionfinish(self, session):
        if self.save and not hasattr(session.config, "workerinput"):
            try:
                _baseline.write(self.save, self.tests, platform.python_version())
            except OSError as error:
                raise pytest.UsageError(f"--tally-save: {error}") from None

    def pytest_terminal_summary(self, terminalreporter):
        if not (self.less or self.new or self.save):
            return
        terminalreporter.section("tally")
        for line in self.less:
            terminalreporter.line(line)
        for test in self.new:
            terminalreporter.line(f"{test}: not in {self.file}; add it with --tally-save {self.file}")
        if self.save:
            terminalreporter.line(f"counts of {len(self.tests)} tests are in {self.save}")
