#!/bin/sh
# check.sh SYMBOLS LIBRARY: LIBRARY exports all SYMBOLS, those of release 0.9.0, so that programs that were linked with
# that find them. More symbols are allowed. tally/library/struct_layout_test.cpp compares the sizes of the public structs.
set -e
exported=$(nm -D --defined-only "$2" | sed 's/.* //; s/@.*//' | LC_ALL=C sort)
missing=$(echo "$exported" | LC_ALL=C comm -13 - "$1")
[ -z "$missing" ] || { echo "$2 does not export:"; echo "$missing"; exit 1; }
