#include "programs/rdpmc/state.hpp"

#include <gtest/gtest.h>

namespace tally::rdpmc {
namespace {

State hybrid() {
  return {{1234, 567},
          {{"cpu_core", 1, 2}, {"cpu_atom", 0, 2}},
          {{linux::CounterPlace{0x40000000, 48}, "0-3,8", "instructions:u"}, {std::nullopt, "9", "my own name:u"}}};
}

TEST(State, is_read_as_it_was_written) {
  const auto state = parse_state(text_of(hybrid()));
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(*state, hybrid());
}

TEST(State, a_truncated_text_is_refused) {
  const std::string text = text_of(hybrid());
  // All prefixes of whole lines.
  for (std::size_t end = text.find('\n'); end + 1 < text.size(); end = text.find('\n', end + 1)) {
    EXPECT_FALSE(parse_state(text.substr(0, end + 1))) << end;
  }
  EXPECT_FALSE(parse_state(""));
  EXPECT_FALSE(parse_state("tally-rdpmc/2" + text.substr(text.find('\n'))));
  EXPECT_FALSE(parse_state("tally-rdpmc/1\nholder x 1\nend\n"));
  EXPECT_FALSE(parse_state("tally-rdpmc/1\nholder 1 1\nswitch cpu 1\nend\n"));
  EXPECT_FALSE(parse_state("tally-rdpmc/1\nholder 1 1\nelse 1\nend\n"));
}

}  // namespace
}  // namespace tally::rdpmc
