#include "tally/output/data/chrome_trace.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tally::output {
namespace {

/// Slices of two threads of a command, in the order of their ends.
nlohmann::json slices(const std::string& command, const std::string& start = "") {
  result::WindowsHead head;
  head.command = {command};
  head.start = start;
  const auto writer = make_chrome_trace();
  std::string text;
  writer->begin(head, text);
  for (const auto& [tid, number, time] : {std::tuple{7, 1, 2000}, {8, 1, 2500}, {7, 2, 5000}, {8, 2, 6000}}) {
    result::Window window;
    window.program = "prog";
    window.pid = 7;
    window.tid = tid;
    window.number = static_cast<std::uint64_t>(number);
    window.time = Nanoseconds{time};
    writer->row(window, text);
  }
  writer->end(head, text);
  return nlohmann::json::parse(text)["traceEvents"];
}

TEST(ChromeTrace, first_window_of_the_command_begins_with_the_measurement) {
  const nlohmann::json made = slices("./prog");
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[0]["ts"], 0.0);
  EXPECT_EQ(made[0]["dur"], 2.0);
  EXPECT_EQ(made[1]["ts"], 2.5) << "another thread: its begin is not recorded";
  EXPECT_EQ(made[1]["dur"], 0.0);
  EXPECT_EQ(made[2]["ts"], 2.0);
  EXPECT_EQ(made[2]["dur"], 3.0);
}

TEST(ChromeTrace, has_the_reasons_for_absent_events) {
  result::WindowsHead head;
  head.events.push_back({"fp-operations", {"fp-operations", Mode::user}, Unit::events, absent("no PMU")});
  const auto writer = make_chrome_trace();
  std::string text;
  writer->begin(head, text);
  writer->end(head, text);
  const nlohmann::json trace = nlohmann::json::parse(text);
  EXPECT_EQ(trace["otherData"]["fp-operations:u"], "absent: no PMU");
  EXPECT_TRUE(trace["traceEvents"].empty());
}

TEST(ChromeTrace, first_window_has_no_length_if_its_begin_is_not_recorded) {
  EXPECT_EQ(slices("other")[0]["dur"], 0.0);
  EXPECT_EQ(slices("./prog", "main")[0]["dur"], 0.0);
}

}  // namespace
}  // namespace tally::output
