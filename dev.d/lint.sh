#!/usr/bin/env bash
# Checks format, layers, words and documents; with --tidy also runs clang-tidy.
#
# usage: ./dev lint [--fix] [--tidy] [--since REVISION] [PATH …]
#
#   --fix              format the files instead of reporting them
#   --tidy             also run clang-tidy, which takes about 10 seconds for each source
#   --since REVISION   format and clang-tidy read only the files that differ from this revision
#   PATH               format and clang-tidy read only these files and directories (default: the whole tree)
#
# The parts:
#
#   format     clang-format-16 would change no C or C++ file
#   layers     each #include follows tests/layers/layers.txt
#   words      sources, scripts and documents avoid the words of tests/language/words.txt
#   documents  README.md is short, and lines of documents fit 120 columns
#   tidy       clang-tidy-16 finds nothing (`./dev test --all` runs it on the 12 sources that were changed last)
#
# A part is skipped, with the reason, if its program is missing: Debian 13 has no clang-format-16. The exit code is 1 if
# a part fails; all parts run.
#
# examples: ./dev lint            ./dev lint --fix            ./dev lint --tidy --since HEAD~3
source dev.d/common

since=
fix=no
tidy=no
paths=()
while (($#)); do
  case $1 in
    --since) since=${2-}; [[ $since ]] || misuse "--since needs a revision"; shift ;;
    --fix) fix=yes ;;
    --tidy) tidy=yes ;;
    -*) misuse "lint does not support the option $1" ;;
    *) [[ -e $1 ]] || misuse "there is no file or directory $1"; paths+=("$1") ;;
  esac
  shift
done

./dev setup lint
if [[ $tidy == yes ]]; then ./dev setup tidy build test; fi

# The C and C++ files to read. The headers in programs/workload are assembly, which clang-format would break.
list_files() {
  local excluded=(':!programs/workload/*.h' ':!tests/documents/inputs/*') file
  if [[ $since ]]; then
    git diff -z --name-only --relative --diff-filter=d "$since" -- "${paths[@]}" "${excluded[@]}"
  else
    git ls-files -z -co --exclude-standard -- "${paths[@]}" "${excluded[@]}"
  fi | while IFS= read -r -d '' file; do
    case $file in *.cpp | *.hpp | *.h | *.c) [[ ! -f $file ]] || printf '%s\0' "$file" ;; esac
  done
}
if git rev-parse --git-dir >/dev/null 2>&1; then
  if [[ $since ]]; then git rev-parse --quiet --verify "$since^{commit}" >/dev/null || misuse "there is no revision $since"; fi
  mapfile -d '' files < <(list_files)
  no_files="no C or C++ file was chosen"
else
  files=()
  no_files="this is not a git checkout, so there is no list of the files"
fi
skip() { echo "$*"; return 77; }

check_format() {
  have clang-format-16 || skip "clang-format-16 is not installed" || return
  ((${#files[@]})) || skip "$no_files" || return
  local options=(--dry-run -Werror)
  if [[ $fix == yes ]]; then options=(-i); fi
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(processors)" -n 32 clang-format-16 "${options[@]}" ||
    { say "./dev lint --fix formats these files"; return 1; }
  echo "format: ${#files[@]} files"
}

run_tidy() {
  local sources=() file
  for file in "${files[@]}"; do [[ $file != *.cpp ]] || sources+=("$file"); done
  ((${#sources[@]})) || skip "$no_files" || return
  sh tests/layers/tidy.sh "$PWD" build "${sources[@]}"
}

failed=()
run_part() {
  local name=$1 code=0
  shift
  "$@" || code=$?
  case $code in
    0) ;;
    77) say "lint: skipped $name, for the reason above" ;;
    *) say "lint: $name failed"; failed+=("$name") ;;
  esac
}
run_part format check_format
run_part layers python3 -B tests/layers/check_layers.py
run_part words python3 -B tests/language/language.py .
run_part documents python3 -B tests/documents/style.py .
if [[ $tidy == yes ]]; then run_part tidy run_tidy; fi

((${#failed[@]} == 0)) || die "lint failed: ${failed[*]}"
say "lint passed"
