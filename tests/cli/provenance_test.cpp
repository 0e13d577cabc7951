// What results say about where they come from: date, host, label, command line, commit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const Words counted{"-q", "--backend", "none", "-e", "page-faults"};

std::string host() {
  std::string name = *TemporaryFile::read("/proc/sys/kernel/hostname");
  name.pop_back();
  return name;
}

void expect_complete(const Json& json, const std::string& command) {
  ASSERT_TRUE(json.contains("provenance")) << json;
  const Json& provenance = json["provenance"];
  EXPECT_TRUE(
      std::regex_match(provenance["date"].get<std::string>(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
  EXPECT_EQ(provenance["host"], host());
  EXPECT_EQ(provenance["command_line"][1], command);
  EXPECT_TRUE(provenance.contains("commit"));
  EXPECT_TRUE(provenance["tally"].is_string());
}

#if TALLY_HAS_LAB
TEST(Provenance, is_in_the_json_of_the_lab) {
  const Finished finished = tally({"lab", "--json", "-e", "run 100 nop"});
  if (finished.code() == 127) GTEST_SKIP() << "the assembler is not installed";
  expect_complete(Json::parse(finished.out), "lab");
}
#endif

TEST(Provenance, is_in_the_json_of_each_command) {
  const TemporaryFile stat("stat.json");
  ASSERT_EQ(tally(with(with({"stat", "-o", stat.path(), "--label", "one"}, counted), {"--", "true"})).code(), 0);
  const Json stored = Json::parse(*stat.content());
  expect_complete(stored, "stat");
  EXPECT_EQ(stored["provenance"]["label"], "one");
  for (const Words& words : {Words{"events", "--json"}, Words{"event", "instructions", "--json"},
                             Words{"register", "IA32_PERFEVTSEL0", "--json"}, Words{"doctor", "--json"}}) {
    const Finished finished = tally(words);
    expect_complete(Json::parse(finished.out), words.front());
  }
  const Finished compared = tally({"compare", stat.path(), stat.path(), "--format", "json"});
  const Json comparison = Json::parse(compared.out);
  expect_complete(comparison, "compare");
  EXPECT_EQ(comparison["before"]["provenance"], stored["provenance"]);
}

TEST(Provenance, stays_when_a_result_is_converted) {
  const TemporaryFile stat("stat.json"), again("again.json");
  ASSERT_EQ(tally(with(with({"stat", "-o", stat.path(), "--label", "one"}, counted), {"--", "true"})).code(), 0);
  ASSERT_EQ(tally({"export", stat.path(), "-o", again.path()}).code(), 0);
  EXPECT_EQ(Json::parse(*stat.content()), Json::parse(*again.content()));
}

TEST(Provenance, has_the_date_of_SOURCE_DATE_EPOCH) {
  setenv("SOURCE_DATE_EPOCH", "86400", 1);
  const Finished first = tally({"events", "--json"}), second = tally({"events", "--json"});
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_EQ(Json::parse(first.out)["provenance"]["date"], "1970-01-02T00:00:00Z");
  EXPECT_EQ(first.out, second.out);
}

TEST(Provenance, has_the_commit_of_the_working_directory) {
  const TemporaryFile head("head", "");
  const std::string commit(40, 'd');
  fs::create_directories(head.folder() + "/.git/hooks");
  std::ofstream(head.folder() + "/.git/HEAD") << commit;
  // git would execute this program when it reads the index.
  std::ofstream(head.folder() + "/.git/config") << "[core]\n\tfsmonitor = touch " + head.folder() + "/executed\n";
  const fs::path before = fs::current_path();
  fs::current_path(head.folder());
  const Finished finished = tally({"events", "--json"});
  fs::current_path(before);
  EXPECT_EQ(Json::parse(finished.out)["provenance"]["commit"], commit);
  EXPECT_FALSE(fs::exists(head.folder() + "/executed"));
  fs::remove_all(head.folder() + "/.git");
}

TEST(Provenance, is_next_to_csv_and_its_rows_name_the_command) {
  const TemporaryFile rows("rows.csv");
  ASSERT_EQ(tally(with(with({"stat", "-r", "2", "-o", rows.path()}, counted), {"--", "sh", "-c", "exit 0"})).code(), 0);
  const std::string description = rows.path() + ".meta.json";
  expect_complete(Json::parse(*TemporaryFile::read(description)), "stat");
  const std::string text = *rows.content();
  EXPECT_NE(text.find(",sh -c 'exit 0',"), std::string::npos) << text;
  fs::remove(description);
}

TEST(Provenance, pages_of_comparisons_show_the_host_only_on_request) {
  const TemporaryFile stat("stat.json"), page("page.html");
  ASSERT_EQ(tally(with(with({"stat", "-o", stat.path()}, counted), {"--", "true"})).code(), 0);
  for (const char* const command : {"compare", "report"}) {
    ASSERT_EQ(tally({command, stat.path(), stat.path(), "-o", page.path()}).code(), 0);
    EXPECT_EQ(page.content()->find("host " + host()), std::string::npos) << command;
    ASSERT_EQ(tally({command, "--host", stat.path(), stat.path(), "-o", page.path()}).code(), 0);
    EXPECT_NE(page.content()->find("host " + host()), std::string::npos) << command;
  }
}

TEST(Provenance, shows_the_host_on_pages_only_on_request) {
  for (const char* name : {"page.html", "page.md"}) {
    const TemporaryFile page(name);
    const Words words = with(with({"stat", "-o", page.path(), "--label", "one two"}, counted), {"--", "true"});
    ASSERT_EQ(tally(words).code(), 0);
    EXPECT_NE(page.content()->find("label: one two"), std::string::npos) << *page.content();
    EXPECT_EQ(page.content()->find("host " + host()), std::string::npos);
    ASSERT_EQ(tally(with({"stat", "--host"}, {words.begin() + 1, words.end()})).code(), 0);
    EXPECT_NE(page.content()->find("host " + host()), std::string::npos);
  }
  const TemporaryFile page("page.html");
  const Finished refused = tally(with(with({"stat", "--append", "-o", page.path()}, counted), {"--", "true"}));
  EXPECT_EQ(refused.code(), 0) << refused.err;
  const Finished again = tally(with(with({"stat", "--append", "-o", page.path()}, counted), {"--", "true"}));
  EXPECT_EQ(again.code(), 2) << again.err;
}

}  // namespace
}  // namespace tally::test
