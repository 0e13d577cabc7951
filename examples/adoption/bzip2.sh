# Compresses its own sources and manual. libbz2.so, which it is made of, is the one that is built here.
build() {
  make bzip2 CFLAGS="-Wall -O2 -D_FILE_OFFSET_BITS=64 $TALLY_FLAGS" \
    LDFLAGS="-Wl,--no-as-needed $TALLY_LINK -Wl,-rpath,$PWD"
}

count() {
  cat ./*.c manual.* >../text
  "$@" ./bzip2 -9 -k ../text
  bzip2 -dc ../text.bz2 | cmp - ../text
}
