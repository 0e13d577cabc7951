#include "tally/counting/backend/perf/profile/python_versions.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tally::backend::perf {
namespace {

/// The words that begin _PyRuntime of CPython 3.13.0, as far as they are read.
std::map<std::uint64_t, std::uint64_t> description() {
  return {{0, 0x7970677562656478},
          {1, 0x030d00f0},
          {5, 0x278},
          {8, 0x1c60},
          {14, 0x10},
          {15, 0x1e48},
          {17, 0x1e58},
          {18, 0x1e50},
          {23, 0x48},
          {29, 8},
          {33, 0x46},
          {35, 0x70},
          {37, 0x80},
          {39, 0x44}};
}

std::optional<PythonLayout> layout_of(const char* file, const std::map<std::uint64_t, std::uint64_t>& words) {
  constexpr std::uint64_t runtime = 0x1000;
  return python_layout(file, runtime, [&](std::uint64_t address) {
    const auto word = words.find((address - runtime) / 8);
    return word == words.end() ? 0 : word->second;
  });
}

TEST(PythonVersions, that_were_tried_have_a_layout) {
  EXPECT_EQ(layout_of("libpython3.11.so.1.0", {})->objects.frame_in_state, 56u);
  EXPECT_EQ(layout_of("python3.12", {})->lock, 0x180u);
  const auto described = layout_of("libpython3.13.so.1.0", description());
  ASSERT_TRUE(described);
  EXPECT_EQ(described->is_locked, 16u);
  EXPECT_EQ(described->holder, 8u);
  EXPECT_EQ(described->next_interpreter, 0x1c60u);
}

TEST(PythonVersions, others_have_none) {
  for (const char* file : {"python3", "libpython3.10.so.1.0", "libpython3.14.so.1.0", "python2.7"})
    EXPECT_FALSE(layout_of(file, description())) << file;
  auto words = description();
  words[2] = 1;
  EXPECT_FALSE(layout_of("libpython3.13t.so.1.0", words)) << "without a global interpreter lock";
  words = description();
  words[1] = 0x030e0000;
  EXPECT_FALSE(layout_of("libpython3.13.so.1.0", words)) << "another version";
  EXPECT_FALSE(layout_of("libpython3.13.so.1.0", {})) << "its memory cannot be read";
}

}  // namespace
}  // namespace tally::backend::perf
