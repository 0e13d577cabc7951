// The dynamic linker's cache of libraries, /etc/ld.so.cache.
#pragma once

#include <string>
#include <string_view>

namespace tally::linux {

/// Returns the dynamic linker's cache (/etc/ld.so.cache) without the libraries in the C library's own directory, which
/// the dynamic linker searches anyway: how long it searches in the cache depends on all libraries of the machine. Empty
/// if the file has another format, or one of the other libraries depends on the processor. Pure.
std::string other_libraries(std::string_view cache);

}  // namespace tally::linux
