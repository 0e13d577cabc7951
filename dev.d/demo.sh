#!/usr/bin/env bash
# Builds tally, counts a real program with it, and explains every line that it prints.
#
# usage: ./dev demo [--no-setup]
#
#   --no-setup   takes the installed packages as they are
#
# Installs what the build needs and bzip2. What it makes lies in build/demo.
source dev.d/common

setup=()
for word in "$@"; do
  case $word in
    --no-setup) setup+=(--no-setup) ;;
    *) misuse "demo does not know $word" ;;
  esac
done
if ((${#setup[@]} == 0)); then ./dev setup build demo; fi
./dev build "${setup[@]}" tally tally-engine

tally=build/release/tally
folder=build/demo
mkdir -p "$folder"

title() { printf '\n\033[1m== %s\033[0m\n' "$*" | if [[ -t 1 && ! ${NO_COLOR-} ]]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
explain() { sed 's/^/   /'; }
# Shows a command as one would type it, runs it; its exit code is its own affair.
show() {
  local word line= status=0
  for word in "$@"; do
    if [[ $word =~ [^[:alnum:]_./,=+-] ]]; then line+=" ${word@Q}"; else line+=" $word"; fi
  done
  printf '\n$%s\n' "$line"
  "$@" 2>&1 || status=$?
  if ((status != 0)); then printf '(exit code %d)\n' "$status"; fi
}
# The count of one event of a command, without the thousands' commas.
count() {
  $tally stat -e "$1" -o - -- "${@:2}" 2>/dev/null |
    awk -v event="$1:u" '$1 == event && $2 != "-" { gsub(",", "", $2); print $2 }'
}

title "1. A real program"
# The same bytes wherever the same compiler is installed: its own headers, in a fixed order, without dates and owners.
headers=$(echo '#include <vector>' | g++ -x c++ -M - | tr -s ' \\\n' '\n' | grep -m 1 '/bits/stl_vector\.h$')
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$(dirname "$headers")" -cf "$folder/input.tar" .
explain <<TEXT
bzip2 compresses $(stat -c %s "$folder/input.tar") bytes: the headers of the C++ library that this tally was built with.
TEXT
show $tally stat -- bzip2 -k -f "$folder/input.tar"
explain <<'TEXT'
Each line is an event, its count, what it is a share of, and how far the number can be trusted:

exact      Instructions, branches by kind, loads, stores. They follow from the program and what it reads, so they can be
           counted without hardware counters: equal, to the instruction, to what a debugger counts by single steps
           (where one that repeats itself, as "rep movsb", is one).
           ":u" says user mode; what the kernel does for the program is not in them.
partial    Page faults, times, memory. The kernel measured them for the whole process, in which tally's engine was at
           work too, and the notes [1] and [2] say so. Natively they are without it:
TEXT
show $tally stat --backend none -e instructions,page-faults,peak-memory,user_time,duration_time -- \
  bzip2 -k -f "$folder/input.tar"
explain <<'TEXT'
counted    By the kernel, and nobody else had a part in it.
absent     There is no such number, and the line says why. What was not counted is never printed as 0.
TEXT

title "2. A program whose answer is known"
cat >"$folder/loop.cpp" <<'CODE'
#include <cstdlib>
int main(int, char** argv) { volatile long sum = 0; for (long i = 0, n = std::atol(argv[1]); i < n; ++i) sum += i; }
CODE
g++ -O2 -o "$folder/loop" "$folder/loop.cpp"
explain <"$folder/loop.cpp"
show $tally stat -e instructions,branches,loads,stores -- "$folder/loop" 1000000
# Addresses are held still, so that starting the program costs the same twice and falls out of the difference.
still() { setarch -R bash -c "$(declare -f count); tally=$tally; count \"\$@\"" count "$@"; }
differences() {
  local event once twice
  for event in instructions branches loads stores; do
    once=$(still $event "$folder/loop" 1000000)
    twice=$(still $event "$folder/loop" 2000000)
    if [[ ! $once || ! $twice ]]; then echo "$event: not counted here"; continue; fi
    awk -v event=$event -v more=$((twice - once)) \
      'BEGIN { printf "%-13s %9d more in 2,000,000 rounds than in 1,000,000: %.6f a round\n", event, more, more / 1e6 }'
  done
}
echo
differences | explain
explain <<'TEXT'

By its source a round loads the sum once, stores it once and jumps back once. The difference of two runs shows no less and
no more, a million times over.
TEXT

title "3. Several processes"
show $tally stat -e instructions,branches --per-process -- sh -c 'ls /usr/include | sort -r | wc -l'
explain <<'TEXT'
What a program starts is counted with it, through fork and exec, and told apart when asked. A process that goes on as
another program stands there twice: as the shell that it was, and as what it became.
TEXT

title "4. A program that dies"
show $tally stat -e instructions -- sh -c 'kill -SEGV $$'
explain <<'TEXT'
What was counted up to the end is kept, and the exit code is what a shell would give: 128 + the signal.
TEXT

title "Where to look next"
explain <<'TEXT'
build/release/tally stat --help                    every option
build/release/tally stat -r 10 -- PROGRAM          ten runs: median, its interval, smallest and largest
build/release/tally stat --format json -- PROGRAM  the same for programs
README.md, docs/guides/no-pmu.md                   what can be counted where, and why
./dev test, ./dev bench                            what proves these numbers, and what they cost
TEXT
