// Stacks and calls of constructed profiles: indirect recursion, overloads, threads.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/kinds/profile_forms.hpp"

namespace tally::output {
namespace {

constexpr std::uint32_t no_call = result::CodeCall::no_parent;

/// A profile of one event whose rows are the functions' calls.
struct CallsBuilder {
  result::Profile profile;

  explicit CallsBuilder(const std::vector<std::string>& functions) {
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
  /// Returns its index.
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

/// even() calls odd(), and odd() calls even(): own counts of a function plus those of its calls are its inclusive
/// counts.
TEST(ProfileCalls, of_functions_that_call_each_other_add_up) {
  CallsBuilder builder({"main", "even", "odd"});
  const std::uint32_t outer = builder.call(no_call, 0, 1, 10), odd = builder.call(outer, 1, 2, 100);
  builder.call(odd, 2, 1, 1000, 0, true);
  const std::vector<std::int64_t> counts = counts_of_calls(builder.profile);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1110, 100, 1000}));
  std::map<std::uint32_t, std::int64_t> with_callees{{0, 0}, {1, 1010}, {2, 100}};
  for (const CallSum& sum : calls_between(builder.profile)) with_callees[sum.caller] += sum.inclusive.front();
  EXPECT_EQ(with_callees, (std::map<std::uint32_t, std::int64_t>{{0, 1110}, {1, 1110}, {2, 1100}}));
  EXPECT_EQ(profile_folded(builder.profile, {}), "prog;even 10\nprog;even;odd 100\nprog;even;odd;even 1000\n");
}

/// The sums of readers of the callgrind format: cost of a function with its calls, and cost of calls of a function.
struct CallgrindSums {
  std::map<std::string, std::int64_t> from, to, calls;

  explicit CallgrindSums(const result::Profile& profile) {
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
  CallsBuilder builder({"main", "even", "odd"});
  const std::uint32_t outer = builder.call(no_call, 0, 1, 10), odd = builder.call(outer, 1, 2, 100);
  builder.call(odd, 2, 1, 1000, 0, true);
  const CallgrindSums sums(builder.profile);
  EXPECT_EQ(sums.from, (std::map<std::string, std::int64_t>{{"main", 1110}, {"even", 1110}, {"odd", 1100}}));
  EXPECT_EQ(sums.to, (std::map<std::string, std::int64_t>{{"even", 1110}, {"odd", 1100}}));
  // Two calls each, one of them across a frame.
  EXPECT_EQ(sums.calls, (std::map<std::string, std::int64_t>{{"even", 2}, {"odd", 2}}));
}

/// even() calls odd(), which jumps to even(): 900 of the 1,000 that the call of odd() counted are even()'s own.
TEST(ProfileCallgrind, adds_up_where_functions_jump_to_each_other) {
  CallsBuilder builder({"main", "even", "odd", "other"});
  const std::uint32_t outer = builder.call(no_call, 0, 1, 10), odd = builder.call(outer, 1, 2, 1000);
  builder.call(odd, 1, 3, 7);  // from even(), in the call of odd()
  builder.profile.counts = {910, 100, 7};
  const CallgrindSums sums(builder.profile);
  EXPECT_EQ(sums.from,
            (std::map<std::string, std::int64_t>{{"main", 1017}, {"even", 1017}, {"odd", 1007}, {"other", 7}}));
  EXPECT_EQ(sums.to, (std::map<std::string, std::int64_t>{{"even", 1017}, {"odd", 1007}, {"other", 7}}));
  std::int64_t even = 910;
  for (const CallSum& sum : calls_between(builder.profile)) even += sum.caller == 1 ? sum.inclusive.front() : 0;
  EXPECT_EQ(even, 1017);
}

/// Counts that another function may have counted as well are not subtracted from a call: first() jumps to leaf(), which
/// nobody calls.
TEST(ProfileCallgrind, keeps_what_functions_count_elsewhere) {
  CallsBuilder builder({"main", "first", "leaf", "other"});
  builder.call(no_call, 0, 1, 500);
  const std::uint32_t again = builder.call(no_call, 0, 1, 20);
  builder.call(again, 2, 3, 40);  // from leaf(), in the call of first()
  builder.profile.rows[1].function = 2;
  builder.profile.counts = {100, 420, 40};
  EXPECT_EQ(CallgrindSums(builder.profile).from,
            (std::map<std::string, std::int64_t>{{"main", 560}, {"first", 140}, {"leaf", 460}, {"other", 40}}));
}

/// A program that was rebuilt while it ran is two files with the same path.
TEST(ProfileObjects, are_distinguished_if_they_share_a_name) {
  CallsBuilder builder({"main", "work"});
  builder.profile.functions.push_back({"work", 1, 0x2000});
  const std::uint32_t main = builder.call(no_call, 0, 0, 5);
  builder.call(main, 0, 1, 10);
  builder.call(main, 0, 2, 20);
  builder.profile.objects[0].build_id = "1f2e3d4c5b6a";
  builder.profile.objects.push_back({"/bin/prog"});
  builder.profile.objects[1].build_id = "aabbccddeeff";
  EXPECT_EQ(object_names(builder.profile, false), (std::vector<std::string>{"prog [1f2e3d4c]", "prog [aabbccdd]"}));
  EXPECT_EQ(object_names(builder.profile, true),
            (std::vector<std::string>{"/bin/prog [1f2e3d4c]", "/bin/prog [aabbccdd]"}));
  for (const std::string& text : {profile_table(builder.profile, {}), profile_callgrind(builder.profile, {})})
    for (const char* const name : {"prog [1f2e3d4c]", "prog [aabbccdd]"})
      EXPECT_NE(text.find(name), std::string::npos) << text;
  builder.profile.objects[0].build_id = builder.profile.objects[1].build_id;
  EXPECT_EQ(object_names(builder.profile, false), (std::vector<std::string>{"prog #1", "prog #2"}));
  builder.profile.objects[0].name = "/bin/other";
  EXPECT_EQ(object_names(builder.profile, false), (std::vector<std::string>{"other", "prog"}));
}

TEST(ProfileFolded, keeps_overloads_apart) {
  CallsBuilder builder({"main", "f(int)", "f(bool)", "g(int)"});
  const std::uint32_t main = builder.call(no_call, 0, 0, 0);
  builder.call(main, 0, 1, 6004);
  builder.call(main, 0, 2, 1503);
  builder.call(main, 0, 3, 5);
  EXPECT_EQ(profile_folded(builder.profile, {}), "prog;main;f(bool) 1503\nprog;main;f(int) 6004\nprog;main;g 5\n");
}

TEST(ProfileFolded, joins_threads_of_one_name) {
  CallsBuilder builder({"start", "work"});
  builder.profile.owners.push_back({7, "prog", 8, "worker"});
  builder.profile.owners.push_back({7, "prog", 9, "worker"});
  builder.profile.owners.push_back({7, "prog", 10, "prog"});
  for (const std::uint32_t owner : {0u, 1u, 2u, 3u}) builder.call(no_call, 0, 1, 10 + owner, owner);
  EXPECT_EQ(profile_folded(builder.profile, {}), "prog (worker);work 23\nprog;work 23\n");
  const std::string speedscope = profile_speedscope(builder.profile, {});
  EXPECT_NE(speedscope.find("\"weights\":[23,23]"), std::string::npos) << speedscope;
}

TEST(ProfileCallgrind, has_lines_and_instructions_if_requested) {
  CallsBuilder builder({"main", "f(int)"});
  builder.call(no_call, 0, 1, 12);
  builder.profile.rows.front().line = 3;
  const std::string by_line = profile_callgrind(builder.profile, {});
  EXPECT_NE(by_line.find("\npositions: line\n"), std::string::npos);
  EXPECT_NE(by_line.find("\n3 12\n"), std::string::npos) << by_line;
  const std::string by_instruction = profile_callgrind(builder.profile, {.instructions = true});
  EXPECT_NE(by_instruction.find("\npositions: instr line\n"), std::string::npos);
  EXPECT_NE(by_instruction.find("\n0x2000 3 12\n"), std::string::npos) << by_instruction;
}

TEST(ProfileTable, is_not_widened_by_one_long_name) {
  CallsBuilder builder({"short", std::string(1'000'000, 'x')});
  builder.call(no_call, 0, 0, 5);
  builder.call(no_call, 0, 1, 5);
  const std::string table = profile_table(builder.profile, {});
  EXPECT_LT(table.size(), 1500u);
  EXPECT_GT(profile_table(builder.profile, {.whole_names = true}).size(), 1'000'000u);
  const std::size_t row = table.find(" short ");
  ASSERT_NE(row, std::string::npos) << table;
  EXPECT_LT(table.find('\n', row) - row, 40u) << table;
}

TEST(ProfileTable, is_not_widened_by_one_long_name_of_a_file) {
  CallsBuilder builder({"short", "other"});
  builder.call(no_call, 0, 0, 5);
  builder.call(no_call, 0, 1, 5);
  builder.profile.objects.front().name = "/" + std::string(255, 'n');
  builder.profile.objects.push_back({"/lib"});
  builder.profile.functions.front().object = 1;
  for (const ProfileBy by : {ProfileBy::function, ProfileBy::line}) {
    const std::string table = profile_table(builder.profile, {.by = by});
    EXPECT_EQ(table.find(std::string(101, 'n')), std::string::npos) << table;
    const std::size_t row = table.find(" short ");
    ASSERT_NE(row, std::string::npos) << table;
    EXPECT_LT(table.find('\n', row) - row, 90u) << table;
    EXPECT_NE(profile_table(builder.profile, {.by = by, .whole_names = true}).find(std::string(255, 'n')),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tally::output
