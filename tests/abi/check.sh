#!/bin/sh
# check.sh DESCRIPTION LIBRARY HEADERS: programs that were linked with the library of DESCRIPTION (abidw's, of release
# 0.9.0) run with LIBRARY. Added functions are allowed. After an intended change with a new soname:
#   abidw --headers-dir HEADERS --drop-private-types --no-corpus-path --no-show-locs --no-comp-dir-path LIBRARY >DESCRIPTION
command -v abidiff >/dev/null || { echo "abidiff is missing (package abigail-tools)"; exit 77; }
abidiff --no-added-syms --drop-private-types --headers-dir1 "$3" --headers-dir2 "$3" "$1" "$2"
