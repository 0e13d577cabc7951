#include "tally/output/analysis/whole_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {
namespace {

/// A profile with one row of 10 for each function.
result::Profile profile_of_functions(std::vector<result::ProfileFunction> functions) {
  result::Profile profile;
  profile.stat.events.resize(1);
  profile.owners.resize(1);
  profile.objects.resize(2);
  profile.sources = {"", "a.c", "b.c"};
  profile.functions = std::move(functions);
  for (std::uint32_t f = 0; f < profile.functions.size(); ++f) {
    profile.rows.push_back({.function = f, .address = profile.functions[f].address});
    profile.counts.push_back(10);
  }
  return profile;
}

/// "NAME COUNT ENTERED" of each function.
std::vector<std::string> whole_rows_of(const result::Profile& profile) {
  const WholeFunctions whole(profile);
  std::vector<std::string> rows;
  for (const ProfileSum& sum : sums_of(whole.get(), ProfileBy::function)) {
    const result::ProfileFunction& function = whole.get().functions[sum.function];
    rows.push_back(function.name + " " + std::to_string(sum.counts[0]) + " " + std::to_string(function.entered));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

using WholeRows = std::vector<std::string>;

TEST(WholeFunctions, contain_their_clones) {
  const result::Profile profile =
      profile_of_functions({{.name = "main", .address = 1, .entered = 1},
                            {.name = "f.cold", .address = 2, .entered = 7, .clone_of = 4},
                            {.name = "f", .address = 4, .entered = 3},
                            {.name = "f.constprop.0", .address = 5, .entered = 4, .clone_of = 4},
                            {.name = "f.part.0", .address = 6, .entered = 2, .clone_of = 4}});
  EXPECT_EQ(whole_rows_of(profile), (WholeRows{"f 40 7", "main 10 1"}));
}

TEST(WholeFunctions, of_clones_only) {
  EXPECT_EQ(whole_rows_of(
                profile_of_functions({{.name = "f(int) [clone .isra.0]", .address = 5, .entered = 4, .clone_of = 5},
                                      {.name = "f(int) [clone .isra.1]", .address = 6, .entered = 2, .clone_of = 5}})),
            WholeRows{"f(int) 20 6"});
  EXPECT_EQ(whole_rows_of(profile_of_functions({{.name = "f.part.0", .address = 5, .entered = 4, .clone_of = 3}})),
            WholeRows{"f 10 4"});
  // With the counts of inlined copies.
  EXPECT_EQ(whole_rows_of(
                profile_of_functions({{.name = "f.isra.0", .address = 5, .entered = 4, .clone_of = 5}, {.name = "f"}})),
            WholeRows{"f 20 4"});
}

TEST(WholeFunctions, of_one_name_stay_apart) {
  EXPECT_EQ(whole_rows_of(profile_of_functions({{.name = "f", .address = 1, .entered = 1},
                                                {.name = "f.cold", .address = 2, .clone_of = 1},
                                                {.name = "f", .address = 3, .entered = 2},
                                                {.name = "f", .object = 1, .address = 1, .entered = 3}})),
            (WholeRows{"f 10 2", "f 10 3", "f 20 1"}));
}

TEST(WholeFunctions, of_results_of_other_tools_have_names_and_source_files) {
  EXPECT_EQ(whole_rows_of(profile_of_functions({{.name = "f", .source = 1, .line = 3},
                                                {.name = "f.cold", .source = 1, .line = 5},
                                                {.name = "f", .source = 2, .line = 3},
                                                {.name = "f.cold", .source = 2, .line = 5},
                                                {.name = "f.cold", .object = 1}})),
            (WholeRows{"f 20 0", "f 20 0", "f.cold 10 0"}));
  EXPECT_EQ(whole_rows_of(profile_of_functions({{.name = "f"}, {.name = "f.llvm.7"}, {.name = "f.llvm.8"}})),
            (WholeRows{"f 10 0", "f 10 0", "f 10 0"}));
}

TEST(WholeFunctions, names_choose_clones) {
  const result::Profile profile = profile_of_functions(
      {{.name = "f(int)", .address = 1}, {.name = "f(int) [clone .cold]", .address = 2, .clone_of = 1}});
  EXPECT_EQ(functions_called(profile, "f(int)").size(), 2u);
  EXPECT_EQ(functions_called(profile, "f(int) [clone .cold]").size(), 1u);
}

TEST(WholeFunctions, spread_with_their_clones) {
  result::Profile profile =
      profile_of_functions({{.name = "f", .address = 1}, {.name = "f.cold", .address = 2, .clone_of = 1}});
  profile.runs = 2;
  profile.functions[1].least = {8};
  profile.functions[1].most = {12};
  const WholeFunctions whole(profile);
  EXPECT_EQ(whole.get().functions.at(0).least, std::vector<std::int64_t>{18});
  EXPECT_EQ(whole.get().functions.at(0).most, std::vector<std::int64_t>{22});
}

TEST(WholeFunctions, rows_and_calls_refer_to_them) {
  result::Profile profile = profile_of_functions(
      {{.name = "f.cold", .address = 2, .clone_of = 4}, {.name = "g", .address = 3}, {.name = "f", .address = 4}});
  profile.calls.push_back({.caller = 1, .callee = 2, .calls = 1});
  profile.calls.push_back({.parent = 0, .caller = 0, .callee = 1, .calls = 1});
  profile.self = {20, 10};
  profile.inclusive = {30, 10};
  const WholeFunctions whole(profile);
  const result::Profile& made = whole.get();
  ASSERT_EQ(made.functions.size(), 2u);
  EXPECT_EQ(made.calls[0].callee, made.calls[1].caller);
  EXPECT_EQ(whole.index_of(0), whole.index_of(2));
  const auto of_owner_and_function = [](const result::ProfileRow& a, const result::ProfileRow& b) {
    return std::tuple(a.owner, a.function, a.address) < std::tuple(b.owner, b.function, b.address);
  };
  EXPECT_TRUE(std::is_sorted(made.rows.begin(), made.rows.end(), of_owner_and_function));
}

}  // namespace
}  // namespace tally::output
