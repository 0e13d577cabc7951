#include "tally/counting/backend/engine/count/own_faults.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tally/engine/channel/image_layout.hpp"

namespace tally::backend::engine {
namespace {

// Two processes: one with a code cache near its code, one without.
class OwnFaults : public testing::Test {
 protected:
  OwnFaults() : memory_(channel::process_offset + 4 * sizeof(channel::Process)), records_{memory_.data()} {
    records_.header().next_process = 2;
    records_.process(1).own_end = own_end;
    records_.process(2).near_caches[0] = cache >> 20;
  }

  std::string share_text(const std::map<std::uint64_t, std::int64_t>& faults, std::int64_t counted) {
    linux::FaultPlaces places;
    for (const auto& [address, n] : faults) places.in_mebibyte[address >> 20] += n;
    return share_of_engine(places, counted, records_);
  }

  static constexpr std::uint64_t own_end = channel::image_base + 0x123456789;
  static constexpr std::uint64_t cache = 0x555505500000;
  std::vector<std::uint8_t> memory_;
  channel::Records records_;
};

TEST_F(OwnFaults, are_those_in_memory_of_the_engine) {
  EXPECT_EQ(share_text({{0x7ffff7d00000, 900}}, 900), "includes 0 in the engine's memory");
  EXPECT_EQ(share_text({{channel::image_base, 1000}, {0x7ffff7d00000, 900}}, 1900),
            "includes 1,000 in the engine's memory");
  EXPECT_EQ(
      share_text(
          {{channel::own_addresses - 1, 1}, {channel::own_addresses, 2}, {own_end - 1, 4}, {own_end + (1 << 20), 8}},
          15),
      "includes 6 in the engine's memory");
  EXPECT_EQ(
      share_text({{cache - 1, 1}, {cache, 2}, {cache + channel::cache_bytes - 1, 4}, {cache + channel::cache_bytes, 8}},
                 15),
      "includes 6 in the engine's memory");
}

TEST_F(OwnFaults, of_a_log_with_gaps_are_a_lower_bound) {
  EXPECT_EQ(share_text({{channel::image_base, 10}}, 12), "includes at least 10 in the engine's memory");
}

}  // namespace
}  // namespace tally::backend::engine
