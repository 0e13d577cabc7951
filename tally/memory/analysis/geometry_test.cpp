// Ways, sets, lines and pages from maps whose answer is known.
#include <gtest/gtest.h>

#include <cmath>

#include "tally/memory/analysis/geometry.hpp"

namespace tally::memory {
namespace {

using Hits = std::vector<HitCount>;

// Lines of `line` bytes at a stride that still hit sets × ways, found by filling sets until one overflows.
std::uint64_t hits_of(std::uint64_t stride, std::uint64_t sets, std::uint64_t ways, std::uint64_t line, bool hashed) {
  std::vector<std::uint64_t> filled(sets);
  for (std::uint64_t n = 0;; ++n) {
    const std::uint64_t number = n * stride / line;
    const std::uint64_t set = hashed ? (number * 0x9E37'79B9'7F4A'7C15 >> 40) % sets : number % sets;
    if (++filled[set] > ways) return n;
  }
}

Hits map_of(std::uint64_t sets, std::uint64_t ways, std::uint64_t line, std::uint64_t widest, bool hashed = false) {
  Hits hits;
  for (std::uint64_t stride = line; stride <= widest; stride *= 2) {
    hits.push_back({stride, hits_of(stride, sets, ways, line, hashed)});
  }
  for (const std::uint64_t stride : witness_strides(hits))
    hits.push_back({stride, hits_of(stride, sets, ways, line, hashed)});
  return hits;
}

TEST(CacheGeometry, ways_and_sets_of_powers_of_two) {
  const Geometry l1 = cache_geometry(map_of(64, 12, 64, 65536), 64);
  EXPECT_EQ(l1.ways, 12u);
  EXPECT_EQ(l1.sets, 64u);
  EXPECT_EQ(l1.capacity_bytes, 48u * 1024);
  EXPECT_EQ(l1.reason, "");
  const Geometry buffer = cache_geometry(map_of(256, 16, 4096, 1 << 24), 4096);
  EXPECT_EQ(buffer.ways, 16u);
  EXPECT_EQ(buffer.sets, 256u);
}

TEST(CacheGeometry, other_sets_and_hashes_are_not_determinable) {
  const Geometry odd = cache_geometry(map_of(48, 12, 64, 65536), 64);
  EXPECT_FALSE(odd.ways);
  EXPECT_NE(odd.reason, "");
  const Geometry hashed = cache_geometry(map_of(64, 12, 64, 65536, true), 64);
  EXPECT_FALSE(hashed.ways);
  EXPECT_NE(hashed.reason, "");
}

TEST(CacheGeometry, as_measured_beside_a_translation_buffer) {
  // 12 lines at 4 and 8 K, fewer from 64 K on.
  const Hits hits{{64, 768},  {128, 384}, {256, 192},  {512, 96},   {1024, 48}, {2048, 24},
                  {4096, 12}, {8192, 12}, {16384, 12}, {32768, 12}, {65536, 8}, {131072, 8}};
  const Geometry geometry = cache_geometry(hits, 64);
  EXPECT_EQ(geometry.ways, 12u);
  EXPECT_EQ(geometry.sets, 64u);
}

Hits tlb_of(std::uint64_t sets, std::uint64_t ways, std::uint64_t granule) {
  Hits hits;
  for (unsigned k = 0; k < 13; ++k) {
    const std::uint64_t pitch = (std::uint64_t{4096} << k) + 64;
    std::vector<std::vector<std::uint64_t>> held(sets);
    std::uint64_t n = 0;
    for (bool fits = true; fits; ++n) {
      const std::uint64_t page = n * pitch / granule;
      auto& set = held[page % sets];
      if (set.empty() || set.back() != page) set.push_back(page);
      fits = set.size() <= ways;
    }
    hits.push_back({pitch, n - 1});
  }
  return hits;
}

TEST(TlbGeometry, six_ways_of_sixteen_sets_over_base_pages) {
  const TlbGeometry tlb = tlb_geometry(tlb_of(16, 6, 4096), {}, 4096, 0);
  EXPECT_EQ(tlb.entries, 96u);
  EXPECT_EQ(tlb.ways, 6u);
  EXPECT_EQ(tlb.sets, 16u);
  EXPECT_EQ(tlb.granule_bytes, 4096u);
}

TEST(TlbGeometry, one_set_holds_all) {
  const TlbGeometry tlb = tlb_geometry(tlb_of(1, 72, 4096), {}, 4096, 0);
  EXPECT_EQ(tlb.entries, 72u);
  EXPECT_EQ(tlb.ways, 72u);
  EXPECT_EQ(tlb.sets, 1u);
}

TEST(TlbGeometry, huge_pages_are_huge_only_where_they_reach_farther) {
  constexpr std::uint64_t huge = 2 << 20;
  const Hits base = tlb_of(16, 6, 4096);
  EXPECT_EQ(tlb_geometry(tlb_of(16, 6, huge), base, 4096, huge).granule_bytes, huge);
  EXPECT_EQ(tlb_geometry(base, base, 4096, huge).granule_bytes, 4096u) << "the host maps base pages";
}

TEST(LineSize, is_where_the_second_word_is_as_slow_as_the_first) {
  const std::vector<PairTime> pairs{{8, 2.5}, {16, 2.5}, {32, 2.6}, {64, 3.9}, {128, 4.0}, {256, 4.0}};
  EXPECT_EQ(line_size(pairs), 64u);
  const std::vector<PairTime> wide{{8, 2.5}, {16, 2.5}, {32, 2.6}, {64, 2.6}, {128, 4.0}, {256, 4.0}};
  EXPECT_EQ(line_size(wide), 128u);
  const std::vector<PairTime> flat{{8, 4.0}, {16, 4.0}, {64, 4.1}};
  EXPECT_FALSE(line_size(flat));
  EXPECT_FALSE(line_size({}));
}

}  // namespace
}  // namespace tally::memory
