#!/bin/sh
# check.sh DESCRIPTION LIBRARY: programs that were linked with the library of DESCRIPTION (abidw's, of release 0.9.0) run
# with LIBRARY; one major version of g++ built both. Added functions are allowed. After an intended change with a new
# soname:
#   abidw --headers-dir BUILD/include --drop-private-types --exported-interfaces-only --no-corpus-path --no-show-locs \
#     --no-comp-dir-path LIBRARY >DESCRIPTION
command -v abidiff >/dev/null || { echo "abidiff is missing (package abigail-tools)"; exit 77; }
abidiff --no-added-syms "$1" "$2"
