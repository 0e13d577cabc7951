#include "tally/counting/backend/engine/count/handed_back.hpp"

#include <gtest/gtest.h>

namespace tally::backend::engine {
namespace {

constexpr Nanoseconds ms(std::int64_t n) { return Nanoseconds{n * 1'000'000}; }

channel::Process process(std::int32_t pid, Nanoseconds counted, bool handed_back = false) {
  channel::Process record{};
  record.state = channel::State::ended;
  record.pid = pid;
  record.counted_ns = static_cast<std::uint64_t>(counted.count());
  if (handed_back) record.handed_back_ns = record.counted_ns;
  return record;
}

TEST(HandedBack, reports_when_the_native_part_begins) {
  EXPECT_EQ(with_moments("a: it was killed", {}), "a: it was killed");
  EXPECT_EQ(with_moments("a: it went on natively", {ms(20)}),
            "a: it went on natively, from 20.00 ms of its processor time on");
  EXPECT_EQ(with_moments("a: it was traced", {ms(20)}),
            "a: it was traced; natively from 20.00 ms of its processor time on");
  EXPECT_EQ(with_moments("a: it went on natively", {ms(20), ms(1500), ms(3)}),
            "a: it went on natively, from 3.000 ms to 1.500 s of the processor time of 3 processes on");
}

TEST(HandedBack, reports_how_much_ran_natively) {
  const channel::Process left = process(1, ms(20), true), whole = process(2, ms(80)), first = process(3, ms(10)),
                         next = process(3, ms(100));
  EXPECT_EQ(native_share({&left}, false, ms(2000)), "99.0 % of the command's 2.000 s of processor time ran natively");
  EXPECT_EQ(native_share({&left, &whole}, false, ms(200)),
            "50.0 % of the command's 200.0 ms of processor time ran natively");
  // A program that a process executes continues its time.
  EXPECT_EQ(native_share({&first, &next}, true, ms(400)),
            "75.0 % of the command's 400.0 ms of processor time ran natively");
}

TEST(HandedBack, reports_nothing_if_nothing_is_missing_or_it_is_unknown) {
  const channel::Process whole = process(2, ms(80)), killed = process(3, ms(0)), left = process(1, ms(20), true);
  EXPECT_EQ(native_share({&whole}, false, ms(100)), "");
  EXPECT_EQ(native_share({&left, &killed}, false, ms(100)), "");
  EXPECT_EQ(native_share({&left}, false, ms(0)), "");
  // The kernel's clocks differ a little.
  EXPECT_EQ(native_share({&left}, false, ms(19)), "0 % of the command's 19.00 ms of processor time ran natively");
}

}  // namespace
}  // namespace tally::backend::engine
