#include "tally/engine/models/lanes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tally::models {
namespace {

std::uint32_t next(std::uint32_t& state) { return (state = state * 1664525 + 1013904223) >> 8; }

// Random numbers, and those at the ends and in the middle of the range.
Lanes16 some(std::uint32_t& state) {
  constexpr std::uint16_t ends[] = {0, 1, 0x7fff, 0x8000, 0xffff};
  Lanes16 lanes;
  for (std::uint16_t& lane : lanes.lane)
    lane = next(state) % 3 == 0 ? ends[next(state) % 5] : static_cast<std::uint16_t>(next(state));
  return lanes;
}

template <class Value>
Lanes16 each(Value value) {
  Lanes16 lanes;
  for (unsigned i = 0; i < Lanes16::count; ++i) lanes.lane[i] = static_cast<std::uint16_t>(value(i));
  return lanes;
}

template <class Kind>
class Lanes16Of : public ::testing::Test {
 protected:
  static Lanes16 stored(Kind lanes) {
    Lanes16 result;
    lanes.store(result);
    return result;
  }
};

#if defined(__SSE2__)
using Kinds = ::testing::Types<WordLanes, VectorLanes>;
#else
using Kinds = ::testing::Types<WordLanes>;
#endif
TYPED_TEST_SUITE(Lanes16Of, Kinds);

TYPED_TEST(Lanes16Of, WorkLaneByLane) {
  std::uint32_t state = 1;
  for (int round = 0; round < 1000; ++round) {
    const Lanes16 a = some(state), b = some(state);
    const TypeParam x(a), y(b);
    EXPECT_EQ(this->stored(x), a);
    EXPECT_EQ(this->stored(x ^ y), each([&](unsigned i) { return a.lane[i] ^ b.lane[i]; }));
    EXPECT_EQ(this->stored(x & y), each([&](unsigned i) { return a.lane[i] & b.lane[i]; }));
    EXPECT_EQ(this->stored(x | y), each([&](unsigned i) { return a.lane[i] | b.lane[i]; }));
    EXPECT_EQ(this->stored(x.template left<5>()), each([&](unsigned i) { return a.lane[i] << 5; }));
    EXPECT_EQ(this->stored(x.template right<9>()), each([&](unsigned i) { return a.lane[i] >> 9; }));
    EXPECT_EQ(this->stored(x.doubled()), each([&](unsigned i) { return a.lane[i] * 2; }));
    EXPECT_EQ(this->stored(x.signs()), each([&](unsigned i) { return a.lane[i] >= 0x8000 ? 0xffff : 0; }));
    unsigned zeroes = 0;
    for (unsigned i = 0; i < Lanes16::count; ++i) zeroes |= static_cast<unsigned>(a.lane[i] == 0) << i;
    EXPECT_EQ(x.zeroes(), zeroes);
  }
}

TYPED_TEST(Lanes16Of, AreBuiltFromNumbersWordsAndTables) {
  std::uint32_t state = 1;
  std::vector<std::uint16_t> table;
  for (int i = 0; i < 0x10000 + 7 * 16; ++i) table.push_back(static_cast<std::uint16_t>(next(state)));
  const std::uint32_t values[] = {0x8001'4321, 0x1234'fedc, 0xffff'ffff, 0};
  TypeParam four[4], with_upper[4];
  TypeParam::template spread<3>(values, four);
  TypeParam::template spread<1, 10>(values, with_upper);
  for (std::size_t v = 0; v < 4; ++v) {
    EXPECT_EQ(this->stored(TypeParam::spread(values[v])), each([&](unsigned) { return values[v] & 0xffff; }));
    EXPECT_EQ(this->stored(four[v]), each([&](unsigned) { return values[v] >> 3 & 0xffff; }));
    EXPECT_EQ(this->stored(with_upper[v]), each([&](unsigned) { return (values[v] >> 1 ^ values[v] >> 10) & 0xffff; }));
  }
  EXPECT_EQ(this->stored(TypeParam(0x0003'0002'0001'8000, 0xffff'0006'0005'0004)),
            (Lanes16{{0x8000, 1, 2, 3, 4, 5, 6, 0xffff}}));
  for (int round = 0; round < 1000; ++round) {
    const Lanes16 at = some(state);
    EXPECT_EQ(this->stored(TypeParam::template picked<16>(table.data(), at)),
              each([&](unsigned i) { return table[i * 16 + at.lane[i]]; }));
  }
  for (unsigned bits = 0; bits < 16; ++bits) {
    std::uint32_t four_words[4];
    for (unsigned i = 0; i < 4; ++i) four_words[i] = next(state) << 1 | (bits >> (3 - i) & 1);
    EXPECT_EQ(low_bits_of_four(four_words), bits);
  }
}

}  // namespace
}  // namespace tally::models
