#!/usr/bin/env bash
# Builds tally: build/release/tally, ready to run from there.
#
# usage: ./dev build [--preset NAME] [--tests] [--clean] [--no-setup] [TARGET …]
#
#   --preset NAME   release (the default), dev, asan or tidy: see CMakePresets.json; builds in build/NAME
#   --tests         the tests too; a tree that was built with tests goes on having them
#   --clean         begins with an empty build/NAME
#   --no-setup      takes the installed packages as they are
#
# ccache is used where it is installed.
source dev.d/common

preset=release
tests=no
clean=no
setup=yes
targets=()
while (($#)); do
  case $1 in
    --preset) preset=${2-}; [[ $preset ]] || misuse "--preset wants a name"; shift ;;
    --preset=*) preset=${1#*=} ;;
    --tests) tests=yes ;;
    --clean) clean=yes ;;
    --no-setup) setup=no ;;
    -*) misuse "build does not know the option $1" ;;
    *) targets+=("$1") ;;
  esac
  shift
done
known_preset "$preset"

purposes=(build)
if [[ $tests == yes ]]; then purposes+=(test); fi
if [[ $setup == yes ]]; then ./dev setup "${purposes[@]}"; fi
have cmake && have ninja || die "cmake or ninja is missing: ./dev setup installs them (packages cmake and ninja-build)"

tree=build/$preset
if [[ $clean == yes ]]; then rm -rf "$tree"; fi
if have ccache && [[ ! ${CMAKE_CXX_COMPILER_LAUNCHER-} ]]; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# Without tests GoogleTest need not be there; the choice is made once for a tree, and widened when asked.
options=()
if [[ $tests == yes ]]; then
  options+=(-DTALLY_TESTS=ON)
elif [[ ! -f $tree/CMakeCache.txt ]]; then
  options+=(-DTALLY_TESTS=OFF)
fi
cmake --preset "$preset" --log-level=NOTICE "${options[@]}" >&2
cmake --build "$tree" -j "$(processors)" ${targets[@]:+--target "${targets[@]}"} >&2
