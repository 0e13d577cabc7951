#!/usr/bin/env bash
# What tally itself costs: everyday programs alone and under `tally stat`, in turns, with the median of five.
#
# usage: ./dev bench [--runs N] [--json FILE] [--no-setup] [PROGRAM …] [-- STAT OPTIONS]
#        ./dev bench everyday [--runs N] [--no-peers] [ROW …]
#        ./dev bench --models [MODEL]
#        ./dev bench --reads
#        ./dev bench regions
#        ./dev bench --memory
#        ./dev bench --lab
#
#   --runs N      runs of each side (default 5)
#   --json FILE   every single time too, as JSON (`-` is stdout)
#   PROGRAM       only these: bzip2, xz, gzip, sqlite3, python3, perl, 'python3 pass', 'gcc -O2', 'git --version', true,
#                 'perf stat' (two software events of /bin/true, beside perf), '1 thread', '2 threads';
#                 'bzip2 windows' (and gzip, sqlite3, python3, perl): `tally sample --every 50000` beside `tally stat`;
#                 'bzip2 profile' (and sqlite3, python3, perl): `tally profile` beside `tally stat`; 'bzip2 calls'
#                 and 'bzip2 callgrind': `tally profile --calls` beside the program alone, and beside callgrind
#   everyday      instead: processor time of everyday programs: native, under tally without and with kept translations, and
#                 under callgrind, cachegrind, exp-bbv or qemu-user, with the goals; much shorter with
#                 --no-peers. ROW is a name of the table, such as 'java hello'. Says what to install for the rows it skips
#   --models      instead: the plain models of caches and predictors, what a walk through memory misses in them and what
#                 an access costs; MODEL is a name or a file (default haswell, which takes half a minute)
#   --reads       instead: what one reading of counters costs in retired instructions, user mode and kernel, by tally, the
#                 kernel's system calls and PAPI; in the machine of ./dev guest, where that is exact and repeats
#   regions       the half of that which is about regions: begin and end by tally, read(), ioctl() and PAPI, two and four events
#   --memory      instead: the latency of 1, 8 and 256 MiB by an independent chase and by `tally memory`, in turns, five pairs;
#                 a pair is void where tally calls the machine contended
#   --lab         instead: how fast the register lab runs loops, and what an exact overflow costs there
#   --no-setup    takes the installed packages as they are
#
# What stands after -- is handed to `tally stat`, for instance -- -e instructions. Close other programs first: on a busy
# machine the wall time of both sides means little, and the spread in the table shows it.
source dev.d/common

if [[ ${1-} == --models ]]; then
  ./dev build bench_models
  exec build/release/bench_models "${@:2}"
fi
if [[ ${1-} == everyday ]]; then
  ./dev build all bench_everyday
  exec build/release/bench_everyday --tally build/release/tally "${@:2}"
fi
if [[ ${1-} == --lab ]]; then
  ./dev build bench_lab
  exec build/release/bench_lab
fi
if [[ ${1-} == --reads || ${1-} == regions ]]; then
  # PAPI refuses to count at Debian's own level, and on processors that libpfm4 does not know.
  exec ./dev guest --cpu neoverse-n1 --paranoid 1 --target bench_reads -- \
    sh -c 'echo 1 >/proc/sys/kernel/perf_user_access; exec "$0" "$1"' "$PWD/build/guest/bench_reads" "$1"
fi
if [[ ${1-} == --memory ]]; then
  ./dev build tally bench_chase
  for size in 1 8 256; do
    for pair in 1 2 3 4 5; do
      build/release/bench_chase "$size"
      build/release/tally memory curve --from "${size}M" --to "${size}M" --mappings 3 ||
        echo "  contended: this pair is void"
    done
  done
  exit
fi
build=()
options=()
for ((i = 1; i <= $#; ++i)); do
  if [[ ${!i} == -- ]]; then options+=("${@:i}"); break; fi
  if [[ ${!i} == --no-setup ]]; then build+=(--no-setup); else options+=("${!i}"); fi
done
if ((${#build[@]} == 0)); then ./dev setup bench; fi
./dev build "${build[@]}" all bench_compare
exec build/release/bench_compare --tally build/release/tally --folder build/release/bench-input "${options[@]}"
