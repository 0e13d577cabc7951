#!/bin/sh
# tidy.sh ROOT BUILD [SOURCE …]: runs clang-tidy-16 on C++ sources, and fails if it finds something. Configures
# BUILD/tidy for their compile commands. Exit code 77 and a reason if it cannot run.
#
# Without SOURCE: the 12 sources that were changed last, first those that are not committed, then by the history, and
# only the checks that find bugs. TALLY_TIDY_SOURCES in the environment sets another number.
# With SOURCE: these, with all checks of .clang-tidy, which include style (`./dev lint --tidy`).
root=$1 build=$2
shift 2
cd "$root" || exit 1
command -v clang-tidy-16 >/dev/null || { echo "clang-tidy-16 is not installed (./dev setup tidy installs it)"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "this is not a git checkout, so there is no history of the files"; exit 77; }
work=$build/tidy
mkdir -p "$work" || exit 1
# This only configures: clang-tidy reads the compile commands.
cmake --preset tidy -B "$work" --log-level=NOTICE >/dev/null || exit 1
# clang does not support the first option of g++. With the second it rejects the standard library, which uses `long
# double`. Both change only the generated code.
sed -i 's/ -fno-tree-loop-distribute-patterns//g; s/ -mgeneral-regs-only//g' "$work/compile_commands.json" || exit 1
candidates() {
  if [ $# -gt 0 ]; then printf '%s\n' "$@"; else git diff --name-only HEAD; git log --format= --name-only; fi
}
# The programs that the tests measure are low-level on purpose.
with_command() {
  awk '/\.cpp$/ && !seen[$0]++' | grep -vE '^tests/engine/(programs|libc)/' | while read -r file; do
    if [ -f "$file" ] && grep -qF "\"file\": \"$root/$file\"" "$work/compile_commands.json"; then echo "$file"; fi
  done
}
if [ $# -gt 0 ]; then
  candidates "$@" | with_command >"$work/sources"
  left_out=$(($# - $(wc -l <"$work/sources")))
  [ $left_out -eq 0 ] || echo "left out: $left_out sources without a compile command, or that are programs that tests measure"
  [ -s "$work/sources" ] || exit 77
  checks=
else
  candidates 2>/dev/null | with_command 2>/dev/null | head -n "${TALLY_TIDY_SOURCES:-12}" >"$work/sources"
  [ -s "$work/sources" ] || { echo "no source has a compile command"; exit 1; }
  # Not a product that is widened: it is nearly always a constant. Not the terminator of a copied string: copied bytes
  # are code.
  checks='-modernize-*,-readability-*,-misc-*,-performance-*,-cppcoreguidelines-*'
  checks=$checks,-bugprone-implicit-widening-of-multiplication-result,-bugprone-not-null-terminated-result
fi
echo "$(wc -l <"$work/sources") sources: $(paste -s -d ' ' "$work/sources")"
xargs -P "$(nproc)" -n 1 clang-tidy-16 -p "$work" --quiet ${checks:+"--checks=$checks"} --warnings-as-errors='*' <"$work/sources"
