#include "tally/output/analysis/profile_names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tally/core/base/text.hpp"

namespace tally::output {
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

TEST(IsCalled, by_every_name_that_a_table_prints) {
  const std::string many = "std::vector<std::basic_string<char>, std::allocator<std::basic_string<char>>>";
  for (const std::string& name :
       {std::string("main"), std::string("(anonymous namespace)::f(int)"), std::string("A::operator()(int) const"),
        std::string("A::operator<(A const&) const"), std::string("operator\"\" _km(long double)"),
        std::string("A::operator std::vector<int>() const"), std::string("part@module(int)"),
        std::string("main::{lambda(int)#1}::operator()(int) const"), "void ns::sort<" + many + ">(" + many + ")",
        std::string("<alloc::vec::Vec<T> as core::ops::Drop>::drop"), std::string("prog::main::{closure#0}"),
        std::string("github.com/a/b.(*T).f"), std::string("main.f[go.shape.int]"), std::string("_D4prog4mainFZv"),
        std::string("puts@plt"), std::string("gzip+0x4290"), std::string(300, 'x') + "end(int)"}) {
    for (const bool whole : {false, true}) EXPECT_TRUE(is_called(name, function_name(name, whole))) << name;
    EXPECT_TRUE(is_called(name, cut_names({function_name(name, false)}).front())) << name;
  }
  EXPECT_TRUE(is_called("int ns::sum<int>(int)", "ns::sum<int>"));
  EXPECT_TRUE(is_called("reply[abi:cxx11](int)", "reply"));
  EXPECT_TRUE(is_called("int ns::f[abi:cxx11]<int>(int)", "ns::f"));
  EXPECT_TRUE(is_called("int ns::sum<int>(int)", "ns::sum"));
}

TEST(IsCalled, by_no_other_name) {
  EXPECT_FALSE(is_called("ns::sum(int)", "sum"));
  EXPECT_FALSE(is_called("sum(int)", "sum(long)"));
  EXPECT_FALSE(is_called("summary(int)", "sum…y(long)"));
  EXPECT_FALSE(is_called("(anonymous namespace)::f(int)", ""));
  EXPECT_FALSE(is_called("helper.constprop.0", "help"));
}

TEST(IsCalled, copies_and_parts_by_the_name_of_their_function) {
  for (const char* const name : {"helper.constprop.0", "helper.isra.0.cold", "helper"})
    for (const char* const called : {"helper", "helper.part.0"}) EXPECT_TRUE(is_called(name, called)) << name;
  EXPECT_TRUE(is_called("ns::f(int) [clone .isra.0]", "ns::f"));
  EXPECT_TRUE(is_called("ns::f(int) [clone .isra.0]", "ns::f(int) [clone .isra.0]"));
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

// One has two lambdas in it, and the next differs from the others in the second one only.
TEST(CutNames, differ_still_in_several_lambdas) {
  const std::string x(90, 'x');
  const auto name = [&](int first, int second) {
    return fmt::format("apply<{}::{{lambda(int)#{}}}, {}::{{lambda(int)#{}}}, {}>::run", x, first, x, second, x);
  };
  const Names names{name(1, 1), name(1, 2), name(2, 1), name(2, 3)};
  const Names cut = cut_names(names);
  EXPECT_EQ(std::set<std::string>(cut.begin(), cut.end()).size(), names.size()) << cut[0] << "\n" << cut[1];
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(is_called(names[i], cut[i])) << cut[i];
}

}  // namespace
}  // namespace tally::output
