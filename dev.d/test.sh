#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test; ctest's own summary comes last.
#
# usage: ./dev test [--quick] [-R REGEX] [--preset NAME] [--no-setup] [-- CTEST OPTIONS]
#
#   --quick         leaves out the tests labelled `long`
#   -R REGEX        only tests whose name matches; `ctest --test-dir build/release -N` lists the names
#   --preset NAME   release (the default), dev or asan
#   --no-setup      takes the installed packages as they are
#
# examples: ./dev test            ./dev test -R layers            ./dev test --preset asan --quick
source dev.d/common

preset=release
build=()
chosen=()
while (($#)); do
  case $1 in
    --quick) chosen+=(-LE '^long$') ;;
    -R) [[ ${2-} ]] || misuse "-R wants a regular expression"; chosen+=(-R "$2"); shift ;;
    --preset) preset=${2-}; [[ $preset ]] || misuse "--preset wants a name"; shift ;;
    --preset=*) preset=${1#*=} ;;
    --no-setup) build+=(--no-setup) ;;
    --) shift; chosen+=("$@"); break ;;
    *) misuse "test does not know $1" ;;
  esac
  shift
done
known_preset "$preset"

./dev build --tests --preset "$preset" "${build[@]}"
exec ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(processors)" "${chosen[@]}"
