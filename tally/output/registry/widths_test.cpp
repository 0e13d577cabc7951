// Tables of all kinds at the widths of common terminals: lines fit, numbers are unbroken, names stay different.
#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/snippet_format.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/kit/terminal_widths_testing.hpp"

namespace tally::output {
namespace {

TEST(Widths, code) {
  result::Snippet snippet;
  snippet.code =
      "imul r12, r11; imul r12, r11; imul r12, r11; imul r12, r11; "
      "imul r12, r11; imul r12, r11";
  Ratio each;
  each.value = 1234567.25;
  each.trust = Trust::modelled;
  each.model = "haswell of a long name";
  each.reason = "a model of the core, which has no other threads and no interrupts";
  snippet.events = {{"instructions", {"instructions", Mode::user}, each, 100, 1234567.0, 1234568.5},
                    {"cycles", {"cycles", Mode::user}, each, 100, {}, {}}};
  snippet.chains = {{"latency",
                     "imul r12, r11; imul r11, r12; imul r12, r11; imul r11, "
                     "r12; imul r12, r11",
                     3, ""}};
  expect_fit([&](std::size_t terminal) { return snippet_table(snippet, terminal); }, 200);
}

TEST(Widths, regions) {
  result::ProgramRegions program;
  program.command = {"prog"};
  RegionResult region;
  region.name = "sort";
  region.all.entries = 1000;
  RegionEvent event;
  event.event = {"instructions", Mode::user};
  event.total = exact(123'456'789'012, Source::none);
  event.total.reason = "the region was entered by several threads that ran at the same time";
  event.least = 123'456'789;
  event.most = 987'654'321;
  region.all.events = {event};
  region.threads = {{4711, region.all}, {4712, region.all}};
  program.regions = {region};
  expect_fit([&](std::size_t terminal) { return regions_table(program, terminal); }, 200);
  expect_fit([&](std::size_t terminal) { return regions_table(program, terminal, true); }, 200);
  EXPECT_NE(regions_table(program, 60).find(" trust\n"), std::string::npos) << "left out last";
  EXPECT_EQ(regions_table(program, 0).find("4712"), std::string::npos);
  EXPECT_NE(regions_table(program, 0, true).find("\n   4712    1,000  instructions:u"), std::string::npos)
      << regions_table(program, 0, true);
}

// 500 functions of C++ templates, whose names differ in the middle.
result::Profile templates() {
  result::Profile profile;
  profile.stat.command = {"prog"};
  for (const char* const name : {"instructions", "loads", "stores"}) {
    result::Event& event = profile.stat.events.emplace_back();
    event.total.event = name;
    event.total.name = {name, Mode::user};
    event.total.count = exact(600'000'000'000, Source::engine);
  }
  profile.owners.emplace_back();
  profile.objects = {{"/usr/lib/x86_64-linux-gnu/libexample-with-a-long-name.so.6.0.30"}};
  profile.sources = {"", "/usr/include/c++/12/bits/hashtable_policy.h"};
  for (std::uint32_t i = 0; i < 500; ++i) {
    result::ProfileFunction function;
    function.name = "std::_Hashtable<" + std::string(400, 'k') + std::to_string(i) + std::string(400, 'v') +
                    ">::_M_insert<" + std::to_string(i) + ">(int const&, std::allocator<char>)";
    function.address = 0x1000 + 16 * i;
    function.entered = 1'234'567 + i;
    function.source = 1;
    function.line = 2'000 + i;
    profile.functions.push_back(function);
    result::ProfileRow row;
    row.function = i;
    row.source = 1;
    row.line = function.line;
    row.address = function.address;
    profile.rows.push_back(row);
    for (const std::int64_t count : {1'200'000'000, 868'896'123, 12'345}) profile.counts.push_back(count - i);
  }
  profile.repeated = profile.unplaced = {0, 0, 0};
  return profile;
}

// The first cells of the rows of functions.
std::vector<std::string> row_names(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : split(text, '\n'))
    if (line.find(" 0.20 %") != std::string::npos) found.push_back(line.substr(0, line.find(' ', 1)));
  return found;
}

TEST(Widths, profiles_of_500_templates) {
  const result::Profile profile = templates();
  for (const ProfileBy by : {ProfileBy::function, ProfileBy::line}) {
    const std::string whole = profile_table(profile, {.by = by, .most = 0});
    for (const std::size_t terminal : {40u, 60u, 80u, 120u, 200u}) {
      const std::string text = profile_table(profile, {.by = by, .most = 0, .terminal = terminal});
      EXPECT_LE(widest(text), terminal) << text;
      expect_numbers(text, whole);
      if (by == ProfileBy::line) continue;
      const std::vector<std::string> shown = row_names(text);
      EXPECT_EQ(shown.size(), 500u) << "one line for each\n" << text;
      EXPECT_EQ(std::set(shown.begin(), shown.end()).size(), 500u) << "all differ\n" << text;
      EXPECT_EQ(text.find("left out") != std::string::npos, terminal < 120) << text;
    }
  }
}

TEST(Widths, comparisons_of_templates) {
  result::Profile slower = templates();
  for (std::size_t i = 0; i < slower.counts.size(); i += 3) slower.counts[i] += 1'000'000;
  slower.stat.events[0].total.count = exact(600'500'000'000, Source::engine);
  const auto before = comparable_of(templates()), after = comparable_of(slower);
  ASSERT_TRUE(before && after);
  const auto judged = compare_and_judge(*before, *after, {});
  ASSERT_TRUE(judged) << judged.error().message;
  const auto table = [&](std::size_t terminal) {
    return comparison_table(*judged, {.most_rows = 0, .terminal = terminal});
  };
  const std::string whole = table(0);
  for (const std::size_t terminal : {40u, 60u, 80u, 120u, 200u}) {
    EXPECT_LE(widest(table(terminal)), terminal) << table(terminal);
    expect_numbers(table(terminal), whole);
  }
}

std::string windows(std::size_t terminal) {
  result::WindowsHead head;
  head.triggers = {{{"instructions", Mode::user}, 50'000}};
  for (const char* name : {"instructions", "branches", "loads", "stores"}) {
    result::EventCount event;
    event.event = name;
    event.name = {name, Mode::user};
    head.events.push_back(event);
    head.places.push_back(head.places.size());
  }
  const std::int64_t counts[] = {50'000, 7'213, 14'511, 9'870};
  const auto writer = make_window_table(terminal);
  std::string text;
  writer->begin(head, text);
  for (const char* program : {"a-program-1-x", "a-program-2-x", "sh"}) {
    result::Window window;
    window.program = program;
    window.number = 1234;
    window.time = std::chrono::microseconds(1'234'567);
    window.pid = window.tid = 123'456;
    window.trigger = 0;
    window.address = 0x7ffff7dd5f3a;
    window.counts = counts;
    if (window.program == "a-program-2-x") {
      window.function =
          "std::vector<int, std::allocator<int>>::_M_realloc_insert<int "
          "const&>(int const&)";
      window.line = "/usr/include/c++/12/bits/vector.tcc:439";
    }
    if (window.program == "sh") window.trigger.reset();
    window.partial = !window.trigger;
    writer->row(window, text);
  }
  writer->end(head, text);
  return text;
}

TEST(Widths, windows) {
  const std::string whole = windows(0);
  EXPECT_TRUE(
      whole.starts_with("  window    time/ms program       thread instructions "
                        "  branches      loads     stores  "
                        "last instruction\n   1,234   1234.567 a-program-1-  "
                        "123456       50,000      7,213"))
      << whole;
  for (const std::size_t terminal : {60u, 80u}) {
    EXPECT_LE(widest(windows(terminal)), terminal) << windows(terminal);
    expect_numbers(windows(terminal), whole);
    EXPECT_NE(windows(terminal).find("0x7ffff7dd5f3a"), std::string::npos);
  }
  EXPECT_EQ(windows(80).find(" bra…hes branches, ins…ons instructions\nwindow  time/ms program   thread ins"), 0u)
      << windows(80);
  EXPECT_NE(windows(80).find("\n 1,234 1234.567 a-pr…1-x  123456  50,000   "
                             "7,213  14,511   9,870 0x7ffff7dd5f3a\n"),
            std::string::npos)
      << windows(80);
  EXPECT_NE(windows(80).find(" a-pr…2-x "), std::string::npos);
}

}  // namespace
}  // namespace tally::output
