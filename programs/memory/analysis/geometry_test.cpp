// Tests of ways, sets, lines and pages from hit counts with a known answer.
#include <gtest/gtest.h>

#include <cmath>

#include "programs/memory/analysis/geometry.hpp"

namespace tally::memory {
namespace {

using Hits = std::vector<HitCount>;

// Lines of `line` bytes at a stride that hit sets × ways, found by filling sets until one overflows.
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

TEST(CacheGeometry, as_measured_with_a_translation_buffer) {
  // 12 lines at 4 and 8 K, fewer from 64 K on.
  const Hits hits{{64, 768},  {128, 384}, {256, 192},  {512, 96},   {1024, 48}, {2048, 24},
                  {4096, 12}, {8192, 12}, {16384, 12}, {32768, 12}, {65536, 8}, {131072, 8}};
  const Geometry geometry = cache_geometry(hits, 64);
  EXPECT_EQ(geometry.ways, 12u);
  EXPECT_EQ(geometry.sets, 64u);
}

// Measured on a virtual machine (AMD EPYC, Zen 4: 8 ways of 64 sets) with another thread on the core.
const Hits next_to_a_neighbour{{64, 396},  {128, 224},  {256, 129}, {512, 61},  {1024, 32},
                               {2048, 16}, {4096, 8},   {8192, 8},  {16384, 8}, {32768, 8},
                               {65536, 8}, {131072, 8}, {12288, 8}, {20480, 8}, {28672, 8}};

TEST(CacheGeometry, a_busy_core_reduces_narrow_strides_only) {
  const Geometry geometry = cache_geometry(next_to_a_neighbour, 64);
  EXPECT_EQ(geometry.ways, 8u) << geometry.reason;
  EXPECT_EQ(geometry.sets, 64u);
  EXPECT_EQ(geometry.capacity_bytes, 32u * 1024);
  EXPECT_EQ(disturbed_strides(next_to_a_neighbour, 64), (std::vector<std::uint64_t>{64, 128}));
}

TEST(CacheGeometry, contradictions_are_reported_in_lines) {
  Hits hits = next_to_a_neighbour;
  hits[12].lines = 7;
  EXPECT_EQ(
      cache_geometry(hits, 64).reason,
      "7 lines 12.00 KiB apart hit, but 8 ways x 64 sets hold 8: perhaps the number of sets is not a power of two");
  EXPECT_EQ(disturbed_strides(hits, 64).size(), hits.size()) << "which of them is wrong is not known";
  hits = next_to_a_neighbour;
  hits[5].lines = 12;
  EXPECT_EQ(cache_geometry(hits, 64).reason, "12 lines 2.000 KiB apart hit, but 8 ways x 64 sets hold 16");
  hits = next_to_a_neighbour;
  hits[0].lines = 600;
  EXPECT_FALSE(cache_geometry(hits, 64).ways) << "a neighbour brings no lines";
  hits = next_to_a_neighbour;
  hits.resize(8);
  EXPECT_FALSE(cache_geometry(hits, 64).ways) << "two strides with the same number are chance";
}

TEST(Counts, largest_confirmed_count) {
  EXPECT_EQ(found_again({63, 72, 64, 72, 71}), 72u);
  EXPECT_EQ(found_again({71, 72}), 71u);
  EXPECT_EQ(found_again({56, 72, 67}), 67u);
  EXPECT_EQ(found_again({5}), 5u);
  EXPECT_EQ(found_again({}), 0u);
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

TEST(TlbGeometry, huge_pages_must_reach_farther) {
  constexpr std::uint64_t huge = 2 << 20;
  const Hits base = tlb_of(16, 6, 4096);
  EXPECT_EQ(tlb_geometry(tlb_of(16, 6, huge), base, 4096, huge).granule_bytes, huge);
  EXPECT_EQ(tlb_geometry(base, base, 4096, huge).granule_bytes, 4096u) << "the host maps base pages";
  Hits disturbed = base;
  for (HitCount& one : disturbed) one.lines = one.lines * 2 / 3;
  EXPECT_EQ(tlb_geometry(base, disturbed, 4096, huge).granule_bytes, 4096u) << "a neighbour is no huge page";
}

TEST(TlbTrust, is_high_only_if_confirmed_everywhere) {
  using result::Grade;
  const Hits full = tlb_of(1, 72, 4096);
  const TlbGeometry geometry = tlb_geometry(full, {}, 4096, 0);
  EXPECT_EQ(trust_in(geometry, full, true, true).grade, Grade::high);
  EXPECT_EQ(trust_in(geometry, full, true, true).because,
            "72 pages hit at each of 13 distances, in at least two mappings");
  EXPECT_EQ(trust_in(geometry, full, true, false).grade, Grade::medium) << "huge pages were not measured";
  EXPECT_EQ(trust_in(geometry, full, false, true).grade, Grade::low);
  Hits unsteady = full;
  unsteady[3].lines = 67;
  const TlbTrust trust = trust_in(tlb_geometry(unsteady, {}, 4096, 0), unsteady, true, true);
  EXPECT_EQ(trust.grade, Grade::low);
  EXPECT_TRUE(trust.because.starts_with("67 to 72 pages hit at 13 distances")) << trust.because;
  unsteady[12].lines = 40;
  EXPECT_EQ(trust_in(tlb_geometry(unsteady, {}, 4096, 0), unsteady, true, true).because,
            "40 to 72 pages hit at 13 distances: for known ways, the number must be the same at all large ones");
  const Hits sets = tlb_of(16, 6, 4096);
  EXPECT_EQ(trust_in(tlb_geometry(sets, {}, 4096, 0), sets, true, true).grade, Grade::high);
}

TEST(LineSize, is_the_first_distance_with_a_slow_second_word) {
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
