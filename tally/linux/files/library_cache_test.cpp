#include <gtest/gtest.h>

#include <cstring>

#include "tally/linux/files/library_cache.hpp"

namespace tally::linux {
namespace {

struct Listed {
  std::uint32_t kind;
  std::string name, path;
  std::uint64_t capabilities = 0;
};

constexpr std::uint32_t x86_64 = 0x303, i386 = 3;

/// A file in the format of glibc 2.36.
std::string cache_of(const std::vector<Listed>& libraries) {
  std::string texts, entries;
  const auto number = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto texts_at = static_cast<std::uint32_t>(48 + 24 * libraries.size());
  for (const Listed& one : libraries) {
    entries += number(one.kind);
    for (const std::string& text : {one.name, one.path}) {
      entries += number(static_cast<std::uint32_t>(texts_at + texts.size()));
      texts += text + '\0';
    }
    entries += number(std::uint32_t{0}) + number(one.capabilities);
  }
  return "glibc-ld.so.cache1.1" + number(static_cast<std::uint32_t>(libraries.size())) +
         number(static_cast<std::uint32_t>(texts.size())) + std::string(20, '\0') + entries + texts;
}

const Listed libc{x86_64, "libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6"};

TEST(LibraryCache, keeps_what_is_outside_of_the_c_librarys_directory) {
  const Listed own{x86_64, "libown.so.1", "/usr/local/lib/libown.so.1"}, narrow{i386, "libc.so.6", "/lib/libc.so.6"};
  const Listed twin{x86_64, "libz.so.1", "/usr/lib/x86_64-linux-gnu/libz.so.1"},
      deeper{x86_64, "liba.so.1", "/lib/x86_64-linux-gnu/atlas/liba.so.1"},
      newer{x86_64, "libz.so.1", "/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libz.so.1", 1};
  EXPECT_EQ(other_libraries(cache_of({twin, own, libc, newer, narrow, deeper})), cache_of({own, deeper}));
  EXPECT_EQ(other_libraries(cache_of({libc, twin})), cache_of({}));
}

TEST(LibraryCache, stays_as_it_is_if_it_cannot_be_shortened) {
  EXPECT_EQ(other_libraries(""), "");
  EXPECT_EQ(other_libraries("ld.so-1.7.0"), "");
  EXPECT_EQ(other_libraries(cache_of({{x86_64, "libz.so.1", "/lib/libz.so.1"}})), "") << "no C library";
  EXPECT_EQ(other_libraries(cache_of({libc, {x86_64, "libown.so.1", "/opt/libown.so.1", 2}})), "");
  std::string cut = cache_of({libc, libc});
  cut.resize(60);
  EXPECT_EQ(other_libraries(cut), "");
}

}  // namespace
}  // namespace tally::linux
