// `tally profile` of modelled events: misses, wrong predictions, and cycles by address.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;
using Rows = std::map<std::string, std::vector<std::int64_t>>;

const char* const misses =
    "L1-dcache-load-misses,L1-dcache-store-misses,L1-icache-load-misses,L2-misses,LLC-load-misses,dTLB-load-misses";
enum Column { loads, stores, fetches, second, last, pages };

/// Each function has a row, and every counted event has a location.
Rows profiled(const std::string& events, Words words) {
  const TemporaryFile file("profile.json");
  words.insert(words.begin(),
               {"profile", "-q", "--model", "haswell", "-e", events, "--format", "json", "-o", file.path()});
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const Json json = Json::parse(file.content().value_or(""), nullptr, false);
  Rows rows;
  if (!json.is_object()) {
    ADD_FAILURE() << finished.err;
    return rows;
  }
  for (const Json& event : json["events"]) {
    EXPECT_EQ(event["not_placed"], 0) << event["name"];
    EXPECT_EQ(event["trust"], event["name"] == "instructions:u" ? "exact" : "modelled") << event["name"];
  }
  for (const Json& function : json["functions"]) {
    auto& row = rows[function["name"]];
    row.resize(json["events"].size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += function["counts"][i].get<std::int64_t>();
  }
  return rows;
}

Rows totals(const Rows& rows) {
  Rows made;
  for (const auto& [name, row] : rows) {
    auto& sum = made[""];
    sum.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) sum[i] += row[i];
  }
  return made;
}

/// Calls are followed by the code that also asks the models, and change nothing that is modelled.
TEST(ProfileOfCycles, of_calls_have_the_sums_of_functions_and_of_the_program) {
  for (const char* const what : {"strings", "cycle"}) {
    SCOPED_TRACE(what);
    for (const char* const events : {"branch-misses,L1-dcache-load-misses", "cycles,instructions"})
      EXPECT_EQ(profiled(events, {"--repeatable", "--calls", "--", STACKED, what}),
                profiled(events, {"--repeatable", "--", STACKED, what}));
    const TemporaryFile folded("stacks.txt");
    ASSERT_EQ(tally({"profile", "-q", "--repeatable", "--model", "haswell", "-e", "cycles", "--format", "folded", "-o",
                     folded.path(), "--", STACKED, what})
                  .code(),
              0);
    std::istringstream lines(folded.content().value_or(""));
    std::int64_t sum = 0;
    for (std::string line; std::getline(lines, line);) sum += std::stoll(line.substr(line.rfind(' ') + 1));
    EXPECT_EQ(sum, totals(profiled("cycles", {"--repeatable", "--", STACKED, what})).at("").at(0));
  }
}

/// Of every event, the calls contain most of what the program counted.
TEST(ProfileOfCycles, of_calls_are_complete_with_four_exact_events) {
  for (const char* const events : {"cycles,branches,loads,stores", "branches,loads,stores,instructions,cycles"}) {
    const Finished finished = tally(
        {"profile", "-q", "--model", "haswell", "--calls", "-e", events, "--format", "json", "--", STACKED, "cycle"});
    const Json json = Json::parse(finished.err, nullptr, false);
    ASSERT_TRUE(json.is_object()) << finished.err;
    for (std::size_t e = 0; e < 5; ++e) {
      std::int64_t most = 0;
      for (const Json& call : json["calls"]) most = std::max(most, call["inclusive"][e].get<std::int64_t>());
      EXPECT_GT(most, json["events"][e]["value"].get<std::int64_t>() / 4) << events << json["events"][e]["name"];
    }
  }
}

/// Of a cause of the core alone no misses are recorded, and AMD's models have the most values at each instruction.
TEST(ProfileOfCycles, of_every_model_and_of_a_single_cause_are_those_of_the_program) {
  for (const char* model : {"zen5", "zen2", "granite-rapids", "bonnell"})
    for (const char* event : {"cycles", "cycles-core", "pipeline-slots"}) {
      const Finished finished =
          tally({"profile", "-q", "--model", model, "-e", event, "--format", "json", "--", "true"});
      const Json json = Json::parse(finished.err, nullptr, false);
      if (!json.is_object()) {
        ADD_FAILURE() << model << finished.err;
        continue;
      }
      std::int64_t sum = 0;
      for (const Json& function : json["functions"]) {
        EXPECT_GE(function["counts"][0], 0) << model << event << function["name"];
        sum += function["counts"][0].get<std::int64_t>();
      }
      EXPECT_EQ(json["events"][0]["not_placed"], 0) << model << event;
      EXPECT_EQ(sum, json["events"][0]["value"]) << model << event;
    }
}

class ProfileOfModels : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

TEST_F(ProfileOfModels, has_misses_where_they_are) {
  const Rows rows = profiled(misses, {"--repeatable", "--", MISSING});
  // On that machine the first level holds 512 lines and the second 4,096; the block has 8,192. A function that has read
  // more than that returns by an address that is in no level any more, in a page of its own.
  EXPECT_EQ(rows.at("strides")[loads], 8192 + 1);
  EXPECT_EQ(rows.at("strides")[second], 8192 + 1);
  EXPECT_EQ(rows.at("strides")[last], 8192);
  EXPECT_EQ(rows.at("strides")[pages], 128 + 1);
  EXPECT_EQ(rows.at("across")[loads], 8191 + 1) << "accesses, all of which miss";
  EXPECT_EQ(rows.at("across")[second], 8192 + 2) << "lines, one of them code";
  EXPECT_EQ(rows.at("across")[last], 0) << "all of it fits into the last level";
  EXPECT_EQ(rows.at("stays")[loads], 16);
  EXPECT_EQ(rows.at("copies")[loads], 1024 + 1);
  EXPECT_EQ(rows.at("copies")[stores], 1024);
  EXPECT_EQ(rows.at("guesses")[loads], 0);
}

/// Whichever threads run the models: the same instruction by instruction, and in total what `tally stat` counts.
TEST_F(ProfileOfModels, are_the_same_by_access_records_and_by_access_logs) {
  using Run = std::pair<std::string, Words>;
  const std::string predicted = "branch-misses,cycles";
  for (const auto& [all, program] :
       {Run{misses, {MISSING}}, Run{misses, {MISSING, "fork"}}, Run{misses, {"/bin/ls", "-l", "/usr/bin"}},
        Run{predicted, {MISSING}}, Run{predicted, {"/bin/ls", "/"}}}) {
    SCOPED_TRACE(all + " " + program.back());
    const Rows usual = profiled(all, with({"--repeatable", "--"}, program));
    for (const Words& way : {Words{"--model-threads", "0"}, Words{"--models-by", "each"}}) {
      SCOPED_TRACE(way[0]);
      const Rows other = profiled(all, with(way, with({"--repeatable", "--"}, program)));
      for (const auto& [name, row] : usual) EXPECT_EQ(other.at(name), row) << name;
    }
    const Finished stat =
        tally(with({"stat", "-q", "--repeatable", "--model", "haswell", "-e", all, "--format", "json", "--"}, program));
    const Json json = Json::parse(stat.err, nullptr, false);
    ASSERT_TRUE(json.is_object()) << stat.err;
    const auto sum = totals(usual).at("");
    for (std::size_t i = 0; i < json["events"].size(); ++i)
      EXPECT_EQ(sum[i], json["events"][i]["value"]) << json["events"][i]["event"];
  }
}

/// The first run translates the code and stores it, the others use what is stored: sites are at other addresses there.
TEST_F(ProfileOfModels, are_the_same_with_stored_code) {
  const TemporaryFile folder("cache");
  const std::string before = getenv("TALLY_CACHE_DIR") != nullptr ? getenv("TALLY_CACHE_DIR") : "";
  setenv("TALLY_CACHE_DIR", folder.path().c_str(), 1);
  const std::string of_addresses_in_pages = "L1-dcache-load-misses,L1-dcache-store-misses";
  const Rows first = profiled(of_addresses_in_pages, {"--", MISSING});
  for (int run = 0; run < 2; ++run) {
    const Rows again = profiled(of_addresses_in_pages, {"--", MISSING});
    for (const char* const function : {"strides", "across", "stays", "copies"})
      EXPECT_EQ(again.at(function), first.at(function)) << function;
  }
  EXPECT_GT(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing was stored";
  before.empty() ? unsetenv("TALLY_CACHE_DIR") : setenv("TALLY_CACHE_DIR", before.c_str(), 1);
  std::filesystem::remove_all(folder.path());
}

TEST_F(ProfileOfModels, have_threads_and_children) {
  EXPECT_EQ(profiled(misses, {"--", MISSING, "fork"}).at("strides")[loads], 2 * 8193);
  EXPECT_EQ(profiled(misses, {"--", MISSING, "threads"}).at("strides")[loads], 2 * 8193);
}

TEST_F(ProfileOfModels, locate_predictions_and_cycles) {
  const Rows rows = profiled("branch-misses,cycles,instructions", {"--repeatable", "--", MISSING});
  enum { wrong, cycles, instructions };
  EXPECT_GT(rows.at("guesses")[wrong], 5000);
  EXPECT_LT(rows.at("guesses")[wrong], 15000);
  EXPECT_LT(rows.at("stays")[wrong], 100);
  // A wrong prediction takes longer than anything else there; lines from memory do, too, although they are a stream.
  EXPECT_GT(rows.at("guesses")[cycles], 10 * rows.at("guesses")[wrong]);
  EXPECT_GT(rows.at("strides")[cycles], 15 * 8192);
  EXPECT_LT(rows.at("stays")[cycles], rows.at("stays")[instructions] + 16 * 300);
  EXPECT_GT(rows.at("stays")[cycles], rows.at("stays")[instructions] / 4);
}

TEST_F(ProfileOfModels, are_counted_in_full_precision) {
  const Rows rows = profiled(misses, {"--precision", "full", "--prefetch", "off", "--", MISSING});
  EXPECT_EQ(rows.at("strides")[loads], 8192 + 1);
}

TEST_F(ProfileOfModels, are_what_a_killed_program_had) {
  const TemporaryFile file("profile.json");
  const Finished finished = tally({"profile", "-q", "--model", "haswell", "-e", misses, "--format", "json", "-o",
                                   file.path(), "--", "/bin/sh", "-c", std::string(MISSING) + "; kill -9 $$"});
  EXPECT_EQ(finished.code(), 128 + 9);
  EXPECT_NE(file.content().value_or("").find("strides"), std::string::npos);
}

/// Jumps also reach some functions of the dynamic linker.
TEST_F(ProfileOfModels, have_empty_callees_for_the_same_functions_in_any_order_of_events) {
  const auto without = [](const std::string& events) {
    const Finished finished = tally(
        {"profile", "-q", "--model", "haswell", "--calls", "-e", events, "--top", "0", "-o", "-", "--", "/bin/true"});
    std::set<std::string> names;
    std::istringstream lines(finished.out);
    for (std::string line, word; std::getline(lines, line);) {
      if (line.find(" %         ") >= 10) continue;
      std::istringstream words(line);
      std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
      if (all.size() > 3) names.insert(all[all.size() - 3]);
    }
    return names;
  };
  const auto names = without("instructions,cycles");
  EXPECT_GT(names.size(), 3u);
  EXPECT_EQ(without("cycles,instructions"), names);
}

}  // namespace
}  // namespace tally::test
