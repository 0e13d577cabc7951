// Tests random texts in every build: valid fragments in random order. The fuzzer covers more.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tally/hardware/event/any_text_testing.hpp"
#include "tally/hardware/event/catalog.hpp"

namespace tally::event {
namespace {

constexpr const char* fragments[] = {"instructions",
                                     "cycles",
                                     "loads",
                                     "cs",
                                     "r00c4",
                                     "0x4100C4",
                                     "5300C0H",
                                     "hsw::",
                                     "UOPS_RETIRED",
                                     "ALL",
                                     "INST_RETIRED",
                                     "ANY_P",
                                     "cpu/",
                                     "/",
                                     "event=",
                                     "umask=",
                                     "cmask=",
                                     "inv",
                                     "edge",
                                     "name=x",
                                     "config=",
                                     "0xc4",
                                     "0x1",
                                     "255",
                                     "256",
                                     "c=2",
                                     "i",
                                     "e",
                                     "u",
                                     "k",
                                     "uk",
                                     "p",
                                     ":",
                                     "::",
                                     ",",
                                     "{",
                                     "}",
                                     "=",
                                     ".",
                                     " ",
                                     "apple_m1::",
                                     "INST_ALL",
                                     "armv8_pmuv3/",
                                     "ffffffffffffffff",
                                     "99999999999999999999",
                                     "\t",
                                     "\xff",
                                     "\x01",
                                     "",
                                     "-1"};

// Texts as people write them: several events, some with modes and conditions.
TEST(RandomText, of_events_with_modes_and_conditions_gives_those_events) {
  constexpr const char* events[] = {"instructions",
                                    "cs",
                                    "page-faults",
                                    "bus-cycles",
                                    "r00c4",
                                    "0x4100C4",
                                    "4100C2H",
                                    "hsw::UOPS_RETIRED:ALL",
                                    "INST_RETIRED:ANY_P",
                                    "cpu/event=0xc4,umask=0x1/",
                                    "cpu/branches/",
                                    "armv8_pmuv3/event=0x8/",
                                    "apple_m1::INST_ALL",
                                    "LLC-store-misses"};
  constexpr const char* endings[] = {"", ":u", ":k", ":uk", ":ku", ":c=2", ":i:c=2", ":e", "u", "k", ":p", ":"};
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      if (!text.empty()) text += ',';
      text += events[random() % std::size(events)];
      text += endings[random() % std::size(endings)];
    }
    check_any_text(random() % 4 == 0 ? "{" + text + "}:k" : text);
  }
}

TEST(RandomText, of_known_fragments_gives_events_or_errors_with_a_message) {
  std::mt19937 random(20240229);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (auto n = 1 + random() % 9; n > 0; --n) text += fragments[random() % std::size(fragments)];
    check_any_text(text);
  }
}

TEST(RandomText, of_any_bytes_gives_events_or_errors_with_a_message) {
  std::mt19937 random(42);
  for (int i = 0; i < 300; ++i) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = static_cast<char>(random() % 256);
    check_any_text(text);
  }
  check_any_text(std::string(100'000, 'a'));
  check_any_text(std::string(100'000, '{'));
  check_any_text(std::string(100'000, ':'));
  check_any_text("cpu/" + std::string(100'000, ',') + "/");
}

// Names with one wrong letter: an error that suggests similar names, or another event.
TEST(RandomText, misspelled_names_are_parsed_or_refused) {
  std::mt19937 random(7);
  const auto entries = catalog(Reach::wide, {"/nowhere", "hsw"});
  for (int i = 0; i < 300; ++i) {
    std::string text = entries[random() % entries.size()].name;
    text[random() % text.size()] = static_cast<char>('!' + random() % 94);
    check_any_text(text);
  }
}

TEST(RandomText, patterns_of_any_kind_end) {
  const Entry entry{Origin::table, "branch-misses", {"branch-load-misses"}, ""};
  EXPECT_TRUE(matches(entry, "b*-[l-n]isses"));
  EXPECT_TRUE(matches(entry, "*LOAD*"));
  EXPECT_TRUE(matches(entry, "?ranch[!a]misses"));
  EXPECT_FALSE(matches(entry,
                       "branch"
                       "?"));
  EXPECT_TRUE(matches(entry, ""));
  for (const char* pattern : {"[", "[]", "[!", "*[", "[z-a]", "****************b", "[[[[", "]*"})
    matches(entry, pattern);
  const Entry long_one{Origin::table, std::string(2000, 'a'), {}, ""};
  EXPECT_FALSE(matches(long_one, "*a*a*a*a*a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace tally::event
