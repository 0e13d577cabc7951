// `tally compare`: verdicts, gates, exit codes, and what it says of wrong input.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

// A result of one exact event of `./prog`, which has one thread, as `tally stat --repeatable` writes it.
std::string stored(std::int64_t instructions, const std::string& program = "./prog") {
  const TemporaryFile file("stat.json");
  const Finished counted =
      tally({"stat", "-q", "--backend", "none", "--repeatable", "-e", "page-faults", "-o", file.path(), "--", "true"});
  EXPECT_EQ(counted.code(), 0) << counted.err;
  auto document = nlohmann::ordered_json::parse(*file.content());
  document["command"] = {program};
  document["runs"][0]["processes"] = document["runs"][0]["threads"] = 1;
  auto& event = document["events"][0];
  event["event"] = event["name"] = "instructions:u";
  event["value"] = instructions;
  event["trust"] = "exact";
  event["source"] = "engine";
  return document.dump();
}

class Compare : public testing::Test {
 protected:
  Finished compare(const Words& options, std::int64_t after = 1020) {
    const TemporaryFile old_file("old.json", stored(1000)), new_file("new.json", stored(after));
    return tally(with({"compare", old_file.path(), new_file.path()}, options));
  }
};

TEST(CompareIncomplete, says_why) {
  const TemporaryFile file("stat.json");
  tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--function", "no_such_function_here", "-o",
         file.path(), "--", "true"});
  if (!file.content()) GTEST_SKIP() << "this tally has no engine";
  const Finished compared = tally({"compare", file.path(), file.path()});
  EXPECT_NE(compared.out.find("the result before is incomplete"), std::string::npos) << compared.out;
  EXPECT_NE(compared.out.find("no function 'no_such_function_here'"), std::string::npos) << compared.out;
}

TEST_F(Compare, says_what_changed) {
  const Finished finished = compare({});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.out.find("worse"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("+2.00 %"), std::string::npos) << finished.out;
  EXPECT_NE(compare({}, 1000).out.find("same: no count differs"), std::string::npos);
}

TEST_F(Compare, fails_above_a_limit) {
  EXPECT_EQ(compare({"--fail-above", "instructions=1%"}).code(), 1);
  EXPECT_EQ(compare({"--fail-above", "instructions=2%"}).code(), 0);
  EXPECT_EQ(compare({"--fail-above", "instructions:u=19"}).code(), 1);
  const Finished warned = compare({"--warn-above", "instructions=1%"});
  EXPECT_EQ(warned.code(), 0);
  EXPECT_NE(warned.out.find("warning: instructions:u"), std::string::npos) << warned.out;
}

TEST_F(Compare, refuses_wrong_gates) {
  EXPECT_EQ(compare({"--fail-above", "instructions"}).code(), 2);
  const Finished missing = compare({"--fail-above", "loads=1%"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_NE(missing.err.find("events in both results: instructions:u"), std::string::npos) << missing.err;
}

TEST_F(Compare, compares_chosen_events) {
  auto document = nlohmann::ordered_json::parse(stored(1000));
  auto loads = document["events"][0];
  loads["event"] = loads["name"] = "loads:u";
  document["events"].push_back(loads);
  const TemporaryFile both("both.json", document.dump()), more("more.json", [&] {
    for (auto& event : document["events"]) event["value"] = 1100;
    return document.dump();
  }());
  const auto chosen = [&](const Words& options) {
    return tally(with({"compare", "--format", "json", both.path(), more.path()}, options));
  };
  const auto events = [&](const Words& options) {
    std::vector<std::string> names;
    const auto json = nlohmann::json::parse(chosen(options).out);
    for (const auto& event : json.at("events")) names.push_back(event.at("event"));
    return names;
  };
  EXPECT_EQ(events({}), (std::vector<std::string>{"instructions:u", "loads:u"}));
  EXPECT_EQ(events({"-e", "loads"}), (std::vector<std::string>{"loads:u"}));
  EXPECT_EQ(events({"-e", "loads:u, instructions"}), (std::vector<std::string>{"loads:u", "instructions:u"}));
  const TemporaryFile one("one.json", stored(1000));
  const Finished missing = tally({"compare", one.path(), more.path(), "-e", "loads"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_TRUE(holds(missing.err, "the result before does not have 'loads'")) << missing.err;
  EXPECT_TRUE(holds(missing.err, "it has instructions:u")) << missing.err;
  const Finished other = chosen({"-e", "loads", "--fail-above", "instructions=1%"});
  EXPECT_EQ(other.code(), 2);
  EXPECT_TRUE(holds(other.err, "the event is not in -e")) << other.err;
  EXPECT_EQ(chosen({"-e", "loads", "--fail-above", "loads=1%"}).code(), 1);
  EXPECT_EQ(chosen({"-e", "loads", "--fail-above", "loads:u=1%"}).code(), 1);
}

TEST_F(Compare, says_that_programs_have_different_names_and_refuses_their_gates) {
  const TemporaryFile old_file("old.json", stored(1000)), new_file("new.json", stored(1000, "./other"));
  const Finished compared = tally({"compare", old_file.path(), new_file.path()});
  EXPECT_EQ(compared.code(), 0) << compared.err;
  EXPECT_TRUE(holds(compared.out, "note: the programs have different names: ")) << compared.out;
  Words gate{"compare", old_file.path(), new_file.path(), "--fail-above", "instructions=1%"};
  EXPECT_EQ(tally(gate).code(), 3);
  gate.emplace_back("--force");
  EXPECT_EQ(tally(gate).code(), 0);
}

TEST_F(Compare, refuses_a_program_that_failed_once) {
  const TemporaryFile good("good.json", stored(1000));
  auto document = nlohmann::ordered_json::parse(stored(10));
  document["exit_code"] = 134;
  document["signal"] = 6;
  const TemporaryFile killed("killed.json", document.dump());
  const Finished refused = tally({"compare", good.path(), killed.path(), "--fail-above", "instructions=1%"});
  EXPECT_EQ(refused.code(), 3);
  EXPECT_NE(refused.err.find("the program ended with success before and with SIGABRT after"), std::string::npos)
      << refused.err;
  EXPECT_EQ(tally({"compare", killed.path(), killed.path()}).code(), 0);
  EXPECT_EQ(tally({"compare", good.path(), killed.path(), "--force"}).code(), 0);
}

TEST_F(Compare, takes_the_mean_of_the_two_middle_times) {
  const auto times = [](const std::string& values) {
    return TemporaryFile(
        "h.json",
        R"({"results":[{"command":"./a","mean":0.2,"median":0.2,"user":0.1,"system":0,"times":[)" + values + "]}]}");
  };
  const TemporaryFile old_file = times("0.1,0.3"), new_file = times("0.1,0.3");
  const Finished finished = tally({"compare", old_file.path(), new_file.path(), "--all", "--format", "json"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.out.find(R"("before": 200000000)"), std::string::npos) << finished.out;
}

TEST_F(Compare, names_files_that_it_cannot_read) {
  const TemporaryFile good("good.json", stored(1)), bad("bad.json", "{}"), empty("empty.json", "");
  for (const TemporaryFile* const file : {&bad, &empty}) {
    const Finished finished = tally({"compare", good.path(), file->path()});
    EXPECT_EQ(finished.code(), 2);
    EXPECT_NE(finished.err.find(file->path()), std::string::npos) << finished.err;
  }
  EXPECT_EQ(tally({"compare", good.path()}).code(), 2);
  EXPECT_EQ(tally({"compare", good.path(), good.path(), "-o", good.path()}).code(), 2);
}

TEST_F(Compare, writes_a_comment) {
  const TemporaryFile comment("comment.md");
  const Finished finished = compare({"--fail-above", "instructions=1%", "-o", comment.path()});
  EXPECT_EQ(finished.code(), 1);
  EXPECT_NE(finished.err.find("tally: failed: instructions:u"), std::string::npos) << finished.err;
  EXPECT_EQ(comment.content()->rfind("**tally: failed", 0), 0u) << *comment.content();
}

TEST_F(Compare, writes_a_page) {
  const TemporaryFile page("page.html");
  const Finished finished = compare({"--fail-above", "instructions=1%", "-o", page.path()});
  EXPECT_EQ(finished.code(), 1);
  const std::string html = page.content().value_or("");
  EXPECT_EQ(html.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(html.find("<p class=\"verdict bad\">failed: instructions:u"), std::string::npos) << html.substr(5000);
  EXPECT_NE(html.find("+2.00 %"), std::string::npos);
  EXPECT_EQ(html.find("http://"), std::string::npos);
}

// The verdicts are above the page of the difference, whose script shows functions and source.
TEST_F(Compare, writes_the_verdicts_on_the_page_of_two_profiles) {
  const TemporaryFile before("old.json"), after("new.json"), page("page.html");
  for (const TemporaryFile* const file : {&before, &after})
    ASSERT_EQ(tally({"profile", "-q", "--repeatable", "-o", file->path(), "--", "true"}).code(), 0);
  EXPECT_EQ(tally({"compare", "--all", before.path(), after.path(), "-o", page.path()}).code(), 0);
  const std::string html = page.content().value_or("");
  EXPECT_LT(html.find("<p class=\"verdict\">same: no count differs"), html.find("id=\"functions\""));
  EXPECT_NE(html.find("profile-data"), std::string::npos);
}

}  // namespace
}  // namespace tally::test
