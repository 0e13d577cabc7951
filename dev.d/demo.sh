#!/usr/bin/env bash
# Builds tally, counts a real program with it, and explains every line of the output.
#
# usage: ./dev demo [--no-setup]
#
#   --no-setup   use the installed packages
#
# Installs bzip2 and the packages for the build. Its files are in build/demo.
source dev.d/common

setup=()
for word in "$@"; do
  case $word in
    --no-setup) setup+=(--no-setup) ;;
    *) misuse "demo does not support $word" ;;
  esac
done
if ((${#setup[@]} == 0)); then ./dev setup build demo; fi
./dev build "${setup[@]}" tally tally-engine

tally=build/release/tally
folder=build/demo
mkdir -p "$folder"

title() { printf '\n\033[1m== %s\033[0m\n' "$*" | if [[ -t 1 && ! ${NO_COLOR-} ]]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
explain() { sed 's/^/   /'; }
# Prints a command as a user would type it, runs it, and prints its exit code if that is not 0.
show() {
  local word line= status=0
  for word in "$@"; do
    if [[ $word =~ [^[:alnum:]_./,=+-] ]]; then line+=" ${word@Q}"; else line+=" $word"; fi
  done
  printf '\n$%s\n' "$line"
  "$@" 2>&1 || status=$?
  if ((status != 0)); then printf '(exit code %d)\n' "$status"; fi
}
# The count of one event of a command, without commas between the thousands.
count() {
  $tally stat -e "$1" -o - -- "${@:2}" 2>/dev/null |
    awk -v event="$1:u" '$1 == event && $2 != "-" { gsub(",", "", $2); print $2 }'
}

title "1. A real program"
# The compiler's headers in a fixed order, without dates and owners: the same bytes on every machine with this compiler.
headers=$(echo '#include <vector>' | g++ -x c++ -M - | tr -s ' \\\n' '\n' | grep -m 1 '/bits/stl_vector\.h$')
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$(dirname "$headers")" -cf "$folder/input.tar" .
explain <<TEXT
bzip2 compresses $(stat -c %s "$folder/input.tar") bytes: the headers of this compiler's C++ library.
TEXT
show $tally stat -- bzip2 -k -f "$folder/input.tar"
explain <<'TEXT'
Each line has an event, its count, its share of another count, and the trust grade of the number:

exact      Instructions, branches by kind, loads, stores. They follow from the program and its input, so tally counts them
           without hardware counters. They equal, to the instruction, the counts of a debugger that single-steps the
           program (an instruction that repeats itself, such as "rep movsb", counts as one).
           ":u" means user mode: the work of the kernel for the program is not included.
partial    Page faults, times, memory. The kernel measured them for the whole process, including the work of tally's engine
           (notes [1] and [2]). In a native run they do not include it:
TEXT
show $tally stat --backend none -e instructions,page-faults,peak-memory,user_time,duration_time -- \
  bzip2 -k -f "$folder/input.tar"
explain <<'TEXT'
counted    The kernel counted it, and only the program contributed to it.
absent     The number is not available, and the line gives the reason. tally never prints 0 for what it did not count.
TEXT

title "2. A program with known counts"
cat >"$folder/loop.cpp" <<'CODE'
#include <cstdlib>
int main(int, char** argv) { volatile long sum = 0; for (long i = 0, n = std::atol(argv[1]); i < n; ++i) sum += i; }
CODE
g++ -O2 -o "$folder/loop" "$folder/loop.cpp"
explain <"$folder/loop.cpp"
show $tally stat -e instructions,branches,loads,stores -- "$folder/loop" 1000000
# Without randomized addresses the start of the program costs the same in both runs and cancels out of the difference.
still() { setarch -R bash -c "$(declare -f count); tally=$tally; count \"\$@\"" count "$@"; }
differences() {
  local event once twice
  for event in instructions branches loads stores; do
    once=$(still $event "$folder/loop" 1000000)
    twice=$(still $event "$folder/loop" 2000000)
    if [[ ! $once || ! $twice ]]; then echo "$event: not counted here"; continue; fi
    awk -v event=$event -v more=$((twice - once)) \
      'BEGIN { printf "%-13s %9d more in 2,000,000 iterations than in 1,000,000: %.6f per iteration\n", event, more, more / 1e6 }'
  done
}
echo
differences | explain
explain <<'TEXT'

According to the source code, each iteration loads the sum once, stores it once and jumps back once. The difference of
the two runs is exactly that, a million times.
TEXT

title "3. Several processes"
show $tally stat -e instructions,branches --per-process -- sh -c 'ls /usr/include | sort -r | wc -l'
explain <<'TEXT'
tally also counts the processes that a program starts with fork and exec, and --per-process lists them. A process that
executes another program has two rows: one as the shell, one as the new program.
TEXT

title "4. A program that crashes"
show $tally stat -e instructions -- sh -c 'kill -SEGV $$'
explain <<'TEXT'
tally prints the counts up to the crash, and exits with 128 + the signal, as a shell does.
TEXT

title "Next steps"
explain <<'TEXT'
build/release/tally stat --help                    print all options
build/release/tally stat -r 10 -- PROGRAM          run ten times: median, its interval, minimum and maximum
build/release/tally stat --format json -- PROGRAM  print JSON
README.md, docs/guides/no-pmu.md                   read which events can be counted on which machines, and why
./dev test, ./dev bench                            check these numbers, and measure the cost of counting
TEXT
