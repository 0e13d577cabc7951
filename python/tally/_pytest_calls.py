"""Counts one test as a region, for `tally bench` with framework = "pytest"."""
import contextlib
import gc
import resource

import pytest

import tally as counting_package


class _Benchmark:
    """In place of the fixture of pytest-benchmark: calls the function once, and counts that call."""

    def __init__(self, fixture, count):
        self._fixture, self._count = fixture, count

    def __getattr__(self, name):
        return getattr(self._fixture, name)

    def __call__(self, function, *args, **kwargs):
        self._fixture._mode = "benchmark(...)"  # else pytest-benchmark warns that the test does not use the fixture
        with self._count():
            return function(*args, **kwargs)

    def pedantic(self, target, args=(), kwargs=None, setup=None, **_rounds):
        """Calls the target once, after its setup."""
        prepared = setup() if setup else None
        args, kwargs = prepared or (args, kwargs or {})
        return self(target, *args, **kwargs)


class CountedTest:
    """Runs one test several times, and counts its calls as entries of a region."""

    def __init__(self, test, run_again, clear_cache):
        self._test, self._run_again, self._clear_cache = test, run_again, clear_cache
        self._region = counting_package.region("tally.pytest_plugin")
        self._children = counting_package.region("tally.pytest_plugin children")  # entered if the call had some

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid == self._test]

    @contextlib.contextmanager
    def _count(self):
        is_collected = gc.isenabled()
        gc.collect()
        gc.disable()
        self._clear_cache()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            with self._region:
                yield
        finally:
            if resource.getrusage(resource.RUSAGE_CHILDREN) != before:
                with self._children:
                    pass
            if is_collected:
                gc.enable()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        if "benchmark" in pyfuncitem.funcargs:
            pyfuncitem.funcargs["benchmark"] = _Benchmark(pyfuncitem.funcargs["benchmark"], self._count)
            yield
            return
        with self._count():
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        reports = self._run_again(item, nextitem)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True
