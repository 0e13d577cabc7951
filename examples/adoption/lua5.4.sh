# Counts the words of its own manual. Debian builds interpreter and libraries by libtool; the interpreter alone is two lines.
build() {
  echo "#define DEB_HOST_MULTIARCH \"$(dpkg-architecture -qDEB_HOST_MULTIARCH)\"" >src/lua5.4-deb-multiarch.h
  rm src/luac.c
  cc -std=gnu99 -O2 -DLUA_COMPAT_5_3 -DLUA_USE_LINUX $TALLY_FLAGS -Wl,-E -o lua src/*.c $TALLY_LINK -lm -ldl
}

count() {
  "$@" ./lua "$here/words.lua" doc/manual.html
}
