#!/bin/sh
# tidy.sh ROOT BUILD: clang-tidy-16 finds no bug in the 12 sources that were changed last: first those that are not
# committed, then by the history. TALLY_TIDY_SOURCES in the environment sets another number. It runs the checks that
# find bugs; `./dev lint` also runs those of style, on every source.
cd "$1" || exit 1
command -v clang-tidy-16 >/dev/null || { echo "clang-tidy-16 is missing (./dev setup test installs it)"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "not a checkout: there is no history of the files"; exit 77; }
work=$2/tidy
mkdir -p "$work" || exit 1
# Configured only: compile commands of each source, by clang. It refuses two options of g++.
cmake --preset tidy -B "$work" --log-level=NOTICE >/dev/null || exit 1
sed -i 's/ -fno-tree-loop-distribute-patterns//; s/ -mgeneral-regs-only//' "$work/compile_commands.json" || exit 1
# The programs that the tests measure are low-level on purpose.
changed() {
  { git diff --name-only HEAD; git log --format= --name-only; } | awk '/\.cpp$/ && !seen[$0]++' |
    grep -vE '^tests/engine/(programs|libc)/' | while read -r file; do
      if [ -f "$file" ] && grep -qF "\"file\": \"$1/$file\"" "$work/compile_commands.json"; then echo "$file"; fi
    done | head -n "${TALLY_TIDY_SOURCES:-12}"
}
changed "$1" >"$work/sources" 2>/dev/null
[ -s "$work/sources" ] || { echo "there is no source with a compile command"; exit 1; }
echo "$(wc -l <"$work/sources") sources:" $(cat "$work/sources")
# The checks of .clang-tidy in each directory that find bugs; a product that is widened is nearly always a constant.
# Bytes that are copied from a string are code: they need no terminator.
checks='-modernize-*,-readability-*,-misc-*,-performance-*,-cppcoreguidelines-*'
checks=$checks,-bugprone-implicit-widening-of-multiplication-result,-bugprone-not-null-terminated-result
xargs -P 2 -n 1 clang-tidy-16 -p "$work" --quiet --checks="$checks" --warnings-as-errors='*' <"$work/sources"
