#include "tally/engine/channel/channel.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tally::channel {
namespace {

/// Records in plain memory. The file would take 600 MB for a few processes, so the memory is reserved, not written.
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
  const Totals totals = sum(counters.data(), vectors.data(), nullptr, 3);
  EXPECT_EQ(totals.field[instructions], 58);
  EXPECT_EQ(totals.field[conditional], 10);
  EXPECT_EQ(totals.field[taken], 6);
}

TEST(Channel, HashesUseTheHighBits) {
  EXPECT_EQ(hash64(2), 0x3C6E'F372'FE94'F82Au);  // 2^65 divided by the golden ratio, modulo 2^64
  EXPECT_EQ(hash32(2), 0x3C6E'F372u);
  EXPECT_EQ(hash_bits(2, 4), 3u);
  EXPECT_EQ(hash_below(2, 100), 23u);  // 0x3C6EF372 of 2^32 are 23.6 of 100
}

TEST(Channel, AddCountsEveryFieldOfAVectorAndTakesItBack) {
  SegmentVector vector;
  for (uint32_t i = 0; i < 3; i++) vector.counts[i] = static_cast<int16_t>(i + 1);
  for (uint32_t i = 3; i < first_plain_field; i++) vector.branches[i - 3] = static_cast<int8_t>(i + 1);
  for (uint32_t i = first_plain_field; i < first_mix_field; i++)
    vector.plain[i - first_plain_field] = static_cast<int16_t>(i + 1);
  MixRow row;
  for (uint32_t i = first_mix_field; i < field_count; i++) row.add_to(i, static_cast<int32_t>(i + 1));
  Totals totals;
  totals.add(vector, 1000);
  totals.add(row, 1000);
  for (uint32_t i = 0; i < field_count; i++) EXPECT_EQ(totals.field[i], (i + 1) * 1000) << i;
  totals.add(vector, -1000);
  totals.add(row, -1000);
  for (uint32_t i = 0; i < field_count; i++) EXPECT_EQ(totals.field[i], 0) << i;
}

TEST(Channel, AddTakesTheLimitsOfAVector) {
  SegmentVector vector;
  vector.counts[loads] = INT16_MIN;
  vector.branches[taken - 3] = INT8_MIN;
  vector.plain[prefetches - first_plain_field] = INT16_MAX;
  Totals totals;
  totals.add(vector, int64_t{1} << 40);
  EXPECT_EQ(totals.field[loads], -(int64_t{1} << 55));
  EXPECT_EQ(totals.field[taken], -(int64_t{1} << 47));
  EXPECT_EQ(totals.field[prefetches], int64_t{INT16_MAX} << 40);
}

// A program that writes over its counters makes sums of any size; they wrap and are not undefined.
TEST(Channel, SumsWrap) {
  Totals totals;
  totals.field[instructions] = INT64_MAX;
  Totals one;
  one.field[instructions] = 1;
  totals.add(one);
  EXPECT_EQ(totals.field[instructions], INT64_MIN);
  totals.add(one, -1);
  EXPECT_EQ(totals.field[instructions], INT64_MAX);
}

TEST(Channel, SitesKeepMappingsApart) {
  for (const uint64_t pc : {uint64_t{0x401000}, uint64_t{0x7fff'ffff'ffff}, uint64_t{0xffff'ffff'ffff}})
    for (const uint32_t mapping : {1u, 2u, code_site_mappings}) {
      EXPECT_EQ(pc_of_site(code_site(pc, mapping)), pc);
      EXPECT_EQ(mapping_of_site(code_site(pc, mapping)), mapping);
    }
  // Without a number the site is the address: for mappings above the limit, and for addresses that use those bits.
  for (const auto& [pc, mapping] : {std::pair{0x401000ull, 0u}, std::pair{0x401000ull, code_site_mappings + 1},
                                    std::pair{0xffff'ffff'ff60'0400ull, 3u}, std::pair{0x00ff'0000'0000'1000ull, 3u}}) {
    EXPECT_EQ(code_site(pc, mapping), pc);
    EXPECT_EQ(pc_of_site(pc), pc);
    EXPECT_EQ(mapping_of_site(pc), 0u);
  }
}

TEST(Channel, AreasAreReusedLastFirst) {
  Memory memory;
  Header& header = memory.records.header();
  const uint32_t a = take_area(memory.records, header.free_counters);
  const uint32_t b = take_area(memory.records, header.free_counters);
  EXPECT_NE(a, b);
  EXPECT_NE(a, 0u);
  release_area(memory.records, header.free_counters, a);
  release_area(memory.records, header.free_counters, b);
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
