#!/usr/bin/env bash
# Format, static analysis and layers: what a reviewer should not have to say.
#
# usage: ./dev lint [--since REVISION] [--fix] [--no-tidy] [FILE …]
#
#   --since REVISION   only files that differ from it (default: every tracked C++ file)
#   --fix              formats in place instead of complaining
#   --no-tidy          leaves out clang-tidy, which takes minutes
#
# clang-format-16 and clang-tidy-16 decide; where they are not packaged (Debian 13) their part is skipped and says so.
source dev.d/common

since=
fix=no
tidy=yes
files=()
while (($#)); do
  case $1 in
    --since) since=${2-}; [[ $since ]] || misuse "--since wants a revision"; shift ;;
    --fix) fix=yes ;;
    --no-tidy) tidy=no ;;
    -*) misuse "lint does not know the option $1" ;;
    *) files+=("$1") ;;
  esac
  shift
done

./dev setup lint
if ((${#files[@]} == 0)); then
  patterns=('*.cpp' '*.hpp' '*.h' '*.c' ':!tally/hardware/workload/*.h' ':!tests/documents/inputs/*')
  if [[ $since ]]; then
    mapfile -t files < <(git diff --name-only --diff-filter=d "$since" -- "${patterns[@]}")
  else
    mapfile -t files < <(git ls-files -- "${patterns[@]}")
  fi
fi
failed=()

if ((${#files[@]} == 0)); then
  say "no C++ file to look at"
elif have clang-format-16; then
  say "$(clang-format-16 --version), ${#files[@]} files"
  if [[ $fix == yes ]]; then
    clang-format-16 -i "${files[@]}"
  else
    clang-format-16 --dry-run -Werror "${files[@]}" || failed+=("format (./dev lint --fix mends it)")
  fi
else
  say "skipped: the format, for there is no clang-format-16 here"
fi

say "layers"
python3 -B tests/layers/check_layers.py || failed+=(layers)

sources=()
for file in "${files[@]}"; do [[ $file == *.cpp ]] && sources+=("$file"); done
if [[ $tidy == no ]] || ((${#sources[@]} == 0)); then
  :
elif have clang-tidy-16 && have clang++-16; then
  # Configured only: clang-tidy reads the compile commands. Generated headers, where there are any, are built.
  ./dev setup build test
  cmake --preset tidy --log-level=NOTICE >&2
  # An option of g++ that clang would not take, and one with which it refuses g++'s own headers, for there is a `long
  # double` in them: their effect is on code that is generated, not on what is read.
  sed -i 's/ -fno-tree-loop-distribute-patterns//g; s/ -mgeneral-regs-only//g' build/tidy/compile_commands.json
  # The programs that the tests measure are raw on purpose, and some are built by rules of their own.
  compiled=()
  for file in "${sources[@]}"; do
    case $file in tests/engine/programs/* | tests/engine/libc/*) continue ;; esac
    if grep -qF "\"file\": \"$PWD/$file\"" build/tidy/compile_commands.json; then compiled+=("$file"); fi
  done
  if ((${#sources[@]} > ${#compiled[@]})); then
    say "$((${#sources[@]} - ${#compiled[@]})) files are left out: programs that tests measure, or without a compile command"
  fi
  sources=("${compiled[@]}")
  say "clang-tidy-16, ${#sources[@]} files"
  printf '%s\0' "${sources[@]}" |
    xargs -0 -n 1 -P "$(processors)" clang-tidy-16 -p build/tidy --quiet --warnings-as-errors='*' || failed+=(clang-tidy)
else
  say "skipped: clang-tidy, for there is no clang-tidy-16 here"
fi

((${#failed[@]} == 0)) || die "lint failed: $(printf '%s, ' "${failed[@]}" | sed 's/, $//')"
say "lint passed"
