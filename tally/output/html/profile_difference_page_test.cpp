#include "tally/output/analysis/profile_difference.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/output/html/profile_page.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/result/stored_profile.hpp"

namespace tally::output {
namespace {

using Counts = std::vector<std::int64_t>;

result::Event event(const std::string& name) {
  result::Event made;
  made.total.event = name;
  made.total.name = split_event_name(name);
  made.total.count.value = 0;
  made.total.count.trust = Trust::exact;
  return made;
}

/// Builds a profile row by row.
struct ProfileBuilder {
  result::Profile profile;

  ProfileBuilder(const std::string& program, const std::vector<std::string>& events) {
    profile.stat.command = {"/bin/" + program};
    for (const std::string& name : events) profile.stat.events.push_back(event(name));
    profile.repeated.resize(events.size());
    profile.unplaced.resize(events.size());
    profile.owners.emplace_back().command = "/bin/" + program;
    profile.sources.emplace_back();
    profile.objects.push_back({"/bin/" + program});
  }
  std::uint32_t object(const std::string& path) {
    profile.objects.push_back({path});
    return static_cast<std::uint32_t>(profile.objects.size() - 1);
  }
  std::uint32_t source(const std::string& path) {
    profile.sources.push_back(path);
    return static_cast<std::uint32_t>(profile.sources.size() - 1);
  }
  std::uint32_t function(const std::string& name, std::uint32_t object, std::uint32_t source, std::uint32_t line) {
    profile.functions.push_back({name, object, 0x1000 * profile.functions.size(), 1, source, line});
    return static_cast<std::uint32_t>(profile.functions.size() - 1);
  }
  void row(std::uint32_t function, std::uint32_t source, std::uint32_t line, const Counts& counts) {
    result::ProfileRow row;
    row.function = function;
    row.source = source;
    row.line = line;
    row.address = profile.functions[function].address;
    profile.rows.push_back(row);
    for (std::size_t e = 0; e < counts.size(); ++e) {
      profile.counts.push_back(counts[e]);
      *profile.stat.events[e].total.count.value += counts[e];
    }
  }
};

/// main calls a library that changes its version; one function moves, one is removed, one is added.
ProfileBuilder before() {
  ProfileBuilder made("old", {"instructions:u", "loads:u"});
  const std::uint32_t library = made.object("/lib/libx.so.1.2"), source = made.source("/a/main.c");
  const std::uint32_t main = made.function("main", 0, source, 10), removed = made.function("removed", 0, source, 2);
  const std::uint32_t work = made.function("work(int)", library, 0, 0);
  made.row(main, source, 11, {100, 10});
  made.row(main, source, 12, {7, 0});
  made.row(removed, source, 3, {5, 1});
  made.row(work, 0, 0, {1000, 1});
  return made;
}
ProfileBuilder after() {
  ProfileBuilder made("new", {"instructions:u", "stores:u"});
  const std::uint32_t library = made.object("/opt/libx.so.1.10"), source = made.source("/b/main.c");
  const std::uint32_t work = made.function("work(int)", library, 0, 0);
  const std::uint32_t added = made.function("added", 0, source, 1), main = made.function("main", 0, source, 30);
  made.row(work, 0, 0, {1600, 3});
  made.row(added, source, 2, {50, 3});
  made.row(main, source, 31, {90, 3});
  made.row(main, source, 32, {7, 3});
  return made;
}

const Change& of(const ProfileDifference& difference, const std::string& name) {
  for (const Change& change : difference.functions) {
    const bool is_after = change.after.is_present;
    const ChangeSide& side = is_after ? change.after : change.before;
    if ((is_after ? difference.after : difference.before)->functions[side.function].name == name) return change;
  }
  throw std::out_of_range(name);
}

TEST(ProfileDifference, has_both_commands_in_the_title_of_its_page) {
  const ProfileBuilder old = before(), fresh = after();
  const std::string page = difference_page(*difference_of(old.profile, fresh.profile), {}, "");
  EXPECT_NE(page.find("<title>/bin/old → /bin/new</title>"), std::string::npos);
  EXPECT_NE(page.find("<h2>Flame graph</h2>"), std::string::npos);
  EXPECT_NE(difference_page(*difference_of(old.profile, old.profile), {}, "").find("<title>What changed: /bin/old<"),
            std::string::npos);
}

TEST(ProfileDifference, reports_lines_without_a_line_table) {
  const ProfileBuilder old = before();
  EXPECT_NE(profile_table(old.profile, {.by = ProfileBy::line})
                .find(" rows without a line: their files have no line information"),
            std::string::npos);
  EXPECT_EQ(profile_table(old.profile, {}).find("no line information"), std::string::npos);
}

TEST(ProfileDifference, matches_functions) {
  const ProfileBuilder old = before(), changed = after();
  const auto made = difference_of(old.profile, changed.profile);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->events, std::vector<std::string>{"instructions:u"});
  EXPECT_EQ(made->only_before, std::vector<std::string>{"loads:u"});
  EXPECT_EQ(made->only_after, std::vector<std::string>{"stores:u"});
  ASSERT_EQ(made->functions.size(), 4u);
  EXPECT_EQ(made->functions.front().by(0), 600) << "the biggest change first";
  EXPECT_EQ(of(*made, "work(int)").by(0), 600) << "the library has another version";
  EXPECT_EQ(of(*made, "main").by(0), -10) << "the program is renamed";
  EXPECT_EQ(of(*made, "added").by(0), 50);
  EXPECT_FALSE(of(*made, "added").before.is_present);
  EXPECT_FALSE(of(*made, "removed").after.is_present);
}

TEST(ProfileDifference, adds_up) {
  const ProfileBuilder old = before(), changed = after();
  const auto made = difference_of(old.profile, changed.profile);
  ASSERT_TRUE(made);
  for (const std::vector<Change>* changes : {&made->functions, &made->lines, &made->objects}) {
    std::int64_t sum = 0;
    for (const Change& change : *changes) sum += change.by(0);
    EXPECT_EQ(sum, 1747 - 1112);
  }
  EXPECT_EQ(made->objects.size(), 2u);
}

TEST(ProfileDifference, finds_lines_of_a_function_that_moved) {
  const ProfileBuilder old = before(), changed = after();
  const auto made = difference_of(old.profile, changed.profile);
  ASSERT_TRUE(made);
  bool seen = false;
  for (const Change& line : made->lines) {
    if (line.before.line != 11) continue;
    seen = true;
    EXPECT_EQ(line.after.line, 31u);
    EXPECT_EQ(line.by(0), -10);
  }
  EXPECT_TRUE(seen);
}

TEST(ProfileDifference, warns_if_only_one_side_has_inlined_functions) {
  ProfileBuilder old = before();
  const ProfileBuilder changed = after();
  old.profile.inlines_apart = true;
  const auto made = difference_of(old.profile, changed.profile);
  ASSERT_TRUE(made);
  EXPECT_NE(made->caution().find("inlined functions are listed separately before only"), std::string::npos);
  const auto read = result::read_profile(profile_json(old.profile, {}), "file");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->inlines_apart);
  EXPECT_EQ(difference_of(*read, old.profile)->caution(), "");
}

/// Static functions with the same name are distinguished by their source files.
TEST(ProfileDifference, distinguishes_functions_of_one_name) {
  ProfileBuilder old("prog", {"instructions:u"}), changed("prog", {"instructions:u"});
  for (ProfileBuilder* made : {&old, &changed}) {
    const std::uint32_t a = made->source("a.c"), b = made->source("b.c");
    const std::uint32_t first = made->function("init", 0, made == &old ? a : b, 1);
    const std::uint32_t other = made->function("init", 0, made == &old ? b : a, 1);
    made->row(first, made == &old ? a : b, 2, {made == &old ? 10 : 25});
    made->row(other, made == &old ? b : a, 2, {made == &old ? 20 : 10});
  }
  const auto made = difference_of(old.profile, changed.profile);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->functions.size(), 2u);
  EXPECT_EQ(made->functions[0].by(0), 5);
  EXPECT_EQ(made->functions[1].by(0), 0);
}

TEST(ProfileDifference, needs_an_event_in_common) {
  const ProfileBuilder old("prog", {"loads:u"}), changed("prog", {"stores:u"});
  const auto made = difference_of(old.profile, changed.profile);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::bad_usage);
}

/// Reading restores what was written.
TEST(StoredProfile, is_read_as_it_was_written) {
  ProfileBuilder made = before();
  made.profile.calls.push_back({.caller = 0, .callee = 2, .calls = 4});
  made.profile.calls.push_back({.parent = 0, .caller = 2, .callee = 1, .recursive = true, .calls = 3});
  made.profile.self = {700, 1, 5, 1};
  made.profile.inclusive = {705, 2, 5, 1};
  made.profile.repeated = {0, 12};
  const std::string text = profile_json(made.profile, {});
  ASSERT_TRUE(result::is_profile(text));
  const auto read = result::read_profile(text, "file");
  ASSERT_TRUE(read) << read.error().message;
  // Functions now have another order, which further reading and writing keeps.
  const std::string again = profile_json(*read, {});
  const auto twice = result::read_profile(again, "file");
  ASSERT_TRUE(twice) << twice.error().message;
  EXPECT_EQ(profile_json(*twice, {}), again);
  EXPECT_EQ(read->calls.size(), 2u);
  EXPECT_EQ(read->inclusive, made.profile.inclusive);
  EXPECT_EQ(read->self, made.profile.self);
  const auto same = difference_of(made.profile, *read);
  ASSERT_TRUE(same);
  for (const Change& change : same->lines) EXPECT_FALSE(change.any());
}

TEST(StoredProfile, reports_the_location_of_an_error) {
  auto json = nlohmann::ordered_json::parse(profile_json(before().profile, {}));
  json["functions"][1]["object"] = 77;
  const auto read = result::read_profile(json.dump(), "file");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("/functions/1/object"), std::string::npos) << read.error().message;
  EXPECT_FALSE(result::read_profile("{\"schema\": \"tally-profile/2\"}", "file"));
  EXPECT_FALSE(result::read_profile("{\"schema\": \"tally-profile/3\"}", "file"));
}

}  // namespace
}  // namespace tally::output
