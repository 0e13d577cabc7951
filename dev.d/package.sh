#!/usr/bin/env bash
# Builds the release from the last commit: Debian packages, and an archive that runs on any distribution.
#
# usage: ./dev package [--no-setup] [deb | rebuild | tarball | arm64 | check] …      (default: deb tarball)
#
#   deb       build/package/*.deb: tally, tally-lab, libtally0, libtally-dev, python3-tally and their debug symbols, and the source package
#   rebuild   the source package again, in another directory: every package must be the same, bit for bit
#   tarball   build/package/tally-VERSION-linux-x86_64.tar.xz: one directory that can be moved, with a list of what is linked
#   arm64     the packages for 64-bit Arm, cross-built; without the engine
#   check     install and try them in clean systems (tests/packages); needs root
#
# The same commit produces the same files, bit for bit. Changes that are not committed are not packaged.
source dev.d/common

setup=yes
wanted=()
for word in "$@"; do
  case $word in
    deb | rebuild | tarball | arm64 | check) wanted+=("$word") ;;
    --no-setup) setup=no ;;
    *) misuse "package does not support '$word'" ;;
  esac
done
((${#wanted[@]})) || wanted=(deb tarball)
if [[ $setup == yes ]]; then ./dev setup build package; fi

top=$PWD
out=$top/build/package
version=$(sed -nE 's/^project\(tally VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
source=$out/tally-$version
date_of_commit=$(git log -1 --format=%ct)
mkdir -p "$out"

# The committed files, as a release has them.
export_source() {
  rm -rf "$source"
  git archive --format=tar --prefix="tally-$version/" HEAD | tar -x -C "$out"
  git rev-parse HEAD >"$source/.commit"
}
for part in "${wanted[@]}"; do source "dev.d/package/$part"; done
