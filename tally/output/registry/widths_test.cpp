// Tables of all kinds at the widths of common terminals: lines fit, numbers are unbroken, names stay different.
#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/memory_format.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/snippet_format.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/kit/terminal_widths_testing.hpp"
#include "tally/output/result/sample_memory_testing.hpp"

namespace tally::output {
namespace {

TEST(Widths, memory) {
  expect_fit([](std::size_t terminal) { return memory_table(sample_memory(), terminal); }, 200);
  expect_fit([](std::size_t terminal) { return memory_table(sample_counted_memory(), terminal); }, 200);
}

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
  EXPECT_EQ(regions_table(program, 0).find("4712"), std::string::npos);
  EXPECT_NE(regions_table(program, 0, true).find("\n   4712    1,000  instructions:u"), std::string::npos)
      << regions_table(program, 0, true);
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
  writer->end(text);
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
  EXPECT_EQ(windows(80).find("window  time/ms program   thread ins"), 0u) << windows(80);
  EXPECT_NE(windows(80).find("\n 1,234 1234.567 a-pr…1-x  123456  50,000   "
                             "7,213  14,511   9,870 0x7ffff7dd5f3a\n"),
            std::string::npos)
      << windows(80);
  EXPECT_NE(windows(80).find(" a-pr…2-x "), std::string::npos);
}

}  // namespace
}  // namespace tally::output
