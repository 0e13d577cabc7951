// Tests codes in the notation of perf, the manuals and HPCTool.
#include <gtest/gtest.h>

#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::event {
namespace {

const Sources nowhere{"/nowhere", "hsw"};
const Sources zen_only{"/nowhere", "amd64_fam19h_zen4"};

struct Case {
  const char* text;
  Id id;
  Mode mode;
  std::uint64_t config;
};

TEST(Codes, mean_the_same_in_every_notation) {
  const Case cases[] = {
      {"r00c4", Id::branches, Mode::user, 0xC4},
      {"rC4", Id::branches, Mode::user, 0xC4},
      {"r00c4:k", Id::branches, Mode::kernel, 0xC4},
      {"0x4100C4", Id::branches, Mode::user, 0xC4},
      {"0x4200C4", Id::branches, Mode::kernel, 0xC4},
      {"4300c4h", Id::branches, Mode::both, 0xC4},
      {"5300C0H", Id::instructions, Mode::both, 0xC0},
      {"0X4100c5", Id::branch_misses, Mode::user, 0xC5},
      {"0x414F2E", Id::cache_references, Mode::user, 0x4F2E},
      {"0x41412E", Id::cache_misses, Mode::user, 0x412E},
      {"0x4101C4", Id::conditional_branches, Mode::user, 0x1C4},
      {"0x4120C4", Id::near_branches_taken, Mode::user, 0x20C4},
      {"0x41003C", Id::cycles, Mode::user, 0x3C},
      {"0x4101C2", Id::code, Mode::user, 0x1C2},
      {"0x4181D0", Id::retired_loads, Mode::user, 0x81D0},
      {"0x4120D1", Id::llc_load_misses, Mode::user, 0x20D1},
      {"0x4140D1", Id::code, Mode::user, 0x40D1},
      {"0x24100C4", Id::code, Mode::user, 0x20000C4},  // CMASK 2
      {"0x4500C4", Id::code, Mode::user, 0x400C4},     // E
      {"0x2C100C4", Id::code, Mode::user, 0x28000C4},  // CMASK 2, INV
      {"r1ffffffffc4", Id::code, Mode::user, 0},
  };
  for (const Case& one : cases) {
    const auto event = parse(one.text, nowhere);
    if (one.config == 0) {
      EXPECT_FALSE(event) << one.text;
      continue;
    }
    ASSERT_TRUE(event) << one.text << ": " << event.error().message;
    EXPECT_EQ(event->id, one.id) << one.text;
    EXPECT_EQ(event->mode, one.mode) << one.text;
    ASSERT_TRUE(event->encoding) << one.text;
    EXPECT_EQ(event->encoding->config, one.config) << one.text;
    EXPECT_EQ(event->encoding->type, perf_type_raw) << one.text;
  }
}

TEST(Codes, uops_retired_is_no_cache_miss) {
  const auto line = known_code(*parse("0x4101C2", nowhere)->encoding);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "UOPS_RETIRED.ALL");
  EXPECT_NE(line->remark.find("L3 cache miss"), std::string_view::npos);
}

TEST(Codes, control_bits_are_dropped_with_a_note) {
  EXPECT_TRUE(parse("r00c4", nowhere)->notes.empty());
  const auto enabled = parse("0x4100C4", nowhere);
  ASSERT_EQ(enabled->notes.size(), 1u);
  EXPECT_NE(enabled->notes[0].find("EN (bit 22) is ignored"), std::string::npos);
  EXPECT_NE(parse("5300C0H", nowhere)->notes[0].find("EN and INT"), std::string::npos)
      << parse("5300C0H", nowhere)->notes[0];
  EXPECT_NE(parse("0x1100C0", nowhere)->notes[0].find("INT (bit 20)"), std::string::npos);
  EXPECT_NE(parse("0x4000C4", nowhere)->notes[1].find("neither USR nor OS"), std::string::npos);
  EXPECT_NE(parse("0xC100C4", nowhere)->notes[1].find("INV has no effect without CMASK"), std::string::npos);
}

TEST(Codes, pin_control_and_any_thread_are_refused_by_name) {
  const auto pin = parse("0x4900C4", nowhere);
  ASSERT_FALSE(pin);
  EXPECT_NE(pin.error().message.find("PC (bit 19)"), std::string::npos);
  EXPECT_EQ(pin.error().hint, "without it: 0x4100C4");
  const auto any = parse("6100C4H", nowhere);
  ASSERT_FALSE(any);
  EXPECT_NE(any.error().message.find("ANY (bit 21)"), std::string::npos);
  EXPECT_EQ(any.error().hint, "without it: 0x4100C4");
  EXPECT_FALSE(parse("0x10000004100C4", nowhere));
}

TEST(Codes, a_mode_is_stated_once) {
  EXPECT_TRUE(parse("0x4100C4:u", nowhere));
  EXPECT_FALSE(parse("0x4100C4:k", nowhere));
  EXPECT_EQ(parse("0x4000C4:k", nowhere)->mode, Mode::kernel);
}

TEST(Codes, report_the_event_that_they_count) {
  EXPECT_EQ(counted_as(*parse("r00c4", nowhere)),
            "r00c4:u is counted as branches: Intel's BR_INST_RETIRED.ALL_BRANCHES (C4/00)");
  EXPECT_EQ(counted_as(*parse("r01c2", nowhere)), "");
}

TEST(Codes, a_note_reports_another_vendors_processor) {
  const auto event = parse("r00c4", zen_only);
  ASSERT_EQ(event->notes.size(), 1u);
  EXPECT_NE(event->notes[0].find("RETIRED_TAKEN_BRANCH_INSTRUCTIONS"), std::string::npos) << event->notes[0];
  EXPECT_TRUE(parse("r00c4", nowhere)->notes.empty());
  Sources newer{"/nowhere", "newer than libpfm4"};
  newer.own_family = Family::amd_zen;
  const auto there = parse("r00c4", newer);
  ASSERT_EQ(there->notes.size(), 1u);
  EXPECT_NE(there->notes[0].find("(AMD's) it is RETIRED_TAKEN"), std::string::npos) << there->notes[0];
}

TEST(Codes, invalid_codes_are_reported) {
  for (const char* text : {"0x", "0xg", "0x1g", "0x4100C4:", "0x11223344556677889", "r", "r00c4:q"}) {
    EXPECT_FALSE(parse(text, nowhere)) << text;
  }
}

TEST(KnownCodes, are_found_by_their_families) {
  for (const KnownCode& line : known_codes()) {
    for (int family = 1; family <= static_cast<int>(Family::amd_zen); ++family) {
      if (!(line.families & 1U << family)) continue;
      const Encoding encoding{static_cast<Family>(family), "", {}, line.event | std::uint64_t{line.umask} << 8, 0, 0};
      EXPECT_EQ(known_code(encoding)->name, line.name) << "a second line has the same code";
    }
    if (line.id) {
      EXPECT_NE(*line.id, Id::code);
    }
  }
}

}  // namespace
}  // namespace tally::event
