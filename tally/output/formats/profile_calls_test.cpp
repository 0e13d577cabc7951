// Stacks and calls of profiles that are made here: recursion through others, overloads, threads.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/formats/profile_forms.hpp"

namespace tally::report {
namespace {

constexpr std::uint32_t none = result::CodeCall::no_parent;

/// A profile of one event whose functions are those of the calls.
struct Made {
  result::Profile profile;

  explicit Made(const std::vector<std::string>& functions) {
    profile.stat.command = {"prog"};
    result::Event event;
    event.total.event = "instructions";
    event.total.name = {"instructions"};
    event.total.count.value = 0;
    event.total.count.trust = Trust::exact;
    profile.stat.events.push_back(event);
    profile.repeated = profile.unplaced = {0};
    profile.owners.push_back({7, "prog", 7, "prog"});
    profile.sources.emplace_back();
    profile.objects.push_back({"/bin/prog"});
    for (const std::string& name : functions)
      profile.functions.push_back({name, 0, 0x1000 * (profile.functions.size() + 1)});
  }
  /// Its number.
  std::uint32_t call(std::uint32_t parent, std::uint32_t caller, std::uint32_t callee, std::int64_t self,
                     std::uint32_t owner = 0, bool recursive = false) {
    result::ProfileCall call;
    call.owner = owner;
    call.parent = parent;
    call.caller = caller;
    call.callee = callee;
    call.site = profile.functions[caller].address + 4;
    call.target = profile.functions[callee].address;
    call.recursive = recursive;
    call.calls = 1;
    profile.calls.push_back(call);
    profile.self.push_back(self);
    profile.inclusive.push_back(self);
    result::ProfileRow row;
    row.owner = owner;
    row.function = callee;
    row.address = call.target;
    profile.rows.push_back(row);
    profile.counts.push_back(self);
    *profile.stat.events.front().total.count.value += self;
    return static_cast<std::uint32_t>(profile.calls.size() - 1);
  }
};

/// even() calls odd(), and odd() even(): of each function its own counts and those of its calls are what it has in all.
TEST(ProfileCalls, of_functions_that_call_each_other_add_up) {
  Made made({"main", "even", "odd"});
  const std::uint32_t outer = made.call(none, 0, 1, 10), odd = made.call(outer, 1, 2, 100);
  made.call(odd, 2, 1, 1000, 0, true);
  const std::vector<std::int64_t> counts = counts_of_calls(made.profile);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1110, 100, 1000}));
  std::map<std::uint32_t, std::int64_t> with_callees{{0, 0}, {1, 1010}, {2, 100}};
  for (const CallSum& sum : calls_between(made.profile)) with_callees[sum.caller] += sum.inclusive.front();
  EXPECT_EQ(with_callees, (std::map<std::uint32_t, std::int64_t>{{0, 1110}, {1, 1110}, {2, 1100}}));
  EXPECT_EQ(profile_folded(made.profile, {}), "prog;even 10\nprog;even;odd 100\nprog;even;odd;even 1000\n");
}

/// What readers of callgrind's form add up: what a function's calls cost, with its own, or what calls of it do.
struct Added {
  std::map<std::string, std::int64_t> from, to, calls;

  explicit Added(const result::Profile& profile) {
    std::istringstream lines(profile_callgrind(profile, {}));
    std::map<std::string, std::string> names;
    std::string caller, callee;
    const auto name_of = [&](const std::string& text) {  // "(2) even", "(2)"
      const std::string number = text.substr(0, text.find(')') + 1);
      if (number.size() < text.size()) names[number] = text.substr(number.size() + 1);
      return names[number];
    };
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("fn=")) caller = name_of(line.substr(3));
      if (line.starts_with("cfn=")) callee = name_of(line.substr(4));
      const bool is_call = line.starts_with("calls=");
      if (is_call) {
        calls[callee] += std::stoll(line.substr(line.find('=') + 1));
        std::getline(lines, line);
      }
      if (line.empty() || line.find_first_not_of("0123456789 ") != std::string::npos) continue;
      const std::int64_t cost = std::stoll(line.substr(line.rfind(' ')));
      from[caller] += cost;
      if (is_call) to[callee] += cost;
    }
  }
};

TEST(ProfileCallgrind, adds_up_in_both_directions) {
  Made made({"main", "even", "odd"});
  const std::uint32_t outer = made.call(none, 0, 1, 10), odd = made.call(outer, 1, 2, 100);
  made.call(odd, 2, 1, 1000, 0, true);
  const Added added(made.profile);
  EXPECT_EQ(added.from, (std::map<std::string, std::int64_t>{{"main", 1110}, {"even", 1110}, {"odd", 1100}}));
  EXPECT_EQ(added.to, (std::map<std::string, std::int64_t>{{"even", 1110}, {"odd", 1100}}));
  // Two of them, and one that leads past a frame.
  EXPECT_EQ(added.calls, (std::map<std::string, std::int64_t>{{"even", 2}, {"odd", 2}}));
}

/// even() calls odd(), which jumps to even(): 900 of the 1,000 that the call of odd() counted are even()'s own.
TEST(ProfileCallgrind, adds_up_where_functions_jump_to_each_other) {
  Made made({"main", "even", "odd", "other"});
  const std::uint32_t outer = made.call(none, 0, 1, 10), odd = made.call(outer, 1, 2, 1000);
  made.call(odd, 1, 3, 7);  // from even(), in the call of odd()
  made.profile.counts = {910, 100, 7};
  const Added added(made.profile);
  EXPECT_EQ(added.from,
            (std::map<std::string, std::int64_t>{{"main", 1017}, {"even", 1017}, {"odd", 1007}, {"other", 7}}));
  EXPECT_EQ(added.to, (std::map<std::string, std::int64_t>{{"even", 1017}, {"odd", 1007}, {"other", 7}}));
  std::int64_t even = 910;
  for (const CallSum& sum : calls_between(made.profile)) even += sum.caller == 1 ? sum.inclusive.front() : 0;
  EXPECT_EQ(even, 1017);
}

/// What another function may have counted as well is not taken from a call: first() jumps to leaf(), which nobody
/// calls.
TEST(ProfileCallgrind, keeps_what_functions_count_elsewhere) {
  Made made({"main", "first", "leaf", "other"});
  made.call(none, 0, 1, 500);
  const std::uint32_t again = made.call(none, 0, 1, 20);
  made.call(again, 2, 3, 40);  // from leaf(), in the call of first()
  made.profile.rows[1].function = 2;
  made.profile.counts = {100, 420, 40};
  EXPECT_EQ(Added(made.profile).from,
            (std::map<std::string, std::int64_t>{{"main", 560}, {"first", 140}, {"leaf", 460}, {"other", 40}}));
}

/// A program that was built again while it ran is two files with one path.
TEST(ProfileObjects, are_told_apart_where_they_share_a_name) {
  Made made({"main", "work"});
  made.profile.functions.push_back({"work", 1, 0x2000});
  const std::uint32_t main = made.call(none, 0, 0, 5);
  made.call(main, 0, 1, 10);
  made.call(main, 0, 2, 20);
  made.profile.objects[0].build_id = "1f2e3d4c5b6a";
  made.profile.objects.push_back({"/bin/prog"});
  made.profile.objects[1].build_id = "aabbccddeeff";
  EXPECT_EQ(object_names(made.profile, false), (std::vector<std::string>{"prog [1f2e3d4c]", "prog [aabbccdd]"}));
  EXPECT_EQ(object_names(made.profile, true),
            (std::vector<std::string>{"/bin/prog [1f2e3d4c]", "/bin/prog [aabbccdd]"}));
  for (const std::string& text : {profile_table(made.profile, {}), profile_callgrind(made.profile, {})})
    for (const char* const name : {"prog [1f2e3d4c]", "prog [aabbccdd]"})
      EXPECT_NE(text.find(name), std::string::npos) << text;
  made.profile.objects[0].build_id = made.profile.objects[1].build_id;
  EXPECT_EQ(object_names(made.profile, false), (std::vector<std::string>{"prog [1]", "prog [2]"}));
  made.profile.objects[0].name = "/bin/other";
  EXPECT_EQ(object_names(made.profile, false), (std::vector<std::string>{"other", "prog"}));
}

TEST(ProfileFolded, keeps_overloads_apart) {
  Made made({"main", "f(int)", "f(bool)", "g(int)"});
  const std::uint32_t main = made.call(none, 0, 0, 0);
  made.call(main, 0, 1, 6004);
  made.call(main, 0, 2, 1503);
  made.call(main, 0, 3, 5);
  EXPECT_EQ(profile_folded(made.profile, {}), "prog;main;f(bool) 1503\nprog;main;f(int) 6004\nprog;main;g 5\n");
}

TEST(ProfileFolded, joins_threads_of_one_name) {
  Made made({"start", "work"});
  made.profile.owners.push_back({7, "prog", 8, "worker"});
  made.profile.owners.push_back({7, "prog", 9, "worker"});
  made.profile.owners.push_back({7, "prog", 10, "prog"});
  for (const std::uint32_t owner : {0u, 1u, 2u, 3u}) made.call(none, 0, 1, 10 + owner, owner);
  EXPECT_EQ(profile_folded(made.profile, {}), "prog (worker);work 23\nprog;work 23\n");
  const std::string speedscope = profile_speedscope(made.profile, {});
  EXPECT_NE(speedscope.find("\"weights\":[23,23]"), std::string::npos) << speedscope;
}

TEST(ProfileCallgrind, has_lines_and_instructions_where_they_are_asked_for) {
  Made made({"main", "f(int)"});
  made.call(none, 0, 1, 12);
  made.profile.rows.front().line = 3;
  const std::string by_line = profile_callgrind(made.profile, {});
  EXPECT_NE(by_line.find("\npositions: line\n"), std::string::npos);
  EXPECT_NE(by_line.find("\n3 12\n"), std::string::npos) << by_line;
  const std::string by_instruction = profile_callgrind(made.profile, {.instructions = true});
  EXPECT_NE(by_instruction.find("\npositions: instr line\n"), std::string::npos);
  EXPECT_NE(by_instruction.find("\n0x2000 3 12\n"), std::string::npos) << by_instruction;
}

TEST(ProfileTable, is_not_widened_by_one_long_name) {
  Made made({"short", std::string(1'000'000, 'x')});
  made.call(none, 0, 0, 5);
  made.call(none, 0, 1, 5);
  const std::string table = profile_table(made.profile, {});
  EXPECT_LT(table.size(), 1500u);
  EXPECT_GT(profile_table(made.profile, {.whole_names = true}).size(), 1'000'000u);
  const std::size_t row = table.find(" short ");
  ASSERT_NE(row, std::string::npos) << table;
  EXPECT_LT(table.find('\n', row) - row, 40u) << table;
}

TEST(ProfileTable, is_not_widened_by_one_long_name_of_a_file) {
  Made made({"short", "other"});
  made.call(none, 0, 0, 5);
  made.call(none, 0, 1, 5);
  made.profile.objects.front().name = "/" + std::string(255, 'n');
  made.profile.objects.push_back({"/lib"});
  made.profile.functions.front().object = 1;
  for (const ProfileBy by : {ProfileBy::function, ProfileBy::line}) {
    const std::string table = profile_table(made.profile, {.by = by});
    EXPECT_EQ(table.find(std::string(101, 'n')), std::string::npos) << table;
    const std::size_t row = table.find(" short ");
    ASSERT_NE(row, std::string::npos) << table;
    EXPECT_LT(table.find('\n', row) - row, 90u) << table;
    EXPECT_NE(profile_table(made.profile, {.by = by, .whole_names = true}).find(std::string(255, 'n')),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tally::report
