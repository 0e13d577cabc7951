// Tests with texts of our own in the format of other tools.
#include "tally/tools/memory/foreign/foreign.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tally::memory {
namespace {

result::Memory read(const std::string& text) {
  EXPECT_TRUE(is_foreign(text));
  auto memory = read_foreign(text, "a file");
  EXPECT_TRUE(memory) << memory.error().message;
  return memory ? *std::move(memory) : result::Memory();
}

std::string why_not(const std::string& text) {
  const auto memory = read_foreign(text, "a file");
  return memory ? "it was read" : memory.error().message;
}

TEST(Foreign, latencies_of_lat_mem_rd) {
  const auto memory = read("some words of a shell\n\"stride=128\n0.00049 1.584\n0.00098 1.6\n1.00000 12.5\r\n\n");
  ASSERT_EQ(memory.points.size(), 3u);
  EXPECT_EQ(memory.task, "curve");
  EXPECT_EQ(memory.points[0].region_bytes, 512u) << "0.00049 of a MiB is printed for it";
  EXPECT_EQ(memory.points[0].stride_bytes, 128u);
  EXPECT_EQ(memory.points[1].region_bytes, 1024u);
  EXPECT_EQ(memory.points[2].region_bytes, 1u << 20);
  EXPECT_EQ(memory.points[2].ns, 12.5);
  EXPECT_EQ(why_not("\"stride=64\n0.1 2\n0.2 3 4\n"),
            "'a file' looks like lmbench's lat_mem_rd, but cannot be read: line 3 is not a size and a time: '0.2 3 4'");
  EXPECT_NE(why_not("\"stride=none\n").find("is not a stride"), std::string::npos);
  EXPECT_NE(why_not("\"stride=64\n").find("it contains no numbers"), std::string::npos);
}

TEST(Foreign, consecutive_runs_of_multichase) {
  const auto memory = read(
      "nr_threads = 1\ntotal_memory = 65536 (0.1 MiB)\nstride = 64\ntlb_locality = 65536\nchase = simple\n"
      " 4.9\n 4.5\n"
      "nr_threads = 1\ntotal_memory = 268435456 (256.0 MiB)\nstride = 256\nchase = simple\n 176.6\n"
      "total_memory = 128 (0.0 MiB)\n");
  ASSERT_EQ(memory.points.size(), 2u) << "the third was broken off";
  EXPECT_EQ(memory.points[0].region_bytes, 65536u);
  EXPECT_EQ(memory.points[0].ns, 4.5);
  EXPECT_EQ(memory.points[1].stride_bytes, 256u);
  EXPECT_EQ(memory.points[1].count, (1u << 20));
  EXPECT_EQ(memory.points[1].ns, 176.6);
  const auto sizeless = read_foreign("total_memory = 64\n", "a file");
  ASSERT_FALSE(sizeless);
  EXPECT_NE(sizeless.error().hint.find("multichase -v"), std::string::npos);
}

TEST(Foreign, matrices_and_loads_of_mlc) {
  const auto memory = read(
      "Intel(R) Memory Latency Checker - v3.9\n"
      "Measuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\t     1\n"
      "       0\t  81.5\t 140.2\n       1\t 139.9\t  -\n\n"
      "Measuring Peak Injection Memory Bandwidths for the system\nALL Reads        :\t200000.1\n1 2\n"
      "Measuring Memory Bandwidths between nodes within system\n\t\tNuma node\nNuma node\t     0\t     1\n"
      "       0\t98000.5\t34000.0\n"
      "Measuring Loaded Latencies for the system\nInject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n======\n"
      " 00000\t250.31\t  98655.9\n 20000\t 82.00\t   1237.6\n"
      "Measuring cache-to-cache transfer latency (in ns)...\n1 2 3\n");
  ASSERT_EQ(memory.maps.size(), 2u);
  using Cell = result::MemoryMap::Cell;
  EXPECT_EQ(memory.maps[0].cells, (std::vector<Cell>{{0, 0, 81.5}, {1, 0, 140.2}, {0, 1, 139.9}}))
      << "a pair that was not measured is none";
  EXPECT_EQ(memory.maps[1].cells, (std::vector<Cell>{{0, 0, 98000.5}, {1, 0, 34000}}));
  ASSERT_EQ(memory.points.size(), 2u) << "and what follows is no load";
  EXPECT_EQ(memory.points[0].task, "loaded");
  EXPECT_EQ(memory.points[0].ns, 250.31);
  EXPECT_EQ(memory.points[0].mb_per_second, 98655.9);
}

// The rows that VANS ships of an Optane module (MIT licence), and their meaning.
constexpr const char* vans_rows[] = {"64,1048576,408239767,0,429340470,896016162",
                                     "16384,524288,32321724095,0,17733369070,70941126534"};

void expect_times(const result::Memory& memory) {
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

TEST(Foreign, rows_of_lens_vans_and_the_log_are_equal) {
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
  expect_times(read(vans));
  expect_times(read(lens));
  expect_times(read(log));
  EXPECT_NE(why_not(lens + "4096,64,1,100,5,4,9\r\n").find("line 4 is not a row"), std::string::npos)
      << "stamps that go back";
  EXPECT_NE(why_not(lens + "4096,64,0,100,1,4,9\r\n").find("line 4 is not a row"), std::string::npos);
  EXPECT_NE(why_not(vans + "6,4096\n").find("line 4 is not a row"), std::string::npos);
}

TEST(Foreign, rows_that_tally_writes_of_one_pass_are_read_as_that) {
  const std::string header =
      "region_size,block_size,count,total,cycle_write_start,cycle_read_start,cycle_read_end,task_name,ticks_per_ns\r\n";
  for (const std::string quantity : {"write", "raw"}) {
    const auto memory = read(header + "4096,64,100,41600,0,104000,104000,chase-" + quantity + ",2.5\r\n");
    ASSERT_EQ(memory.points.size(), 1u);
    EXPECT_EQ(memory.points[0].task, "chase-" + quantity);
    EXPECT_EQ(memory.points[0].quantity, quantity);
    EXPECT_NEAR(*memory.points[0].ns, 6.5, 0.001);
  }
}

TEST(Foreign, curves_get_their_levels) {
  std::string text = "\"stride=64\n";
  for (int step = 0; step < 60; ++step) {
    const double mib = std::exp2(step / 4.0) / 1024;
    text += fmt::format("{:.5f} {:.3f}\n", mib, mib <= 0.0475 ? 1.3 : mib <= 2.01 ? 4.5 : 90.0);
  }
  const auto memory = read(text);
  ASSERT_EQ(memory.levels.size(), 3u);
  EXPECT_NEAR(*memory.levels[0].capacity_bytes, 48 << 10, 6000);
  EXPECT_NEAR(*memory.levels[1].capacity_bytes, 2 << 20, 400'000);
  EXPECT_NEAR(memory.levels[1].ns, 4.5, 1e-9);
  for (const auto& level : memory.levels) EXPECT_EQ(level.grade, result::Grade::low);
  EXPECT_TRUE(read(text + text).levels.empty()) << "of two curves none is the one";
}

TEST(Foreign, rejects_other_texts) {
  for (const char* text : {"", "some words\n", "{\"schema\": \"tally-memory/1\"}", "ins,l_cycle\n1,2\n"}) {
    EXPECT_FALSE(is_foreign(text)) << text;
    EXPECT_NE(why_not(text).find("is not the output of a known tool"), std::string::npos);
  }
}

}  // namespace
}  // namespace tally::memory
