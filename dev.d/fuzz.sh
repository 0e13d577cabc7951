#!/usr/bin/env bash
# Feeds the parsers what nobody would type: libFuzzer with both sanitizers, each parser for some time.
#
# usage: ./dev fuzz [SECONDS] [FUZZER …]
#
#   SECONDS   for each of them (default 60)
#   FUZZER    only these: event_fuzz …
#
# What is found lies in build/fuzz/found, and ends this with 1. Needs clang-16; where it is not packaged this is skipped.
# examples: ./dev fuzz            ./dev fuzz 600 event_fuzz
source dev.d/common

seconds=60
only=()
for word in "$@"; do
  if [[ $word =~ ^[0-9]+$ ]]; then seconds=$word; elif [[ $word == -* ]]; then misuse "fuzz does not know the option $word"; else only+=("$word"); fi
done

./dev setup build test fuzz
if ! have clang++-16; then
  say "skipped: there is no clang++-16 here"
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
  # Words of the grammar, where the fuzzer has a list beside it.
  dictionary=$(find tally -name "$name.dict")
  # A text that takes a second hangs somebody.
  "build/fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=5 -artifact_prefix=build/fuzz/found/ -print_final_stats=1 \
    ${dictionary:+-dict="$dictionary"} \
    "build/fuzz/corpus/$name" || die "$name found something: build/fuzz/found"
done
say "nothing found"
