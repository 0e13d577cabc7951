#include "tally/output/analysis/runtime_code.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>

namespace tally::output {

bool is_runtime_code(std::string_view object, std::string_view function) {
  constexpr std::string_view libraries[] = {"libc.so",   "libc-2",    "libm.so",    "libstdc++.so", "libgcc_s.so",
                                            "libc++.so", "ld-linux",  "ld-musl",    "libpthread",   "libdl.so",
                                            "librt.so",  "libjvm.so", "libnode.so", "[vdso]"};
  // Go's functions, and those of V8, are in the program's own file.
  constexpr std::string_view scopes[] = {"runtime.", "runtime/", "internal/runtime/", "v8::", "Builtins_"};
  const std::string_view file = object.substr(object.rfind('/') + 1);
  return std::any_of(std::begin(libraries), std::end(libraries), [&](auto name) { return file.starts_with(name); }) ||
         std::any_of(std::begin(scopes), std::end(scopes), [&](auto scope) { return function.starts_with(scope); });
}

bool is_rust_source(const std::string& path) {
  // Of its releases, Debian's, the crates in the releases' library, and where rust-src is installed.
  constexpr const char* patterns[] = {"/rustc/*", "/usr/src/rustc-[0-9]*", "/rust/deps/*-[0-9]*", "*/rustlib/src/*"};
  return std::any_of(std::begin(patterns), std::end(patterns),
                     [&](const char* pattern) { return fnmatch(pattern, path.c_str(), 0) == 0; });
}

}  // namespace tally::output
