#include "tally/output/analysis/runtime_code.hpp"

#include <gtest/gtest.h>

namespace tally::output {
namespace {

TEST(RuntimeCode, is_known_by_files_and_functions) {
  EXPECT_TRUE(is_runtime_code("/lib/x86_64-linux-gnu/libc.so.6", "memcpy") &&
              is_runtime_code("prog", "runtime.mallocgc"));
  EXPECT_FALSE(is_runtime_code("/usr/bin/libcheck", "parse") || is_runtime_code("prog", "runtimes"));
}

TEST(RuntimeCode, of_rust_is_known_by_the_paths_of_its_sources) {
  for (const char* const path : {"/rustc/5980/library/core/src/lib.rs", "/usr/src/rustc-1.63.0/library/core/src/lib.rs",
                                 "/rust/deps/hashbrown-0.14.5/src/raw.rs",
                                 "/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/lib.rs"})
    EXPECT_TRUE(is_rust_source(path)) << path;
  for (const char* const path : {"/usr/src/rustc-plugin/src/main.rs", "/rust/deps/project/src/main.rs", "/rustc.rs"})
    EXPECT_FALSE(is_rust_source(path)) << path;
}

}  // namespace
}  // namespace tally::output
