#!/usr/bin/env bash
# Runs a command, or the tests that need hardware counters, in a virtual machine with counters.
#
# usage: ./dev guest [options] [-- COMMAND …]
#
# The machine is an arm64 one: QEMU emulates its processor with counters of instructions and cycles, exact to the
# instruction, on any host. tally and its tests are cross-built in build/guest, without the engine. COMMAND runs as root in
# build/guest/files, which keeps its files; `tally`, `perf` and busybox's commands are in its PATH, and the repository is
# mounted read-only. Without COMMAND the tests run. The exit code is that of COMMAND or the tests; 125: the machine failed;
# 77: the machine cannot be started, and the reason is printed.
#
#   --cpu NAME      the processor: max (the default), neoverse-n1, cortex-a72, …
#   --smp N         number of processors (1); if it is more, a count of instructions includes those of the others
#   --paranoid N    kernel.perf_event_paranoid (default 3, as in Debian)
#   --user          run COMMAND as an ordinary user
#   --no-pmu        a processor without counters
#   --timeout S     stop after S seconds (240)
#   --fetch         only fetch the kernel and the libraries, if they are missing; --refresh: fetch them again
#   --target NAME   also build this target, for COMMAND
#   --no-build      use build/guest without building
#
# apt fetches Debian's kernel and libraries, of the host's release, once into a directory of their own
# (~/.cache/tally/guest, or TALLY_GUEST_CACHE); later runs need no network. With TALLY_GUEST_REQUIRED=1 exit code 77 becomes 1.
#
# examples: ./dev guest            ./dev guest --smp 2 -- tally stat -e instructions,cycles -- perf --version
source dev.d/common
source dev.d/guest/fetch

cpu=max smp=1 paranoid='' as='' pmu=on limit=240 build=yes what=run
targets=(guest)
command=()
while (($#)); do
  case $1 in
    --cpu | --smp | --paranoid | --timeout | --target) [[ ${2-} ]] || misuse "$1 needs a value" ;;&
    --cpu) cpu=$2; shift ;;
    --smp) smp=$2; shift ;;
    --paranoid) paranoid=$2; shift ;;
    --timeout) limit=$2; shift ;;
    --target) targets+=("$2"); shift ;;
    --user) as='/packages/usr/bin/setpriv --reuid user --regid user --clear-groups' ;;
    --no-pmu) pmu=off ;;
    --fetch) what=fetch ;;
    --refresh) what=refresh ;;
    --no-build) build=no ;;
    --) shift; command=("$@"); (($#)) || misuse "a command is missing after --"; break ;;
    *) misuse "guest does not support $1" ;;
  esac
  shift
done
[[ $cpu =~ ^[a-z0-9-]+$ ]] || misuse "--cpu needs a name such as max or neoverse-n1"
[[ $smp =~ ^[1-8]$ ]] || misuse "--smp needs a number from 1 to 8"
[[ $paranoid =~ ^(-?[0-9])?$ ]] || misuse "--paranoid needs a number such as 2 or -1"
[[ $limit =~ ^[0-9]+$ ]] || misuse "--timeout needs seconds"

# Ends as skipped, or as failed if the guest is required.
unavailable() {
  say "$@"
  if [[ ${TALLY_GUEST_REQUIRED-} == 1 ]]; then exit 1; fi
  exit 77
}

release=$(. /etc/os-release 2>/dev/null && echo "${ID-linux}-${VERSION_CODENAME-${VERSION_ID-unknown}}")
cache=${TALLY_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tally/guest}/$release
mkdir -p "$(dirname "$cache")" 2>/dev/null || unavailable "cannot create $(dirname "$cache"): set TALLY_GUEST_CACHE to another directory"
# Locked while the machine runs: a tree that needs other packages waits until it ends.
exec {cache_lock}>"$cache.lock"
flock -s "$cache_lock"
if [[ $what == refresh ]] || ! guest_is_complete "$cache"; then
  flock "$cache_lock"
  if [[ $what == refresh ]] || ! guest_is_complete "$cache"; then
    fetch_guest "$cache" || unavailable "the guest cannot be started: its kernel and libraries are not in $cache, and could not be fetched"
  fi
  flock -s "$cache_lock"
fi
if [[ $what != run ]]; then exit 0; fi

have qemu-system-aarch64 || unavailable "qemu-system-aarch64 is missing: ./dev setup guest installs it"
have cpio || unavailable "cpio is missing: ./dev setup guest installs it"
tree=build/guest
# One machine at a time in this tree, because they share the directory for files.
mkdir -p "$tree"
exec {run_lock}>"$tree/guest.lock"
flock "$run_lock"
if [[ $build == yes ]]; then
  have aarch64-linux-gnu-g++ || unavailable "aarch64-linux-gnu-g++ is missing: ./dev setup guest installs it"
  have cmake && have ninja || die "cmake or ninja is missing: ./dev setup installs them"
  if have ccache && [[ ! ${CMAKE_CXX_COMPILER_LAUNCHER-} ]]; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  cmake -S . -B "$tree" -G Ninja --toolchain "$PWD/cmake/aarch64.cmake" --log-level=NOTICE -DTALLY_GUEST_ROOT="$cache/root" \
    -DCMAKE_BUILD_TYPE=Release -DTALLY_ENGINE=OFF -DTALLY_TESTS=ON >&2
  cmake --build "$tree" -j "$(processors)" --target "${targets[@]}" >&2
fi
if ((${#command[@]} == 0)); then command=(sh "$PWD/tests/guest/run" "$PWD/$tree"); fi

files=$PWD/$tree/files
rm -rf "$files"
mkdir -p "$files" "$tree/boot"
chmod 777 "$files"  # for --user
boot=$(mktemp -d)
trap 'rm -rf "$boot"' EXIT

# The guest's first archive: one program, the modules, settings and the command.
chmod 755 "$boot"
mkdir -p "$boot/bin" "$boot/etc"
cp "$cache/root/usr/bin/busybox" "$boot/bin/"
cp -r "$cache/kernel/modules" "$boot/modules"
install -m 755 dev.d/guest/init "$boot/init"
printf '%s=%s\n' tree "$(quoted "$PWD")" files "$(quoted "$files")" now "$(date +%s)" paranoid "$paranoid" as "'$as'" >"$boot/settings"
echo "exec $(quoted "${command[@]}")" >"$boot/command"
(cd "$boot" && find . | cpio -o -H newc --quiet) >"$tree/boot/archive"

# QEMU takes a comma for the end of a value, unless there are two.
machine() {
  timeout --foreground -k 5 "$limit" qemu-system-aarch64 -M virt -cpu "$cpu,pmu=$pmu" -icount shift=0 -smp "$smp" -m 1G \
    -display none -monitor none -no-reboot -nic none -kernel "$cache/kernel/vmlinuz" -initrd "$tree/boot/archive" \
    -append "console=ttyAMA0 quiet panic=-1" -serial "file:$tree/boot/console.log" \
    -fsdev "local,id=packages,security_model=none,readonly=on,path=${cache//,/,,}/root" \
    -fsdev "local,id=tree,security_model=none,readonly=on,path=${PWD//,/,,}" \
    -fsdev "local,id=files,security_model=none,path=${files//,/,,}" \
    -device virtio-9p-device,fsdev=packages,mount_tag=packages -device virtio-9p-device,fsdev=tree,mount_tag=tree \
    -device virtio-9p-device,fsdev=files,mount_tag=files -device virtio-serial-device \
    -add-fd fd=8,set=1 -chardev file,id=out,path=/dev/fdset/1,append=on -device virtserialport,chardev=out,name=out \
    -add-fd fd=9,set=2 -chardev file,id=err,path=/dev/fdset/2,append=on -device virtserialport,chardev=err,name=err </dev/null \
    2>"$tree/boot/qemu.log" || echo $? >"$tree/boot/failed"
}
rm -f "$tree/boot/failed" "$tree/boot/console.log"
# The guest's two streams are this script's, through pipes, because QEMU requires streams that are open only for writing.
{ { machine 8>&1 9>&7 | cat >&6; } 7>&1 | cat >&2; } 6>&1

last_words() { tail -n 15 "$tree/boot/console.log" 2>/dev/null | tr -d '\r' >&2 || true; cat "$tree/boot/qemu.log" >&2; }
if [[ ! -f $files/.status ]]; then
  last_words
  if [[ -f $tree/boot/failed && $(<"$tree/boot/failed") == 124 ]]; then say "the guest did not end within $limit s (--timeout)"
  elif grep -q 'Kernel panic' "$tree/boot/console.log" 2>/dev/null; then say "the guest's kernel panicked"
  elif [[ -f $tree/boot/failed ]]; then say "QEMU failed (exit code $(<"$tree/boot/failed"))"
  else say "the guest ended without an exit code"; fi
  say "its console is in $tree/boot/console.log"
  exit 125
fi
exit "$(<"$files/.status")"
