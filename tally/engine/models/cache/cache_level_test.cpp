#include "tally/engine/models/cache/cache_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>

#include "tally/engine/models/heap_tables_testing.hpp"

namespace tally::models {
namespace {

using testing::lines;
using testing::OwnCache;

// A textbook LRU cache, with a list for each set.
class Textbook {
 public:
  explicit Textbook(const CacheShape& shape) : shape_(shape) {}
  bool access(std::uint64_t address) {
    const std::uint64_t line = address >> shape_.line_bits;
    auto& set = sets_[line % shape_.sets];
    const auto at = std::find(set.begin(), set.end(), line);
    const bool hit = at != set.end();
    if (hit) set.erase(at);
    if (!hit && set.size() == shape_.ways) set.pop_back();
    set.push_front(line);
    return hit;
  }

 private:
  CacheShape shape_;
  std::map<std::uint64_t, std::list<std::uint64_t>> sets_;
};

// 20 ways and 491,520 sets (an LLC of 480 M in 16 ways) are shapes of real machines; 3 sets and 1 way are edges.
TEST(Cache, EqualsATextbookOnRandomTraces) {
  for (const auto& [sets, ways] :
       {std::pair{64U, 8U}, {1U, 4U}, {3U, 1U}, {8192U, 20U}, {491520U, 16U}, {12287U, 3U}}) {
    const CacheShape shape = lines(sets, ways);
    OwnCache own(shape);
    Textbook textbook(shape);
    std::mt19937_64 random(sets * 100 + ways);
    // Twice the cache's size, so that there are hits and misses; a high address range makes large line numbers.
    std::uniform_int_distribution<std::uint64_t> offset(0, std::min<std::uint64_t>(shape.size_bytes() * 2, 1 << 22));
    std::uint64_t hits = 0;
    for (int i = 0; i < 200'000; ++i) {
      const std::uint64_t address = offset(random) + (i % 3 == 0 ? 0x7fff'0000'0000 : 0);
      const bool hit = own.cache.access(address).hit;
      ASSERT_EQ(hit, textbook.access(address)) << sets << '/' << ways << " access " << i;
      hits += hit;
    }
    EXPECT_GT(hits, 1000U);
    EXPECT_LT(hits, 199'000U);
  }
}

TEST(Cache, SetIsTheLineNumberModuloTheSets) {
  std::mt19937_64 random(1);
  for (const std::uint32_t sets : {1U, 2U, 3U, 48U, 64U, 12287U, 491520U, 4294967295U}) {
    std::uint64_t none = 0;  // never touched: only the calculation is tested
    const Cache cache(lines(sets, 1), &none);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t address = random() >> (i % 60);
      ASSERT_EQ(cache.set_of(address), (address >> 6) % sets) << sets << ' ' << address;
    }
    ASSERT_EQ(cache.set_of(~std::uint64_t{0}), (~std::uint64_t{0} >> 6) % sets);
  }
}

TEST(Cache, EveryAddressOfALineIsTheSameLine) {
  OwnCache own(lines(4, 2));
  EXPECT_FALSE(own.cache.access(0x1000).hit);
  for (std::uint64_t address = 0x1000; address < 0x1040; ++address) EXPECT_TRUE(own.cache.access(address).hit);
  EXPECT_FALSE(own.cache.holds(0xfff));
  EXPECT_FALSE(own.cache.holds(0x1040));
}

TEST(Cache, AddressZeroIsAbsentBeforeItsFirstUse) {
  OwnCache own(lines(1, 1));
  EXPECT_FALSE(own.cache.access(0).hit);
  EXPECT_TRUE(own.cache.access(63).hit);
  const Lookup lookup = own.cache.access(64);
  EXPECT_FALSE(lookup.hit);
  EXPECT_EQ(lookup.displaced, 0U);
}

// The check that generated code makes of the most recent way: one exclusive or checks the line and straddling.
TEST(Cache, TheTagChecksLineAndStraddlingTogether) {
  const std::uint64_t tag = tag_of(0x7fff'1234'5678, 6);
  for (const unsigned bytes : {1U, 8U, 64U}) {
    for (std::uint64_t address = 0x7fff'1234'5600; address < 0x7fff'1234'5700; ++address) {
      const bool inside = address >> 6 == 0x7fff'1234'5678 >> 6 && (address & 63) + bytes <= 64;
      EXPECT_EQ((address ^ tag) >= ~std::uint64_t{64 - bytes}, inside) << std::hex << address << ' ' << bytes;
    }
  }
}

TEST(Cache, APrefetchedLineIsNewUntilItIsUsed) {
  for (const Replacement replacement : {Replacement::lru, Replacement::tree_plru}) {
    OwnCache own(lines(1, 2, replacement));
    EXPECT_FALSE(own.cache.prefetch(0x40).hit);
    EXPECT_TRUE(own.cache.prefetch(0x40).hit);
    EXPECT_TRUE(own.cache.holds(0x40));
    const Lookup first = own.cache.access(0x40);
    EXPECT_TRUE(first.hit && first.first_use);
    const Lookup second = own.cache.access(0x40);
    EXPECT_TRUE(second.hit && !second.first_use);
    own.cache.prefetch(0x80);
    own.cache.access(0xc0);
    EXPECT_EQ(own.cache.access(0x100).displaced, 0x80U);  // the whole address, although it was never used
  }
}

TEST(Cache, UseInsertsNothing) {
  OwnCache own(lines(1, 2));
  EXPECT_FALSE(own.cache.use(0x40).hit);
  EXPECT_FALSE(own.cache.holds(0x40));
  own.cache.access(0x40);
  own.cache.access(0x80);
  EXPECT_TRUE(own.cache.use(0x40).hit);
  EXPECT_EQ(own.cache.access(0xc0).displaced, 0x80U);  // because 0x40 was used after it
}

TEST(Cache, RemovedLinesAreAbsent) {
  for (const Replacement replacement : {Replacement::lru, Replacement::tree_plru}) {
    OwnCache own(lines(2, 4, replacement));
    own.cache.access(0x40);
    EXPECT_TRUE(own.cache.remove(0x7f));
    EXPECT_FALSE(own.cache.remove(0x40));
    EXPECT_FALSE(own.cache.access(0x40).hit);
  }
}

// A ring of lines that fits always hits after the first round; a ring with one line more always misses with LRU.
TEST(Cache, ARingThatIsOneLineTooLong) {
  const auto misses = [](Replacement replacement, std::uint64_t ring) {
    OwnCache own(lines(1, 8, replacement));
    std::uint64_t missed = 0;
    for (std::uint64_t i = 0; i < ring * 100; ++i) missed += !own.cache.access(i % ring * 64).hit;
    return missed;
  };
  EXPECT_EQ(misses(Replacement::lru, 8), 8U);
  EXPECT_EQ(misses(Replacement::lru, 9), 900U);
  EXPECT_EQ(misses(Replacement::tree_plru, 8), 8U);
}

}  // namespace
}  // namespace tally::models
