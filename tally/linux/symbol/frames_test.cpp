// Finds functions of this test program without its symbols.
#include "tally/linux/symbol/frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tally/linux/symbol/elf_functions.hpp"

namespace tally::symbol {
namespace {

std::string own_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Frames, begin_where_functions_do) {
  const std::string bytes = own_program();
  const std::vector<Frame> frames = frames_of(bytes);
  const auto elf = read_elf(bytes);
  ASSERT_TRUE(elf);
  ASSERT_GT(frames.size(), 100u);
  EXPECT_TRUE(std::is_sorted(frames.begin(), frames.end(),
                             [](const Frame& a, const Frame& b) { return a.address < b.address; }));
  std::size_t found = 0;
  for (const Function& function : elf->functions)
    found += std::any_of(frames.begin(), frames.end(), [&](const Frame& f) { return f.address == function.address; });
  // Assembly functions may have no frame.
  EXPECT_GT(found, elf->functions.size() * 9 / 10);
  for (const Frame& frame : frames)
    EXPECT_TRUE(std::any_of(elf->executable.begin(), elf->executable.end(),
                            [&](const Segment& part) {
                              return frame.address >= part.address &&
                                     frame.address + frame.bytes <= part.address + part.bytes;
                            }))
        << std::hex << frame.address;
}

TEST(Frames, of_damaged_files_end) {
  const std::string bytes = own_program();
  EXPECT_TRUE(frames_of("").empty());
  EXPECT_TRUE(frames_of("\x7f"
                        "ELF")
                  .empty());
  EXPECT_TRUE(frames_of(std::string_view(bytes).substr(0, 70)).empty());
  // Changes each byte of the headers and the table once, and cuts the file at many offsets.
  for (std::size_t i = 0; i < 1024 && i < bytes.size(); ++i) {
    std::string damaged = bytes.substr(0, 1 << 16);
    damaged[i] = static_cast<char>(~damaged[i]);
    frames_of(damaged);
  }
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 200 + 1) frames_of(bytes.substr(0, size));
}

}  // namespace
}  // namespace tally::symbol
