#include "programs/memory_output/stored_lens.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>

namespace tally::result {
namespace {

Memory read_text(const std::string& text) {
  EXPECT_TRUE(is_lens(text));
  auto memory = read_lens(text, "a file");
  EXPECT_TRUE(memory) << memory.error().message;
  return memory ? *std::move(memory) : Memory();
}

std::string why_not(const std::string& text) {
  const auto memory = read_lens(text, "a file");
  return memory ? "it was read" : memory.error().message;
}

// The rows that VANS ships of an Optane module (MIT licence), and their meaning.
constexpr const char* vans_rows[] = {"64,1048576,408239767,0,429340470,896016162",
                                     "16384,524288,32321724095,0,17733369070,70941126534"};

void expect_times(const Memory& memory) {
  ASSERT_EQ(memory.points.size(), 4u);
  const double expected[] = {186.553, 202.775, 60.197, 180.618};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(memory.points[i].quantity, i % 2 == 0 ? "write" : "read");
    EXPECT_NEAR(*memory.points[i].ns, expected[i], 0.001);
    EXPECT_EQ(memory.points[i].block_bytes, 64u);
    EXPECT_EQ(memory.points[i].task, "chase-read");
  }
  EXPECT_EQ(memory.points[0].region_bytes, 64u);
  EXPECT_EQ(memory.points[0].regions, 1048576u);
  EXPECT_EQ(memory.points[3].region_bytes, 16384u);
}

TEST(LensReader, rows_of_lens_vans_and_the_log_are_equal) {
  std::string vans = "task,access_size,raw_type,count,total,cycle_start,cycle_write_end,cycle_read_end\n";
  std::string lens = "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end\r\n";
  std::string log = "[ 12.000000] another module said something\n";
  for (const std::string row : vans_rows) {
    const std::size_t comma = row.find(',');
    const std::string region = row.substr(0, comma);
    const std::string rest = row.substr(comma);
    vans += "6," + region + ",raw-chasing-separate-64" + rest + "\n";
    lens += region + ",64" + rest + "\r\n";
    unsigned long long count = 0;
    unsigned long long total = 0;
    unsigned long long middle = 0;
    unsigned long long end = 0;
    ASSERT_EQ(std::sscanf(rest.c_str(), ",%llu,%llu,0,%llu,%llu", &count, &total, &middle, &end), 4);
    log += fmt::format(
        "[ 9871.210131] {{0}}[pointer-chasing-64] region_size {}, block_size 64, count {}, total {}, average 7, "
        "cycle 0 - {} - {}.\n",
        region, count, total, middle, end);
  }
  expect_times(read_text(vans));
  expect_times(read_text(lens));
  expect_times(read_text(log));
  EXPECT_NE(why_not(lens + "4096,64,1,100,5,4,9\r\n").find("line 4 is not a row"), std::string::npos)
      << "stamps that go back";
  EXPECT_NE(why_not(lens + "4096,64,0,100,1,4,9\r\n").find("line 4 is not a row"), std::string::npos);
  EXPECT_NE(why_not(vans + "6,4096\n").find("line 4 is not a row"), std::string::npos);
}

TEST(LensReader, rows_that_tally_writes_of_one_pass_are_read_as_that) {
  const std::string header =
      "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end,task_name,ticks_per_ns\r\n";
  for (const std::string quantity : {"write", "raw"}) {
    const auto memory = read_text(header + "4096,64,100,41600,0,104000,104000,chase-" + quantity + ",2.5\r\n");
    ASSERT_EQ(memory.points.size(), 1u);
    EXPECT_EQ(memory.points[0].task, "chase-" + quantity);
    EXPECT_EQ(memory.points[0].quantity, quantity);
    EXPECT_NEAR(*memory.points[0].ns, 6.5, 0.001);
  }
}

TEST(LensReader, rejects_other_texts) {
  for (const char* text : {"", "some words\n", "{\"schema\": \"tally-memory/1\"}", "ins,l_cycle\n1,2\n"})
    EXPECT_FALSE(is_lens(text)) << text;
}

TEST(LensTimes, raw_rows_are_ns_per_line) {
  const struct {
    LensRow row;
    double write_ns, read_ns;
  } rows[] = {
      {{64, 1'048'576, 408'239'767, 0, 429'340'470, 429'340'470.0 + 466'675'692}, 186.553, 202.775},
      {{16 * 1024, 524'288, 32'321'724'095, 0, 17'733'369'070, 17'733'369'070.0 + 53'207'757'464}, 60.197, 180.618},
      {{16 * 1024 * 1024, 128, 14'174'404'756, 0, 8'089'071'494, 8'089'071'494.0 + 23'021'525'408}, 109.836, 312.594},
      {{1024 * 1024 * 1024, 2, 16'366'357'931, 0, 8'098'203'920, 8'098'203'920.0 + 27'823'387'480}, 109.960, 377.795}};
  for (const auto& one : rows) {
    const LensTimes times = lens_times(one.row);
    EXPECT_NEAR(times.write_ns, one.write_ns, 0.0006);
    EXPECT_NEAR(times.read_ns, one.read_ns, 0.0006);
  }
}

// B9: a parser that divides by the read cycles instead of the total is right only if both passes take equally long.
TEST(B9, the_denominator_is_the_total) {
  const LensTimes times = lens_times({64, 1, 100, 1000, 1250, 2000});
  EXPECT_EQ(times.write_ns, 25);
  EXPECT_EQ(times.read_ns, 75);
}

}  // namespace
}  // namespace tally::result
