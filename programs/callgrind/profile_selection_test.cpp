#include "programs/callgrind/profile_selection.hpp"

#include <gtest/gtest.h>

#include "programs/callgrind/profile_columns.hpp"
#include "programs/callgrind/profile_skipping.hpp"

namespace tally::callgrind {
namespace {

using Counts = std::vector<std::int64_t>;
constexpr std::uint32_t none = result::CodeCall::no_parent;

/// A profile of two events. Calls have twice as many of the second one.
struct Builder {
  result::Profile profile;

  explicit Builder(const std::vector<std::string>& functions) {
    for (const char* name : {"instructions", "misses"}) {
      result::Event event;
      event.total.name = {name};
      event.total.count.value = 0;
      event.total.count.trust = Trust::exact;
      profile.stat.events.push_back(event);
    }
    profile.repeated = profile.unplaced = {0, 0};
    profile.owners = {{.pid = 7, .command = "prog", .tid = 7, .thread = {}},
                      {.pid = 8, .command = "child", .tid = 8, .thread = {}}};
    profile.sources = {"", "prog.c"};
    profile.objects.push_back({"/bin/prog"});
    for (const std::string& name : functions)
      profile.functions.push_back({.name = name, .address = 0x1000, .source = 1, .line = 3});
  }
  void row(std::uint32_t owner, std::uint32_t function, std::uint32_t line, std::int64_t count, std::int64_t misses) {
    profile.rows.push_back({.owner = owner, .function = function, .source = 1, .line = line});
    profile.counts.insert(profile.counts.end(), {count, misses});
    *profile.stat.events[0].total.count.value += count;
    *profile.stat.events[1].total.count.value += misses;
  }
  std::uint32_t call(std::uint32_t owner, std::uint32_t parent, std::uint32_t caller, std::uint32_t callee,
                     std::int64_t self) {
    profile.calls.push_back(
        {.owner = owner, .parent = parent, .caller = caller, .callee = callee, .site = 0x2000, .line = 8, .calls = 1});
    profile.self.insert(profile.self.end(), {self, 2 * self});
    profile.inclusive.insert(profile.inclusive.end(), {self, 2 * self});
    return static_cast<std::uint32_t>(profile.calls.size() - 1);
  }
};

Counts totals(const result::Profile& profile) {
  Counts all;
  for (const result::Event& event : profile.stat.events) all.push_back(*event.total.count.value);
  return all;
}

std::int64_t first_of(const result::Profile& profile, std::uint32_t function) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < profile.rows.size(); ++i)
    if (profile.rows[i].function == function) sum += profile.count(i, 0);
  return sum;
}

TEST(Selection, has_one_process_with_its_counts) {
  Builder b({"main", "work"});
  b.row(0, 0, 3, 10, 1);
  b.row(1, 1, 4, 20, 2);
  const std::uint32_t main = b.call(0, none, 0, 1, 0);
  b.call(1, none, 0, 1, 20);
  b.call(0, main, 1, 0, 10);
  const auto of_child = [](const result::CodeOwner& owner) { return owner.pid == 8; };
  const result::Profile child = of_owners(b.profile, of_child, {});
  EXPECT_EQ(totals(child), (Counts{20, 2}));
  ASSERT_EQ(child.rows.size(), 1u);
  ASSERT_EQ(child.calls.size(), 1u);
  EXPECT_EQ(child.calls[0].parent, none);
  const result::Profile more = of_owners(b.profile, of_child, {25, 2});
  EXPECT_EQ(totals(more), (Counts{25, 2}));
  EXPECT_EQ(more.unplaced, (Counts{5, 0})) << "sums equal the totals";
  EXPECT_EQ(of_owners(b.profile, [](const auto& owner) { return owner.pid == 7; }, {}).calls.size(), 2u);
}

// main calls outer, which calls inner; main also calls inner.
Builder nested() {
  Builder b({"main", "outer", "inner"});
  b.row(0, 0, 3, 100, 200);
  b.row(0, 1, 3, 10, 20);
  b.row(0, 2, 3, 6, 12);
  b.row(0, 2, 4, 2, 4);
  const std::uint32_t main = b.call(0, none, 0, 0, 100);
  const std::uint32_t outer = b.call(0, main, 0, 1, 10);
  b.call(0, outer, 1, 2, 2);
  b.call(0, main, 0, 2, 6);
  return b;
}

TEST(Collection, is_on_in_calls_of_a_function) {
  const Collected made = collected(nested().profile, {false, {"out*"}});
  EXPECT_EQ(totals(made.profile)[0], 12);
  EXPECT_EQ(first_of(made.profile, 0), 0);
  EXPECT_EQ(first_of(made.profile, 1), 10);
  EXPECT_EQ(first_of(made.profile, 2), 2) << "only what outer called";
  EXPECT_EQ(made.divided, std::vector<std::string>{"inner"});
  EXPECT_EQ(totals(made.profile)[1], 24) << "of each event";
  ASSERT_EQ(made.profile.calls.size(), 3u) << "main, its call of outer, and that of inner";
  EXPECT_EQ(made.profile.inclusive[0], 12);
}

TEST(Collection, of_a_function_that_always_runs_in_it_keeps_its_lines) {
  const Collected made = collected(nested().profile, {false, {"inner"}});
  EXPECT_EQ(totals(made.profile), (Counts{8, 16}));
  EXPECT_EQ(made.profile.rows.size(), 2u);
  EXPECT_TRUE(made.divided.empty());
}

TEST(Collection, that_is_on_at_the_start_is_switched_off) {
  const Collected made = collected(nested().profile, {true, {"outer"}});
  EXPECT_EQ(totals(made.profile)[0], 118 - 12);
  EXPECT_EQ(first_of(made.profile, 2), 6);
}

TEST(Collection, is_switched_by_the_first_call_of_a_recursive_function) {
  Builder b({"main", "f"});
  b.row(0, 0, 3, 5, 10);
  b.row(0, 1, 3, 30, 60);
  const std::uint32_t main = b.call(0, none, 0, 0, 5);
  const std::uint32_t f = b.call(0, main, 0, 1, 10);
  b.call(0, f, 1, 1, 20);
  EXPECT_EQ(totals(collected(b.profile, {false, {"f"}}).profile)[0], 30);
}

TEST(Collection, that_never_begins_is_empty) {
  const Collected made = collected(nested().profile, {false, {}});
  EXPECT_EQ(totals(made.profile), (Counts{0, 0}));
  EXPECT_TRUE(made.profile.rows.empty());
  EXPECT_TRUE(made.profile.calls.empty());
}

TEST(Skipping, adds_counts_to_the_call_instruction) {
  const Skipped made = without_functions(nested().profile, {.functions = {"out*"}});
  EXPECT_EQ(totals(made.profile), totals(nested().profile));
  EXPECT_TRUE(made.kept.empty());
  EXPECT_EQ(first_of(made.profile, 0), 110);
  EXPECT_EQ(first_of(made.profile, 1), 0);
  ASSERT_EQ(made.profile.rows.size(), 4u);
  EXPECT_EQ(made.profile.rows[1].line, 8u) << "of the call";
  EXPECT_EQ(made.profile.count(1, 0), 10);
  ASSERT_EQ(made.profile.calls.size(), 3u);
  EXPECT_EQ(made.profile.calls[1].caller, 0u) << "main calls what outer called";
  EXPECT_EQ(made.profile.calls[1].parent, 0u);
  EXPECT_EQ(made.profile.inclusive[0], 118);
}

TEST(Skipping, of_a_function_and_its_caller_adds_both_to_the_next_caller) {
  const Skipped made = without_functions(nested().profile, {.functions = {"outer", "inner"}});
  EXPECT_EQ(first_of(made.profile, 0), 118);
  EXPECT_EQ(made.profile.calls.size(), 1u);
  EXPECT_EQ(made.profile.inclusive[0], 118);
}

TEST(Skipping, leaves_the_function_with_which_a_thread_began) {
  Builder b({"start", "work"});
  b.row(0, 0, 3, 5, 10);
  b.row(0, 1, 3, 30, 60);
  b.call(0, none, 0, 1, 30);
  const Skipped made = without_functions(b.profile, {.objects = {"/bin/prog"}});
  EXPECT_EQ(first_of(made.profile, 0), 35);
  EXPECT_TRUE(made.profile.calls.empty());
  // Without a known caller, it is the function itself.
  b.profile.calls[0].site = 0;
  EXPECT_EQ(first_of(without_functions(b.profile, {.functions = {"work"}}).profile, 1), 30);
}

// f counts 10 in each call, and jumps to g, which counts 5: f's call has 15.
TEST(Skipping, leaves_counts_after_jumps_where_they_are) {
  Builder b({"start", "f", "g"});
  b.row(0, 0, 3, 7, 14);
  b.row(0, 1, 3, 10, 20);
  b.row(0, 2, 3, 5, 10);
  const std::uint32_t main = b.call(0, none, 0, 0, 7);
  b.call(0, main, 0, 1, 15);
  const Skipped made = without_functions(b.profile, {.functions = {"f"}});
  EXPECT_EQ(first_of(made.profile, 0), 17);
  EXPECT_EQ(first_of(made.profile, 2), 5);
  EXPECT_EQ(made.profile.inclusive[0], 22);
  const Skipped entered = without_functions(b.profile, {.functions = {"g"}});
  EXPECT_EQ(first_of(entered.profile, 2), 5) << "no call of it is known";
  EXPECT_EQ(entered.kept, std::vector<std::string>{"g"});
  EXPECT_EQ(totals(entered.profile), totals(b.profile));
}

TEST(Columns, are_sums_of_events) {
  Builder b({"main"});
  b.row(0, 0, 3, 10, 4);
  b.call(0, none, 0, 0, 10);
  const DerivedEvent ir{"Ir", {{"instructions", 1}}};
  DerivedEvent dr{"Dr", {}};
  for (const auto& [name, weight] : {std::pair{"instructions", 1}, {"misses", -1}, {"x", 1}})
    dr.terms.emplace_back(name, weight);
  const result::Profile made = with_columns(b.profile, {ir, dr});
  EXPECT_EQ(totals(made), (Counts{10, 6}));
  EXPECT_EQ(made.counts, (Counts{10, 6}));
  EXPECT_EQ(made.self, (Counts{10, -10}));
  EXPECT_EQ(made.stat.events[1].total.name.base, "Dr");
}

}  // namespace
}  // namespace tally::callgrind
