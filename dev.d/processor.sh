#!/usr/bin/env bash
# Runs a command on another x86-64 processor, which QEMU emulates: exact counts must be the same there.
#
# usage: ./dev processor [--timeout S] NAME [-- COMMAND …]
#
# NAME is one of `qemu-system-x86_64 -cpu help`, such as Haswell-noTSX, Nehalem or EPYC; QEMU emulates no AVX-512. The machine
# has Debian's kernel and this machine's files. What COMMAND changes is lost at the end, except what it writes to its working
# directory, build/processor. COMMAND runs as root; `tally` is build/release/tally. Without COMMAND, tests/same-count
# compares the counts of its programs, which takes about five minutes. The exit code is that of COMMAND; 125: the machine
# failed; 77: the machine cannot be started, and the reason is printed.
#
#   --timeout S     stop after S seconds (3600)
#
# The kernel is fetched once by apt, into ~/.cache/tally/processor or TALLY_PROCESSOR_CACHE (70 MB).
#
# examples: ./dev processor Haswell-noTSX            ./dev processor EPYC -- tally stat --repeatable -- true
source dev.d/common

limit=3600 name=''
command=()
while (($#)); do
  case $1 in
    --timeout) [[ ${2-} =~ ^[0-9]+$ ]] || misuse "--timeout needs seconds"; limit=$2; shift ;;
    --) shift; command=("$@"); (($#)) || misuse "a command is missing after --"; break ;;
    -*) misuse "processor does not support $1" ;;
    *) [[ ! $name ]] || misuse "two processors were given: $name and $1"; name=$1 ;;
  esac
  shift
done
[[ $name =~ ^[A-Za-z0-9._-]+$ ]] || misuse "processor needs a name such as Haswell-noTSX"
unavailable() { say "$@"; exit 77; }
have qemu-system-x86_64 && have cpio || unavailable "qemu-system-x86_64 or cpio is missing: ./dev setup processor installs them"
qemu-system-x86_64 -cpu help | grep -qE "^(x86)? *$name( |$)" || misuse "QEMU has no processor '$name': qemu-system-x86_64 -cpu help lists them"

cache=${TALLY_PROCESSOR_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tally/processor}
# The modules that mount this machine's files, in loading order.
modules=(virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci netfs fscache 9pnet 9pnet_virtio 9p overlay)
fetch_kernel() {
  local package
  have apt-get && have dpkg-deb || unavailable "apt is not available to fetch a kernel"
  rm -rf "$cache.new"
  mkdir -p "$cache.new/modules" || unavailable "cannot create $cache.new: set TALLY_PROCESSOR_CACHE to another directory"
  package=$(LC_ALL=C apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/ { print $2; exit }') || true
  [[ $package ]] || unavailable "apt has no package linux-image-amd64: run apt-get update, on Debian 12 or later"
  say "fetching $package and busybox-static into $cache"
  (cd "$cache.new" && apt-get -q download "$package" busybox-static >&2) || unavailable "apt could not fetch them (see its message above)"
  for package in "$cache.new"/*.deb; do dpkg-deb -x "$package" "$cache.new/unpacked"; done
  mv "$cache.new"/unpacked/boot/vmlinuz-* "$cache.new/vmlinuz"
  mv "$cache.new/unpacked/bin/busybox" "$cache.new/" 2>/dev/null || mv "$cache.new/unpacked/usr/bin/busybox" "$cache.new/"
  local module found
  for module in "${modules[@]}"; do
    found=$(find "$cache.new/unpacked" -name "$module.ko*" | head -n 1)
    if [[ ! $found ]]; then continue; fi  # part of the kernel itself
    if [[ $found == *.xz ]]; then xz -d "$found"; found=${found%.xz}; fi
    mv "$found" "$cache.new/modules/"
  done
  rm -rf "$cache.new/unpacked" "$cache.new"/*.deb "$cache"
  mv "$cache.new" "$cache"
}
[[ -f $cache/vmlinuz && -f $cache/busybox ]] || fetch_kernel

[[ -x build/release/tally ]] || die "build/release/tally is missing: run ./dev build"
files=$PWD/build/processor
mkdir -p "$PWD/build"
# One machine at a time in this tree, because they share the directory for files.
exec {run_lock}>"$files.lock"
flock "$run_lock"
rm -rf "$files"
mkdir -p "$files"
boot=$(mktemp -d)
trap 'rm -rf "$boot"' EXIT
chmod 755 "$boot"
mkdir -p "$boot/archive/bin"
cp "$cache/busybox" "$boot/archive/bin/"
cp -r "$cache/modules" "$boot/archive/"
if ((${#command[@]} == 0)); then
  command=(python3 -B "$PWD/tests/same-count/same_count.py" "$PWD/build/release/tally")
fi

# The first program mounts this machine's files under a layer that is lost at the end, and runs the command there.
cat >"$boot/archive/init" <<END
#!/bin/busybox sh
/bin/busybox mkdir -p /commands /proc /dev /below /above /all
/bin/busybox --install -s /commands
export PATH=/commands
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in ${modules[*]}; do [ ! -f /modules/\$module.ko ] || insmod /modules/\$module.ko; done
share() { mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=\$3 \$1 \$2; }
share machine /below loose
mount -t tmpfs above /above
mkdir /above/changes /above/work
mount -t overlay -o lowerdir=/below,upperdir=/above/changes,workdir=/above/work all /all
mount -t proc proc /all/proc
mount -t sysfs sys /all/sys
mount -t devtmpfs dev /all/dev
mkdir -p /all/dev/shm /all/dev/pts
mount -t tmpfs -o mode=1777 shm /all/dev/shm
mount -t devpts pts /all/dev/pts
mount -t tmpfs -o mode=1777 tmp /all/tmp
mount -t tmpfs run /all/run
share files "/all$files" none
date -s @$(date +%s) >/dev/null
hostname processor
ip link set lo up
cp /command /all/run/command
chroot /all sh /run/command >"/all$files/.output" 2>"/all$files/.errors" </dev/null
echo \$? >"/all$files/.status"
sync
poweroff -f
END
chmod 755 "$boot/archive/init"
{
  echo "export HOME=/root LC_ALL=C.UTF-8"
  echo "PATH=$(quoted "$PWD/build/release" | sed 's/ $//'):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  echo "cd $(quoted "$files") && exec $(quoted "${command[@]}")"
} >"$boot/archive/command"
(cd "$boot/archive" && find . | cpio -o -H newc --quiet) >"$boot/first"

: >"$files/.output"
: >"$files/.errors"
tail -f --pid=$$ -n +1 "$files/.output" &
tail -f --pid=$$ -n +1 "$files/.errors" >&2 &
failed=0
# QEMU takes a comma for the end of a value, unless there are two.
timeout --foreground -k 5 "$limit" qemu-system-x86_64 -accel tcg -M q35 -cpu "$name" -smp 1 -m 3G -display none -monitor none \
  -no-reboot -nic none -kernel "$cache/vmlinuz" -initrd "$boot/first" -append "console=ttyS0 quiet panic=-1" \
  -serial "file:$boot/console" -fsdev "local,id=machine,security_model=none,readonly=on,multidevs=remap,path=/" \
  -device virtio-9p-pci,fsdev=machine,mount_tag=machine -fsdev "local,id=files,security_model=none,path=${files//,/,,}" \
  -device virtio-9p-pci,fsdev=files,mount_tag=files </dev/null 2>"$boot/messages" || failed=$?
sleep 1  # until both followers have printed everything
kill %1 %2 2>/dev/null || true
if [[ ! -f $files/.status ]]; then
  tail -n 15 "$boot/console" | tr -d '\r' >&2 || true
  grep -v 'warning: TCG' "$boot/messages" >&2 || true
  if ((failed == 124)); then say "the machine did not end within $limit s (--timeout)"; else say "the machine ended without an exit code"; fi
  exit 125
fi
exit "$(<"$files/.status")"
