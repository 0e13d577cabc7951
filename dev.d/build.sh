#!/usr/bin/env bash
# Builds tally: build/release/tally, ready to run from there.
#
# usage: ./dev build [--preset NAME] [--tests] [--clean] [--no-setup] [TARGET …]
#
#   --preset NAME   release (the default), dev, asan or tidy: see CMakePresets.json; builds in build/NAME
#   --tests         also build the tests; a tree that was built with tests keeps them
#   --clean         start with an empty build/NAME
#   --no-setup      use the installed packages
#
# Uses ccache if it is installed.
source dev.d/common

preset=release
tests=no
clean=no
setup=yes
targets=()
while (($#)); do
  case $1 in
    --preset) preset=${2-}; [[ $preset ]] || misuse "--preset needs a name"; shift ;;
    --preset=*) preset=${1#*=} ;;
    --tests) tests=yes ;;
    --clean) clean=yes ;;
    --no-setup) setup=no ;;
    -*) misuse "build does not support the option $1" ;;
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

# A tree without tests needs no GoogleTest. --tests adds the tests to a tree; nothing removes them.
options=()
if [[ $tests == yes ]]; then
  options+=(-DTALLY_TESTS=ON)
elif [[ ! -f $tree/CMakeCache.txt ]]; then
  options+=(-DTALLY_TESTS=OFF)
fi
cmake --preset "$preset" --log-level=NOTICE "${options[@]}" >&2
cmake --build "$tree" -j "$(processors)" ${targets[@]:+--target "${targets[@]}"} >&2
