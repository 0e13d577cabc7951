#!/usr/bin/env bash
# Writes docs/reference/library.md anew from the comments of the public headers.
#
# usage: ./dev reference [--check]
#
#   --check   writes nothing; ends with 1 where the file is not what the headers say
source dev.d/common

have python3 || die "there is no python3: ./dev setup test installs it"
case "${1-}" in
  "") python3 dev.d/reference/library.py >docs/reference/library.md ;;
  --check)
    python3 dev.d/reference/library.py | diff -u docs/reference/library.md - >&2 ||
      die "docs/reference/library.md is not what the headers say: ./dev reference writes it anew"
    ;;
  *) misuse "reference does not know $1" ;;
esac
