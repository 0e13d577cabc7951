#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests; ctest's own summary comes last.
#
# usage: ./dev test [--all | --engine-suite] [-R REGEX] [--preset NAME] [--no-setup] [-- CTEST OPTIONS]
#
#   --all           also the tests labelled `long`
#   --engine-suite  only the everyday programs of tests/engine/suite, all of them: installs those that Debian has, takes
#                   most of an hour, and writes build/PRESET/costs-and-limits.md, a new docs/guides/costs-and-limits.md;
#                   then ten minutes of the torture program
#   -R REGEX        only tests whose name matches, long ones, too; `ctest --test-dir build/release -N` lists the names
#   --preset NAME   release (the default), dev or asan
#   --no-setup      takes the installed packages as they are
#
# examples: ./dev test            ./dev test -R layers            ./dev test --preset asan
source dev.d/common

preset=release
build=()
chosen=()
setup=yes
suite=no
left_out='long|suite-long'
while (($#)); do
  case $1 in
    --all) left_out=suite-long ;;
    --engine-suite) suite=yes ;;
    -R) [[ ${2-} ]] || misuse "-R wants a regular expression"; chosen+=(-R "$2"); left_out=suite-long; shift ;;
    --preset) preset=${2-}; [[ $preset ]] || misuse "--preset wants a name"; shift ;;
    --preset=*) preset=${1#*=} ;;
    --no-setup) setup=no; build+=(--no-setup) ;;
    --) shift; chosen+=("$@"); break ;;
    *) misuse "test does not know $1" ;;
  esac
  shift
done
known_preset "$preset"

if [[ $suite == yes && $setup == yes ]]; then ./dev setup engine-suite; fi
./dev build --tests --preset "$preset" "${build[@]}"
tree=build/$preset
export TALLY_CACHE_DIR=$PWD/$tree/test-cache  # not the user's own: a build of the day's would push out what is kept
# One more than there are processors, because tests also wait.
run_ctest() { ctest --test-dir "$tree" --output-on-failure --no-tests=error -j "$(($(processors) + 1))" "$@"; }

count_long() { ctest --test-dir "$tree" -N -L '^long$' | sed -n 's/^Total Tests: //p'; }

# Every test with its time is kept in junit.xml; the slowest are printed before ctest's summary, which comes again.
junit=$PWD/$tree/junit.xml
log=$tree/Testing/Temporary/run.log
slowest() {
  sed -nE 's/.*<testcase name="([^"]*)".* time="([0-9.]+)".*/\2 \1/p' "$junit" | sort -rn | head -n 20 |
    awk '{ seconds = $1; $1 = ""; printf "%8.1f s %s\n", seconds, $0 }'
}
run_and_list_slowest() {
  local code=0
  mkdir -p "$(dirname "$log")"
  run_ctest --output-junit "$junit" "$@" | tee "$log" || code=$?
  if [[ -s $junit ]]; then
    say "the slowest tests of this run ($junit has all):"
    slowest
    sed -n '/tests passed, .* failed out of/,$p' "$log"
  fi
  return "$code"
}

# Who measures the machine itself (time, caches, what others do) may be wrong beside other tests: up to three such tests
# are tried again, alone, and must pass three times. What the engine counts and its models say has no second chance.
counts_exactly='^([0-9]+:)?(engine_|suite/|differential/|torture_test/|backend_engine_test/|models_test/|channel_test/|marks_test/)'
failed_log=$tree/Testing/Temporary/LastTestsFailed.log
passes_alone() {
  [[ -s $failed_log ]] && (($(wc -l <"$failed_log") <= 3)) || return 1
  ! grep -qE "$counts_exactly" "$failed_log" || return 1
  say "failed beside other tests, and is tried three times alone: $(cut -d: -f2- "$failed_log" | paste -sd ' ')"
  ctest --test-dir "$tree" --output-on-failure --rerun-failed --repeat until-fail:3
}

if [[ $suite == no ]]; then
  if [[ -x $tree/tests/differential ]]; then say "$("$tree/tests/differential" --extensions)"; fi
  rm -f "$failed_log"
  code=0
  if [[ $left_out == 'long|'* ]]; then say "left out: the tests that take long ($(count_long); ./dev test --all runs them)"; fi
  run_and_list_slowest -LE "^($left_out)\$" "${chosen[@]}" || code=$?
  ((code == 0)) || passes_alone || exit "$code"
  exit 0
fi
rm -rf "$tree/engine-suite"
code=0
run_ctest -L '^suite$' "${chosen[@]}" || code=$?
if ((${#chosen[@]} == 0)); then TALLY_TORTURE_SECONDS=600 run_ctest -R '^torture_test/' || code=$?; fi
python3 -B tests/engine/suite/page.py "$tree/engine-suite" docs/guides/costs-and-limits.md >"$tree/costs-and-limits.md"
say "the results are in $tree/costs-and-limits.md"
exit "$code"
