#!/usr/bin/env bash
# Runs libFuzzer with both sanitizers on each parser.
#
# usage: ./dev fuzz [SECONDS] [FUZZER …]
#
#   SECONDS   time for each fuzzer (default 60)
#   FUZZER    only these: event_fuzz …
#
# Stops at the first input that makes a parser fail: stores it in build/fuzz/found, exit code 1. Skipped without clang-16.
# examples: ./dev fuzz            ./dev fuzz 600 event_fuzz
source dev.d/common

seconds=60
only=()
for word in "$@"; do
  if [[ $word =~ ^[0-9]+$ ]]; then seconds=$word; elif [[ $word == -* ]]; then misuse "fuzz does not support the option $word"; else only+=("$word"); fi
done

./dev setup build test fuzz
if ! have clang++-16; then
  say "skipped: clang++-16 is not installed"
  exit 0
fi
cmake --preset fuzz --log-level=NOTICE >&2
cmake --build build/fuzz --target fuzzers >&2
mkdir -p build/fuzz/found
if ((${#only[@]} == 0)); then
  for program in build/fuzz/fuzz/*_fuzz; do only+=("$(basename "$program")"); done
fi
for name in "${only[@]}"; do
  [[ -x build/fuzz/fuzz/$name ]] || die "there is no fuzzer '$name' in build/fuzz/fuzz"
  say "$name, $seconds s"
  mkdir -p "build/fuzz/corpus/$name"
  # Words of the grammar, if the fuzzer has a list of them.
  dictionary=$(find tally programs -name "$name.dict")
  # An input of a few kilobytes that takes seconds is a defect: somebody's terminal hangs.
  "build/fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=5 -artifact_prefix=build/fuzz/found/ -print_final_stats=1 \
    ${dictionary:+-dict="$dictionary"} \
    "build/fuzz/corpus/$name" || die "$name failed: its input is in build/fuzz/found"
done
say "no fuzzer failed"
