// The whole of libfmt in one object: all of its inline functions, kept (static.cmake says why).
#include <fmt/format.h>
