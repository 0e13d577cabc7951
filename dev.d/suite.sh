#!/usr/bin/env bash
# Runs a public test suite natively and under the engine, and compares.
#
# usage: ./dev suite [--no-setup] rr|valgrind|stress-ng|perf [PROGRAM …]
#
# Fetches the suite as a Debian source package, with its own list of sources; the list of the system does not change.
# Unpacks and builds it outside of this tree, in TALLY_SUITES (default: ~/.cache/tally-suites). Prints for each program:
# same, partial (the engine's reason), differs, or left out with the reason. tests/suites/NAME.expected lists the known
# differences, each with its reason; with any other difference the exit code is 1. If the source is not available the suite
# is skipped, with the reason (exit code 77). ./dev test does not run suites.
#
# examples: ./dev suite valgrind            ./dev suite rr ptrace_signals
source dev.d/common

setup=yes
if [[ ${1-} == --no-setup ]]; then setup=no; shift; fi
suite=${1-}
case $suite in
  rr | valgrind | stress-ng) package=$suite ;;
  perf) package=linux ;;
  *) misuse "suite needs one of: rr, valgrind, stress-ng, perf" ;;
esac
shift
skip() { say "SKIPPED: $suite: $*"; exit 77; }

if [[ $setup == yes ]]; then ./dev build; else ./dev build --no-setup; fi
have dpkg-source || { [[ $setup == yes ]] && ./dev setup suites; }
have apt-get && have dpkg-source || skip "apt-get and dpkg-source (package dpkg-dev) fetch its source"

place=${TALLY_SUITES:-${XDG_CACHE_HOME:-$HOME/.cache}/tally-suites}/$suite
mkdir -p "$place/apt/sources" "$place/apt/lists/partial"
if ! compgen -G "$place/source/*" >/dev/null; then
  # The system's sources, changed to those of source packages.
  for file in /etc/apt/sources.list.d/*.sources; do
    if [[ -f $file ]]; then sed 's/^Types:.*/Types: deb-src/' "$file" >"$place/apt/sources/$(basename "$file")"; fi
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [[ -f $file ]]; then sed -n 's/^deb /deb-src /p' "$file" >"$place/apt/sources/$(basename "$file" .list).list"; fi
  done
  apt=(apt-get -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$place/apt/sources"
    -o "Dir::State::lists=$place/apt/lists" -o "Dir::Cache=$place/apt" -o APT::Sandbox::User=root)
  "${apt[@]}" update >"$place/apt/log" 2>&1 || skip "no list of source packages: $(grep -m1 '^E:' "$place/apt/log" | cut -c1-120)"
  (cd "$place" && "${apt[@]}" source --download-only "$package") >"$place/apt/log" 2>&1 ||
    skip "its source package '$package' cannot be fetched: $(grep -m1 -oE '^E: [^:]*|[0-9]{3} +[A-Z][a-z].*' "$place/apt/log" | cut -c1-80)"
  dpkg-source --no-check -x "$(ls "$place"/*.dsc | tail -n 1)" "$place/source.new" >/dev/null 2>&1 || skip "its source package does not unpack"
  mv "$place/source.new" "$place/source"
fi

export TALLY_CACHE_DIR=$place/test-cache
mkdir -p "$TALLY_CACHE_DIR"
code=0
python3 -B tests/suites/suite.py "$suite" "$place/source" "$place/build" build/release/tally "$@" || code=$?
exit "$code"
