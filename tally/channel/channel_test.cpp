#include "tally/channel/channel.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally::channel {
namespace {

/// Records over plain memory: enough of the file for a few processes would be 600 MB, so it is reserved, not written.
struct Memory {
  Memory() : bytes(static_cast<uint8_t*>(calloc(1, records_bytes))) { records.base = bytes; }
  ~Memory() { free(bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  uint8_t* bytes;
  Records records;
};

TEST(Channel, SumIsCountersTimesVectors) {
  std::vector<SegmentVector> vectors(3);
  vectors[1].counts[instructions] = 5;
  vectors[1].branches[conditional - 3] = 1;
  vectors[1].branches[taken - 3] = 1;
  vectors[2].counts[instructions] = 2;
  vectors[2].branches[taken - 3] = -1;
  const std::vector<uint64_t> counters{99, 10, 4};
  const Totals totals = sum(counters.data(), vectors.data(), 3);
  EXPECT_EQ(totals.field[instructions], 58);
  EXPECT_EQ(totals.field[conditional], 10);
  EXPECT_EQ(totals.field[taken], 6);
}

TEST(Channel, AreasAreReusedLastFirst) {
  Memory memory;
  Header& header = memory.records.header();
  const uint32_t a = take_area(memory.records, header.free_counters);
  const uint32_t b = take_area(memory.records, header.free_counters);
  EXPECT_NE(a, b);
  EXPECT_NE(a, 0u);
  give_area(memory.records, header.free_counters, a);
  give_area(memory.records, header.free_counters, b);
  EXPECT_EQ(take_area(memory.records, header.free_counters), b);
  EXPECT_EQ(take_area(memory.records, header.free_counters), a);
  EXPECT_NE(take_area(memory.records, header.free_counters), a);
}

TEST(Channel, AreasRunOut) {
  Memory memory;
  memory.records.header().next_area = area_limit - 2;
  EXPECT_NE(take_area(memory.records, memory.records.header().free_counters), 0u);
  EXPECT_EQ(take_area(memory.records, memory.records.header().free_counters), 0u);
}

TEST(Channel, RecordsDoNotOverlap) {
  EXPECT_LE(sizeof(Header), header_bytes);
  EXPECT_EQ(thread_offset - process_offset, uint64_t{process_limit} * sizeof(Process));
  EXPECT_GE(area_offset(1), records_bytes + area_bytes);
}

}  // namespace
}  // namespace tally::channel
