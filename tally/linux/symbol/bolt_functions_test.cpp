#include "tally/linux/symbol/bolt_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tally::symbol {
namespace {

std::string this_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BoltFunctions, local_ones_have_file_and_number) {
  const std::string bytes = this_program();
  const BoltFile file = read_bolt_file(bytes);
  ASSERT_GT(file.functions.size(), 100u);
  for (std::size_t i = 1; i < file.functions.size(); ++i)
    EXPECT_LE(file.functions[i - 1].address + file.functions[i - 1].bytes, file.functions[i].address)
        << file.functions[i - 1].name;
  const auto has = [&](const std::string& name) {
    return std::any_of(file.functions.begin(), file.functions.end(),
                       [&](const BoltFunction& f) { return f.name == name; });
  };
  EXPECT_TRUE(has("main"));
  EXPECT_TRUE(has("_start"));
  EXPECT_TRUE(has("frame_dummy/crtstuff.c/1")) << "a local function of the compiler's start code";
}

TEST(BoltFunctions, of_damaged_files) {
  const std::string bytes = this_program();
  EXPECT_TRUE(read_bolt_file("").functions.empty());
  EXPECT_TRUE(read_bolt_file(std::string_view(bytes).substr(0, 70)).functions.empty());
  for (std::size_t i = 0; i < 64; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(~damaged[i]);
    read_bolt_file(damaged);
  }
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 20 + 1)
    read_bolt_file(std::string_view(bytes).substr(0, size));
}

}  // namespace
}  // namespace tally::symbol
