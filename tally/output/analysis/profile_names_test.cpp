#include "tally/output/analysis/profile_names.hpp"

#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"

namespace tally::report {
namespace {

using Names = std::vector<std::string>;

TEST(FunctionNames, are_short_if_they_stay_distinct) {
  EXPECT_EQ(function_names(Names{"f(int)", "g(int)", "main"}, false), (Names{"f", "g", "main"}));
  EXPECT_EQ(function_names(Names{"f(int)", "f(bool)", "main"}, false), (Names{"f(int)", "f(bool)", "main"}));
  EXPECT_EQ(function_names(Names{"f(int)", "f(int)"}, false), (Names{"f", "f"})) << "in two files: one name";
  EXPECT_EQ(function_names(Names{"f(int)", "f(bool)"}, true), (Names{"f(int)", "f(bool)"}));
}

TEST(FunctionNames, keep_what_differs) {
  const std::string many = "std::vector<std::basic_string<char>, std::allocator<std::basic_string<char>>>";
  const std::string one = "void sort<" + many + ">(int)", other = "void sort<" + many + "*>(int)";
  EXPECT_EQ(function_names(Names{one}, false), (Names{"void sort<…>"}));
  EXPECT_EQ(function_names(Names{one, other}, false), (Names{"void sort<" + many + ">", "void sort<" + many + "*>"}));
}

TEST(FunctionNames, of_rust_keep_their_types) {
  const std::string from_iter =
      "<alloc::vec::Vec<T> as alloc::vec::spec_from_iter::SpecFromIter<T, core::iter::Map<I, F>>>::from_iter";
  EXPECT_EQ(function_names(Names{from_iter}, false),
            (Names{"<alloc::vec::Vec<…> as alloc::vec::spec_from_iter::SpecFromIter<…>>::from_iter"}));
  EXPECT_EQ(function_names(Names{"prog::work::<" + from_iter + ">"}, false), (Names{"prog::work::<…>"}));
}

TEST(SimilarFunctions, may_have_a_scope) {
  const Names names{"main", "prog::parse(int)", "prog::sparse", "other::print"};
  EXPECT_EQ(similar_functions(names, "parse"), (Names{"prog::parse", "prog::sparse"}));
  EXPECT_EQ(similar_functions(names, "prog::pars"), (Names{"prog::parse", "prog::sparse"}));
  EXPECT_EQ(similar_functions(names, "unknown"), Names{});
}

TEST(Shortened, keeps_the_beginning_and_the_end) {
  EXPECT_EQ(shortened("abcdef", 6, 0), "abcdef");
  EXPECT_EQ(shortened("abcdef", 5, 0), "abcd…");
  EXPECT_EQ(shortened("abcdef", 5, 2), "ab…ef");
  EXPECT_EQ(shortened("µ€üß", 3, 1), "µ…ß");
}

TEST(CutNames, are_of_at_most_100_characters) {
  const std::string x(1'000'000, 'x'), umlauts = [] {
    std::string made;
    for (int i = 0; i < 200; ++i) made += "ü";
    return made;
  }();
  const Names cut = cut_names({"main", "begin" + x + "end", umlauts});
  EXPECT_EQ(cut[0], "main");
  EXPECT_EQ(display_width(cut[1]), 100u);
  EXPECT_TRUE(cut[1].starts_with("beginx") && cut[1].ends_with("xend")) << cut[1];
  EXPECT_EQ(display_width(cut[2]), 100u);
  EXPECT_EQ(valid_utf8(cut[2]), cut[2]);
}

TEST(CutNames, differ_still) {
  const std::string x(150, 'x');
  const Names cut = cut_names({x + "first" + x, x + "second" + x, x + "first" + x});
  EXPECT_NE(cut[0], cut[1]);
  EXPECT_EQ(cut[0], cut[2]);
  for (const std::string& name : cut) EXPECT_LE(display_width(name), 100u) << name;
}

}  // namespace
}  // namespace tally::report
