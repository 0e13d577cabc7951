#!/usr/bin/env bash
# Writes docs/reference/library.md from the comments of the public headers.
#
# usage: ./dev reference [--check]
#
#   --check   write nothing; exit code 1 if the file differs from the comments
source dev.d/common

have python3 || die "python3 is not installed: ./dev setup test installs it"
case "${1-}" in
  "") python3 dev.d/reference/library.py >docs/reference/library.md ;;
  --check)
    python3 dev.d/reference/library.py | diff -u docs/reference/library.md - >&2 ||
      die "docs/reference/library.md differs from the comments of the headers: run ./dev reference"
    ;;
  *) misuse "reference does not support $1" ;;
esac
