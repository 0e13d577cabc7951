#!/usr/bin/env bash
# Measures the cost of tally: runs everyday programs alone and under `tally stat`, in turns; prints the median of five.
#
# usage: ./dev bench [--runs N] [--json FILE] [--no-setup] [PROGRAM …] [-- STAT OPTIONS]
#        ./dev bench everyday [--runs N] [--no-peers] [ROW …]
#        ./dev bench --models [MODEL]
#        ./dev bench --reads
#        ./dev bench regions
#        ./dev bench --memory
#        ./dev bench --lab
#        ./dev bench cycles [--models NAME,…] [--blocks N] [--seed N] [--runs N] [--part kernels|blocks|programs]
#                           [--json FILE] [--write]
#        ./dev bench cycles --read FILE --write
#
#   --runs N      runs of each side (default 5)
#   --json FILE   also write every time, as JSON (`-` is stdout)
#   --no-setup    use the installed packages
#   PROGRAM       only these: bzip2, xz, gzip, sqlite3, python3, perl, 'python3 pass', 'gcc -O2', 'git --version', true,
#                 'perf stat' (two software events of /bin/true, compared with perf), '1 thread', '2 threads';
#                 'bzip2 windows' (and gzip, sqlite3, python3, perl): `tally sample --every 50000` and `tally stat`;
#                 'bzip2 profile' (and sqlite3, python3, perl): `tally profile` and `tally stat`; 'bzip2 calls'
#                 and 'bzip2 callgrind': `tally profile --calls` and the program alone, or callgrind
#
# Instead of these:
#
#   everyday      processor time of everyday programs: native, under tally without and with kept translations, and
#                 under callgrind, cachegrind, exp-bbv or qemu-user, with the goals; much shorter with
#                 --no-peers. ROW is a name of the table, such as 'java hello'. Prints which packages skipped rows need
#   --models      the plain models of caches and predictors: misses of a walk through memory, and the cost of an access;
#                 MODEL is a name or a file (default haswell, which takes half a minute)
#   --reads       the cost of one reading of counters in retired instructions, user mode and kernel, by tally, the
#                 kernel's system calls and PAPI; in the machine of ./dev guest, where it is exact and repeats
#   regions       the part of --reads for regions: begin and end by tally, read(), ioctl() and PAPI, two and four events
#   --memory      the latency of 1, 8 and 256 MiB by an independent chase and by `tally memory`, in turns, five pairs;
#                 a pair is void if tally reports that the machine is contended
#   cycles        the error of modelled cycles on this machine: kernels of one cause, hot blocks of twelve programs (by
#                 llvm-mca 19, too, if it is installed), and 20 programs, whose cycles `tally stat --native` estimates.
#                 Takes five minutes on an idle machine. Kernels of known cycles check the measurement: the exit code is
#                 1 if one is wrong, which a busy machine can cause. --write stores the errors, which every modelled
#                 count of cycles prints, and the tables of docs/reference/modelled-cycles.md; --read takes them from
#                 the JSON of an earlier run
#   --lab         the speed of the register lab in loops, and the cost of an exact overflow there
#
# Words after -- are options of `tally stat`, for example -- -e instructions. Close other programs first: on a busy
# machine the wall time of both sides means little, and the table shows a large spread.
source dev.d/common

if [[ ${1-} == --models ]]; then
  ./dev build bench_models
  exec build/release/bench_models "${@:2}"
fi
if [[ ${1-} == everyday ]]; then
  ./dev build all bench_everyday
  exec build/release/bench_everyday --tally build/release/tally "${@:2}"
fi
if [[ ${1-} == cycles ]]; then
  ./dev build all bench_blocks bench_programs
  exec python3 bench/cycles/cycles.py --build build/release "${@:2}"
fi
if [[ ${1-} == --lab ]]; then
  ./dev build bench_lab
  exec build/release/bench_lab
fi
if [[ ${1-} == --reads || ${1-} == regions ]]; then
  # PAPI refuses to count at Debian's default level, and on processors that libpfm4 does not support.
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
