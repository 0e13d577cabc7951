// Impossible numbers in stored results: each is an error or is read unchanged, never as another number.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/impossible_numbers_testing.hpp"
#include "tally/output/result/sample_stat_testing.hpp"
#include "tally/output/result/stored.hpp"
#include "tally/output/result/stored_profile.hpp"

namespace tally::output {
namespace {

using Json = nlohmann::ordered_json;

TEST(StoredNumbers, of_counts_are_never_others) {
  for (const result::Stat& stat : {sample(), sample_processes(), sample_series(3), sample_corrected()}) {
    const Style style{true, true};
    expect_no_other_number(*json(stat, style), [&](const std::string& text) -> std::optional<std::string> {
      const auto read = result::read_stats(text, "file");
      return read ? std::optional(*json(read->front(), style)) : std::nullopt;
    });
  }
}

TEST(StoredNumbers, a_negative_count_is_reported_with_its_location) {
  Json whole = Json::parse(*json(sample(), {}));
  whole["events"][0]["value"] = -1;
  const auto read = result::read_stats(whole.dump(), "file");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("/events/0/value"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("negative"), std::string::npos) << read.error().message;
}

result::Profile profile() {
  result::Profile made;
  made.stat.command = {"prog"};
  made.stat.events.emplace_back();
  made.stat.events.front().total.event = "instructions:u";
  made.stat.events.front().total.name = {"instructions", Mode::user};
  made.stat.events.front().total.count = exact(300, Source::engine);
  made.owners.emplace_back();
  made.objects = {{"/bin/prog"}};
  made.sources = {"", "a.c"};
  for (const std::uint64_t address : {0x1000, 0x2000}) {
    result::ProfileFunction function;
    function.name = address == 0x1000 ? "f" : "g";
    function.address = address;
    made.functions.push_back(function);
    result::ProfileRow row;
    row.function = static_cast<std::uint32_t>(made.functions.size() - 1);
    row.source = 1;
    row.line = 7;
    row.address = address;
    made.rows.push_back(row);
    made.counts.push_back(address == 0x1000 ? 100 : 200);
  }
  made.repeated = made.unplaced = {0};
  return made;
}

TEST(StoredNumbers, of_profiles_are_never_others) {
  ASSERT_TRUE(result::read_profile(profile_json(profile(), {}), "file"));
  expect_no_other_number(profile_json(profile(), {}), [](const std::string& text) -> std::optional<std::string> {
    const auto read = result::read_profile(text, "file");
    return read ? std::optional(profile_json(*read, {})) : std::nullopt;
  });
}

TEST(StoredNumbers, whose_sum_overflows_are_refused) {
  result::Profile large = profile();
  large.counts = {std::numeric_limits<std::int64_t>::max(), 1};
  const auto read = result::read_profile(profile_json(large, {}), "file");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("2^63"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace tally::output
