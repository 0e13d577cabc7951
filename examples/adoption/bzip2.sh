# Compresses its own sources and manual, with the libbz2.so that is built here.
build() {
  make bzip2 CFLAGS="-Wall -O2 -D_FILE_OFFSET_BITS=64 $TALLY_FLAGS" \
    LDFLAGS="-Wl,--no-as-needed $TALLY_LINK -Wl,-rpath,$PWD"
}

count() {
  cat ./*.c manual.* >../text
  "$@" ./bzip2 -9 -k ../text
  bzip2 -dc ../text.bz2 | cmp - ../text
}
