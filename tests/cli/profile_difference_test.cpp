#include "tally/output/analysis/profile_difference.hpp"
// `tally report` of profiles, as a user types it and as a browser shows it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/pages.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

void write_profile(const std::string& file, const Words& command, const Words& options = {"-e", "instructions"}) {
  Words words{"profile", "-q", "--repeatable", "--format", "json", "-o", file};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  tally(words);
}

class ProfileDifference : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  TemporaryFile before{"before.json"}, after{"after.json"};
};

/// A program that was copied under another name, and does more work.
TEST_F(ProfileDifference, says_what_changed) {
  const TemporaryFile copy("another");
  std::filesystem::copy_file(PROFILED, copy.path(), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(copy.path(), std::filesystem::perms::owner_all);
  write_profile(before.path(), {PROFILED}, {"-e", "instructions,loads"});
  write_profile(after.path(), {copy.path(), "fork"}, {"-e", "instructions,stores"});
  const Finished table = tally({"report", before.path(), after.path()});
  EXPECT_EQ(table.code(), 0) << table.err;
  EXPECT_TRUE(holds(table.out, "11,000  13,200")) << table.out;
  EXPECT_TRUE(holds(table.out, "+2,200")) << table.out;
  EXPECT_TRUE(holds(table.out, "+20.00 %")) << table.out;
  EXPECT_TRUE(holds(table.out, "only in the result before: loads:u")) << table.out;
  EXPECT_TRUE(holds(table.out, "only in the result after: stores:u")) << table.out;
  EXPECT_EQ(table.out, tally({"compare", "--force", before.path(), after.path()}).out);
  const Json json = Json::parse(tally({"report", before.path(), after.path(), "--format", "json"}).out);
  const auto sum = [&](const char* rows) {
    std::int64_t changes = 0;
    for (const Json& row : json[rows]) changes += row["change"].get<std::int64_t>();
    return changes;
  };
  EXPECT_EQ(sum("functions"), json["events"][0]["change"]);
  EXPECT_EQ(sum("lines"), sum("functions")) << "code without a line has a row of its own";
  EXPECT_EQ(sum("objects"), sum("functions"));
  EXPECT_GT(sum("functions"), 2200);
  const Finished objects = tally({"report", before.path(), after.path(), "--by", "object"});
  EXPECT_TRUE(holds(objects.out, "  object\n")) << objects.out;
  EXPECT_TRUE(holds(objects.out, copy.path())) << objects.out;
}

/// The page of a stored profile shows what the page of the profile shows.
TEST_F(ProfileDifference, with_one_profile_has_its_table) {
  write_profile(before.path(), {PROFILED}, {"--calls"});
  const Finished stored = tally({"report", before.path()});
  const Finished direct = tally({"profile", "-q", "--repeatable", "--calls", "--", PROFILED});
  EXPECT_EQ(stored.out.substr(stored.out.find("total")), direct.err.substr(direct.err.find("total")));
  EXPECT_TRUE(holds(stored.out, "11,000    2,000     2,000    1,000  eleven")) << stored.out;
  const TemporaryFile page("page.html");
  EXPECT_EQ(tally({"report", before.path(), "-o", page.path()}).code(), 0);
  EXPECT_TRUE(holds(content_of(page.path()), "Profile of "));
}

TEST_F(ProfileDifference, refuses_what_cannot_be_compared) {
  write_profile(before.path(), {PROFILED});
  write_profile(after.path(), {PROFILED}, {"-e", "loads"});
  const TemporaryFile damaged("damaged.json", "{\"schema\": \"tally-profile/2\", \"command\": 7}");
  const struct {
    Words words;
    std::string message;
  } cases[] = {
      {{before.path(), after.path()}, "no event is in both results"},
      {{before.path(), before.path(), before.path()}, "one profile to show, or two to compare"},
      {{before.path(), "--by", "thread"}, "--by thread: stored profiles do not contain it"},
      {{before.path(), before.path(), "--format", "csv"},
       "unknown format 'csv'\n       the formats are: table, json, markdown, html"},
      {{before.path(), before.path(), "--full-names"}, "--full-names shows one profile"},
      {{before.path(), before.path(), "-o", before.path()}, "its results would be lost"},
      {{damaged.path()}, "/command"},
      {{std::string(TALLY_GOLDEN) + "/memory.json", "--by", "line"}, "can only be used with profiles"},
  };
  for (const auto& one : cases) {
    Words words{"report"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 2) << one.message;
    EXPECT_TRUE(holds(finished.err, one.message)) << finished.err;
  }
}

class DifferencePage : public Browser {
 protected:
  void SetUp() override {
    Browser::SetUp();
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

TEST_F(DifferencePage, draws_what_changed) {
  const TemporaryFile before("before.json"), after("after.json"), page("page.html");
  write_profile(before.path(), {PROFILED}, {"--calls"});
  write_profile(after.path(), {PROFILED, "jump"}, {"--calls"});
  ASSERT_EQ(tally({"report", before.path(), after.path(), "-o", page.path()}).code(), 0);
  const std::string shown = probe_output(render(content_of(page.path()), R"(
    const boxes = [...document.querySelectorAll(".box")];
    const box = (name) => boxes.findLast((box) => box.title.startsWith(name + ":"));
    box("times").click();
    document.getElementById("seen").textContent = [box("times").title, box("deep").title,
      document.getElementById("chosen").textContent.includes("before, "),
      document.querySelector("#functions tbody tr").textContent].join("|");
  )"));
  EXPECT_TRUE(holds(shown, "called 1 times before, 2 after")) << shown;
  EXPECT_TRUE(holds(shown, "deep: 0 before, ")) << shown;
  EXPECT_TRUE(holds(shown, "|true|")) << shown;
}

}  // namespace
}  // namespace tally::test
