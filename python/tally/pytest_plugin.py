"""The pytest plugin: a fixture `tally` that counts parts of a test, and compares the counts with earlier ones.

    pytest --tally-save counts.json          writes the counts of the tests that use the fixture
    pytest --tally-baseline counts.json      fails a test whose counts grew by more than --tally-limit

Counts of Python code depend on where the interpreter has placed its objects, and so on everything that it executed
before. The process that counts therefore does the same until the last test, whether it saves or compares: these
options are not on its command line, and it reads the baseline after the last test. Other files and tests still move
objects. To reduce what that changes, the interpreter's cache of attributes is empty when a part begins, and the cost of
counting is measured in each test. What remains is measured: three more processes, whose objects are elsewhere because
their environments have other sizes, count tests that are saved and tests that grew. The largest count is saved; a test
fails only if the smallest one grew. --tally-least covers the rest.
"""
import dataclasses
import functools
import gc
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

import pytest
from _pytest.runner import CallInfo, runtestprotocol

import tally as counting_package

from . import _baseline, _pytest_calls
from ._other_threads import OtherThreads

_PROPERTY = "tally"
# In the environment of the pytest that this plugin started under `tally stat`: the options below as JSON, later "1".
_STARTED = "TALLY_PYTEST"
# In the environment of the other processes: the tests that they count, as JSON, with blanks after it.
_ONLY = "TALLY_PYTEST_ONLY"
_BLANKS = (0, 50, 210)  # in each of the processes: addresses differ
# Options that must not change what the tests execute.
_OPTIONS = ("--tally-baseline", "--tally-save", "--tally-limit", "--tally-least")
_SIZE = 4096  # of the JSON with blanks after it, so that the environment has the same size in each run


def pytest_addoption(parser):
    group = parser.getgroup("tally", "counts of tests (tally)")
    group.addoption("--tally-baseline", metavar="FILE", help="fail tests whose counts grew since FILE was written")
    group.addoption("--tally-save", metavar="FILE", help="write the counts of the tests that ran and passed to FILE")
    group.addoption("--tally-limit", metavar="PERCENT", default="1%", help="growth that is not a failure (default: 1%%)")
    group.addoption("--tally-least", metavar="N", type=int, default=1000,
                    help="growth by fewer events is not a failure: where the interpreter places its objects changes "
                         "counts by some hundred (default: 1000)")
    group.addoption("--tally-runs", metavar="N", type=int, default=5,
                    help="run each test with the fixture N times, and keep the smallest counts (default: 5)")
    group.addoption("--tally-events", metavar="EVENTS", default="instructions",
                    help="what to count, as in `tally stat -e` (default: instructions)")
    group.addoption("--tally-count", metavar="TEST",
                    help="run this test alone, and count it, or what its fixture `benchmark` measures, as a region: "
                         "for `tally bench`")


def _is_wanted(config):
    return config.option.tally_baseline or config.option.tally_save


def _without_options(words):
    """Returns the words of a command line without _OPTIONS and their values."""
    kept, rest = [], iter(words)
    for word in rest:
        if word == "--":
            return [*kept, word, *rest]
        if word in _OPTIONS:
            next(rest, None)
        elif word.partition("=")[0] not in _OPTIONS:
            kept.append(word)
    return kept


def _command_line(config):
    """Returns the command that started this pytest, without _OPTIONS. None if a program called pytest.main()."""
    if list(config.invocation_params.args) != sys.argv[1:]:
        return None
    known = getattr(sys, "orig_argv", None)
    if known:
        return [sys.executable, *_without_options(known[1:])]
    started = ["-m", "pytest"] if os.path.basename(sys.argv[0]) == "__main__.py" else [sys.argv[0]]
    return [sys.executable, *started, *_without_options(sys.argv[1:])]


def _options_of(option):
    return _options_text(option.tally_baseline, option.tally_save, option.tally_limit, option.tally_least)


def _options_text(*values):
    text = json.dumps(values)
    return text.ljust(-(-len(text) // _SIZE) * _SIZE)


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
    text = _options_of(config.option)
    _Options(text, "")
    if "PYTEST_ADDOPTS" in os.environ:
        added = _without_options(shlex.split(os.environ["PYTEST_ADDOPTS"]))
        os.environ["PYTEST_ADDOPTS"] = " ".join(map(shlex.quote, added))
    os.environ[_STARTED] = text
    backend = ["--backend", "engine"] if platform.machine() == "x86_64" else ["--backend", "none"]
    os.execv(tally, [tally, "stat", "-q", "--repeatable", *backend, "-o", os.devnull, "--", *command])


def _passed_options(config):
    """Returns the options of the pytest that started this one, as text: reading them here would allocate memory."""
    if hasattr(config, "workerinput"):
        return config.workerinput.get(_STARTED)
    text = os.environ.get(_STARTED, "")
    if not text.startswith("["):
        return None
    os.environ[_STARTED] = "1"  # for the pytest that a test starts: it has its own options
    return text


def _runs_of(config):
    if config.option.tally_runs < 1:
        raise pytest.UsageError(f"--tally-runs {config.option.tally_runs}: not a number of runs")
    return config.option.tally_runs


def _run_test(item, nextitem, runs):
    """Runs a test several times, until a run does not pass. Returns the reports of its last run, and how many ran."""
    for run in range(1, runs + 1):
        reports = runtestprotocol(item, nextitem=nextitem if run == runs else _Sibling(item), log=False)
        if not all(report.passed for report in reports):
            break
    return reports, run


def pytest_configure(config):
    if config.option.tally_count:
        runs = _runs_of(config)
        test = _pytest_calls.CountedTest(config.option.tally_count,
                                         lambda item, nextitem: _run_test(item, nextitem, runs)[0], _clear_cache)
        config.pluginmanager.register(test, "tally-count")
    text = _passed_options(config)
    if text is None and _is_wanted(config):
        text = _options_of(config.option)
        _Options(text, "")
    if text is not None:
        os.environ["TALLY_EVENTS"] = config.option.tally_events
        config.pluginmanager.register(_Comparison(config, text), "tally-comparison")


# The interpreter's cache of attributes: its entries replace each other according to the addresses of names.
_clear_cache = getattr(sys, "_clear_internal_caches", None) or getattr(sys, "_clear_type_cache", lambda: None)


def _nothing():
    pass


class _Part:
    """Counts a part of the program, which begins with an empty cache of attributes."""

    counts = counting_package.Counts()

    def __enter__(self):
        self._prepare()
        self._open = counting_package.counting()
        _clear_cache()
        self.counts = self._open.__enter__()
        return self

    def __exit__(self, *raised):
        self._open.__exit__(*raised)
        self._finish()
        return False

    def _prepare(self):
        pass

    def _finish(self):
        pass


def _count_part():
    with _Part() as part:
        pass
    return part.counts


def _count_call(events):
    _clear_cache()
    return counting_package.count(_nothing, events)


def _cost(count_nothing):
    """Returns the cost of counting in this test, by event. It also depends on the interpreter's memory."""
    measured = [list(count_nothing().values()) for _ in range(3)]
    return {counts[0].event: int(statistics.median(count.value for count in counts))
            for counts in zip(*measured) if counts[0].value is not None}


def _without(cost, counts):
    return counting_package.Counts(
        [dataclasses.replace(count, value=count.value - cost[count.event]) if count.event in cost else count
         for count in counts.values()], counts.returned)


class Tally(_Part):
    """The fixture: counts parts of the test with the functions of the package `tally`."""

    Error = counting_package.Error

    def __init__(self, name):
        self.counts = counting_package.Counts()  #: of the last `with tally:` or count()
        self._name = name
        self._kept, self._before, self._cost = {}, {}, {}

    def region(self, name):
        """Counts a named part of the test: `with tally.region("parse"):`."""
        return counting_package.region(name)

    def count(self, function, events=None):
        """Counts one call of a function: see tally.count()."""
        cost = _cost(lambda: _count_call(events))
        others = OtherThreads(events)
        others.begin()
        _clear_cache()
        try:
            counts = _without(cost, counting_package.count(function, events))
        finally:
            others.end()
        self.counts = others.added_to(counts, cost)
        self._keep(getattr(function, "__qualname__", None) or repr(function))
        return self.counts

    def _prepare(self):
        self._cost = _cost(_count_part)
        self._others = OtherThreads()
        self._others.begin()

    def _finish(self):
        self._others.end()
        self.counts = self._others.added_to(_without(self._cost, self.counts), self._cost)
        self._keep(self._name)

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


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem):
    """Clears the cache for the regions of a test with the fixture, after the last hook."""
    if "tally" in getattr(pyfuncitem, "fixturenames", ()):
        _clear_cache()
    yield


class _Sibling:
    """Looks like a next test in the same class or module, so that their setup stays for the next run of a test."""

    def __init__(self, item):
        self._parents = item.listchain()[:-1]

    def listchain(self):
        return self._parents


class _Options:
    """The values of _OPTIONS, with the content of the baseline. Raises UsageError if one of them is wrong."""

    def __init__(self, text, directory):
        self.file, self.save, limit, self.least = json.loads(text)
        self.limit = self._limit_of(limit)
        self.baseline = self._read(os.path.join(directory, self.file)) if self.file else None

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

    def changes(self, test, counts):
        known = self.baseline["tests"].get(test, {}) if self.baseline else {}
        return _baseline.changes(known, counts)


class _Comparison:
    """Compares the counts of the tests with the baseline, and saves them."""

    def __init__(self, config, text):
        self.text, self.directory = text, str(config.invocation_params.dir)
        self.runs = _runs_of(config)
        self.tests, self.less, self.new, self.partial = {}, [], [], []
        is_distributed = hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None)
        self.command = None if is_distributed else _command_line(config)  # of a second process
        self.only = json.loads(os.environ.pop(_ONLY, "null"))
        self.counted = []  # by the runs of the current test
        self.unreported = []  # tests that have been counted, with their reports

    @functools.cached_property
    def options(self):
        """Reads the baseline. Use it only after the last test."""
        return _Options(self.text, self.directory)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """Passes the options to a process of pytest-xdist."""
        node.workerinput[_STARTED] = self.text

    def pytest_collection_modifyitems(self, items):
        if self.only is not None:
            items[:] = [item for item in items if item.nodeid in self.only]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Runs a test with the fixture several times: the address of a string or a list changes the count of
        one run. The last run is reported, or the first one that does not pass. Counts are compared and reported after
        the last test."""
        if "tally" not in getattr(item, "fixturenames", ()):
            return None
        self.counted = []
        reports, run = _run_test(item, nextitem, self.runs)
        if run < self.runs:
            reports += self._end_early(item, nextitem, reports, run)
        if len(self.counted) == self.runs:
            self.unreported.append((item, reports))
        else:
            self._report(item, reports)
        return True

    @staticmethod
    def _report(item, reports):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self):
        yield
        again = self._count_again([item.nodeid for item, reports in self.unreported
                                   if self.options.save or any(map(self._growth, reports))])
        for item, reports in self.unreported:
            for report in reports:
                self._compare(report, [tests[item.nodeid] for tests in again if tests.get(item.nodeid)])
            self._report(item, reports)

    def _count_again(self, tests):
        """Returns the counts of these tests in each of the other processes, by test; nothing if there are too many for
        one variable of the environment."""
        only = json.dumps(tests)
        if not tests or self.command is None or self.only is not None or len(only) > 100_000:
            return []
        counted = []
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "counts.json")
            for blanks in _BLANKS:
                environment = {**os.environ, _ONLY: only + " " * blanks, _STARTED: _options_text(None, file, "0", 0)}
                subprocess.run(self.command, env=environment, cwd=self.directory, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                try:
                    counted.append(_baseline.read(file)["tests"])
                    os.unlink(file)
                except (OSError, ValueError):
                    pass
        return counted

    def _growth(self, report):
        """Returns the counts that grew too much, as text."""
        return [change.text() for name, counts in report.user_properties if name == _PROPERTY
                for change in self.options.changes(report.nodeid, counts)
                if change.is_growth(self.options.limit, self.options.least)]

    @staticmethod
    def _set_counts(report, counts):
        report.user_properties = [(name, counts if name == _PROPERTY else value)
                                  for name, value in report.user_properties]

    def _compare(self, report, again):
        first = dict(report.user_properties).get(_PROPERTY)
        if first and again:
            self._set_counts(report, _baseline.of_runs([*again, first]))
        grown = self._growth(report)
        if first and again and self.options.save:
            self._set_counts(report, _baseline.of_runs([*again, first], max))
        if grown and report.when == "call":
            report.outcome = "failed"
            report.longrepr = "\n".join(grown + [f"The limit is {self.options.limit:g} %. If the growth is intended, "
                                                 f"save new counts: --tally-save {self.options.file}"])

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
        counts = _baseline.of_runs(self.counted)
        # With pytest-xdist the tests run in other processes: the report passes the counts to the one that writes them.
        report.user_properties.append((_PROPERTY, counts))

    def pytest_runtest_logreport(self, report):
        if report.when != "call" or not report.passed:
            return
        for name, counts in report.user_properties:
            if name != _PROPERTY:
                continue
            self.tests[report.nodeid] = counts
            self.partial += [f"{report.nodeid}: {part} is partial: {reason}"
                             for part, reason in _baseline.partial_parts(counts)]
            options = self.options
            if options.baseline and report.nodeid not in options.baseline["tests"]:
                self.new.append(report.nodeid)
            self.less += [f"{report.nodeid}: {change.text()}" for change in options.changes(report.nodeid, counts)
                          if change.is_fall(options.limit, options.least)]

    def pytest_sessionfinish(self, session):
        if self.options.save and not hasattr(session.config, "workerinput"):
            try:
                _baseline.write(os.path.join(self.directory, self.options.save), self.tests, platform.python_version())
            except OSError as error:
                raise pytest.UsageError(f"--tally-save: {error}") from None

    def pytest_terminal_summary(self, terminalreporter):
        options = self.options
        other = options.baseline and options.baseline["python"] != platform.python_version()
        if not (self.less or self.new or self.partial or options.save or other):
            return
        terminalreporter.section("tally")
        if other:
            terminalreporter.line(f"{options.file} has the counts of Python {options.baseline['python']}, which executes "
                                  f"other instructions than this Python {platform.python_version()}")
        for line in self.less:
            terminalreporter.line(line)
        for line in self.partial:
            terminalreporter.line(line)
        for test in self.new:
            terminalreporter.line(f"{test}: not in {options.file}; add it with --tally-save {options.file}")
        if options.save:
            terminalreporter.line(f"counts of {len(self.tests)} tests are in {options.save}")
