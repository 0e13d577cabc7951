#!/bin/sh
# format.sh ROOT: checks that every tracked C and C++ file is formatted by clang-format-16 (`./dev lint --fix` formats
# them). The headers of tally/hardware/workload are assembly, whose macros it would break.
cd "$1" || exit 1
command -v clang-format-16 >/dev/null || { echo "there is no clang-format-16 here"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "not a checkout: there is no list of the files"; exit 77; }
git ls-files -z -- '*.cpp' '*.hpp' '*.h' '*.c' ':!tally/hardware/workload/*.h' ':!tests/documents/inputs/*' | xargs -0 -P 2 -n 64 clang-format-16 --dry-run -Werror
