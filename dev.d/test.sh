#!/usr/bin/env bash
# Installs missing packages, builds, and runs the tests.
#
# usage: ./dev test [--all | --engine-suite] [-R REGEX] [--preset NAME] [--no-setup] [DIRECTORY …] [-- CTEST OPTIONS]
#
#   DIRECTORY       build and run only the tests of these directories and of the directories above them: tally/output, or
#                   tests/cli. tests/directories.txt lists which directories below tests/ test which below tally/
#   --all           also the tests that take long, every block size and seed, and the guest; installs what all tests use
#   --engine-suite  only the everyday programs of tests/engine/suite, all of them: installs those that Debian has, takes
#                   most of an hour, and writes build/PRESET/costs-and-limits.md, a new docs/guides/costs-and-limits.md;
#                   then ten minutes of the torture program
#   -R REGEX        only tests whose names match, also long ones; `ctest --test-dir build/release -N` lists the names
#   --preset NAME   release (the default), dev or asan
#   --no-setup      do not install packages
#
# Each process of a test may use 10 minutes of processor time (an hour with --all), whatever else the machine does. The
# processor seconds of the build and of the tests, the slowest tests and the skipped ones are printed; ctest's summary is
# last.
#
# examples: ./dev test            ./dev test tally/cli            ./dev test -R layers            ./dev test --preset asan
source dev.d/common

preset=release
build=()
selected=()
directories=()
setup=yes
suite=no
all=no
excluded='long:.*|suite-long'
while (($#)); do
  case $1 in
    --all) all=yes; excluded=suite-long ;;
    --engine-suite) suite=yes ;;
    -R) [[ ${2-} ]] || misuse "-R needs a regular expression"; selected+=(-R "$2"); excluded=suite-long; shift ;;
    --preset) preset=${2-}; [[ $preset ]] || misuse "--preset needs a name"; shift ;;
    --preset=*) preset=${1#*=} ;;
    --no-setup) setup=no ;;
    --) shift; selected+=("$@"); break ;;
    -*) misuse "test does not support the option $1" ;;
    *) [[ -d $1 ]] || misuse "there is no directory $1"; directories+=("${1%/}") ;;
  esac
  shift
done
known_preset "$preset"
tree=build/$preset

if [[ $setup == yes ]]; then
  purposes=(build test)
  if [[ $all == yes ]]; then purposes+=(all tidy); fi
  if [[ $suite == yes ]]; then purposes+=(engine-suite); fi
  if [[ $all == yes ]] || tests/guest/unless_unchanged --changed; then purposes+=(guest); fi
  ./dev setup "${purposes[@]}"
fi

# Processor seconds, user and system, of the commands that this shell has run: proc(5), cutime and cstime.
processor_s() {
  local fields
  read -ra fields <"/proc/$$/stat"
  echo $(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}
costs=
cost_s=$(processor_s)
began_s=$SECONDS
# add_cost WHAT: WHAT, which just ended, has cost as much as has been used since the last call.
add_cost() {
  costs+="${costs:+; }$1 $(($(processor_s) - cost_s)) processor seconds in $(((SECONDS - began_s) / 60)) min $(((SECONDS - began_s) % 60)) s"
  cost_s=$(processor_s)
  began_s=$SECONDS
}

options=(--tests --no-setup --preset "$preset")
if ((${#directories[@]})); then
  cmake --preset "$preset" --log-level=WARNING -DTALLY_TESTS=ON >/dev/null  # writes the list of directories with tests
  tested=()
  others=()
  while IFS= read -r line; do
    if [[ $line == -* ]]; then others+=("${line#-}"); else tested+=("$line"); fi
  done < <(python3 -B tests/directories.py "$tree" "${directories[@]}")
  ((${#tested[@]})) || die "no tests in ${directories[*]} or above"
  say "tests of ${tested[*]}${others[*]:+, without those of other directories (tests/directories.txt)}"
  targets=("${tested[@]//\//-}")
  ./dev build "${options[@]}" "${targets[@]/#/tests-of-}"
  selected+=(-L "^(long:)?($(IFS='|'; echo "${tested[*]}"))\$" ${others[0]:+-E "$(IFS='|'; echo "${others[*]}")"})
else
  ./dev build "${options[@]}"
fi
add_cost build

# Uses its own kept translations: those of a new build would replace the user's.
export TALLY_CACHE_DIR=$PWD/$tree/test-cache
if [[ $all == yes ]]; then export TALLY_TEST_FULL=1; fi
limit_s=600
if [[ $all == yes || $suite == yes ]]; then limit_s=3600; fi
# One job more than processors, because tests also wait. The limit is the soft one, which a test may raise.
run_ctest() {
  (
    ulimit -S -t "$limit_s"
    exec ctest --test-dir "$tree" --output-on-failure --no-tests=error -j "$(($(processors) + 1))" "$@"
  )
}

if [[ $suite == yes ]]; then
  rm -rf "$tree/engine-suite"
  code=0
  run_ctest -L '^suite$' "${selected[@]}" || code=$?
  if ((${#selected[@]} == 0)); then TALLY_TORTURE_SECONDS=600 run_ctest -R '^torture_test/' || code=$?; fi
  python3 -B tests/engine/suite/page.py "$tree/engine-suite" docs/guides/costs-and-limits.md >"$tree/costs-and-limits.md"
  say "the results are in $tree/costs-and-limits.md"
  exit "$code"
fi

if [[ -x $tree/tests/differential ]]; then say "$("$tree/tests/differential" --extensions)"; fi
if [[ $excluded == 'long:'* ]]; then
  say "excluded: tests that take long ($(ctest --test-dir "$tree" -N -L '^long:' | sed -n 's/^Total Tests: //p')); ./dev test --all runs them"
fi
junit=$PWD/$tree/junit.xml
log=$tree/Testing/Temporary/run.log
failed_log=$tree/Testing/Temporary/LastTestsFailed.log
rm -f "$failed_log" "$junit"
mkdir -p "$(dirname "$log")"
code=0
run_ctest --output-junit "$junit" --test-output-size-passed 1000000 -LE "^($excluded)\$" "${selected[@]}" | tee "$log" || code=$?
add_cost tests
if [[ -s $junit ]]; then
  python3 -B tests/summary.py "$junit" >&2
  say "all times: $junit"
fi
say "cost: $costs"
sed -n '/tests passed, .* failed out of/,$p' "$log"
((code != 0)) || exit 0

# A test that measures the machine itself (time, caches, other programs) may fail while others run: up to three such tests
# run again alone, and must pass three times. Tests of what the engine counts and its models get no second chance.
counts_exactly='^([0-9]+:)?(engine_|suite/|differential/|torture_test/|marks_test/|(backend_engine|models|channel)_test$)'
[[ -s $failed_log ]] && (($(wc -l <"$failed_log") <= 3)) || exit "$code"
! grep -qE "$counts_exactly" "$failed_log" || exit "$code"
say "failed while other tests ran; now three times alone: $(cut -d: -f2- "$failed_log" | paste -sd ' ')"
ctest --test-dir "$tree" --output-on-failure --rerun-failed --repeat until-fail:3
