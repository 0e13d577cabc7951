// Tests names that users type, and the functions of a real file: this test program.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tally/linux/symbol/names.hpp"

namespace tally::symbol {

// Not in an anonymous namespace, so that they are in the symbol table.
struct Sample {
  [[gnu::noipa, gnu::used]] explicit Sample(int n) : value(n) {}
  [[gnu::noipa, gnu::used]] int twice(int n) const { return value + 2 * n; }
  [[gnu::noipa, gnu::used]] int twice(double n) const { return value + static_cast<int>(n); }
  [[gnu::noipa, gnu::used]] int operator()(int n) const { return value - n; }
  int value;
};
template <class T>
[[gnu::noipa]] T of_a_kind(T value) {
  return value + 1;
}
extern "C" [[gnu::noipa, gnu::used]] int plain_name(int n) { return n + 3; }

namespace {

std::string own_bytes() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OwnElf : public testing::Test {
 protected:
  void SetUp() override {
    Sample sample(2);
    sum = sample.twice(1) + sample.twice(1.5) + sample(1) + of_a_kind(1) + plain_name(2);
    ASSERT_TRUE(elf) << elf.error().message;
  }
  std::vector<std::string> names(const char* symbol) const {
    std::vector<std::string> made;
    for (const SymbolMatch& one : find(*elf, symbol)) made.push_back(one.name);
    return made;
  }
  static inline const std::string bytes = own_bytes();
  Result<Elf> elf = read_elf(bytes);
  volatile int sum = 0;
};
using Names = std::vector<std::string>;

TEST_F(OwnElf, FunctionsAreFoundByTheNamesOfTheirSource) {
  EXPECT_EQ(names("plain_name"), Names{"plain_name"});
  EXPECT_EQ(names("tally::symbol::Sample::twice(int) const"), Names{"tally::symbol::Sample::twice(int) const"});
  EXPECT_EQ(names("tally::symbol::Sample::operator()"), Names{"tally::symbol::Sample::operator()(int) const"});
  EXPECT_EQ(names("tally::symbol::of_a_kind<int>"), Names{"int tally::symbol::of_a_kind<int>(int)"});
  EXPECT_EQ(names("_ZNK5tally6symbol6Sample5twiceEi"), Names{"tally::symbol::Sample::twice(int) const"});
  EXPECT_EQ(names("twice"), Names{});
}

TEST(FoundFunctions, have_the_names_that_tables_show) {
  Elf elf;
  for (const char* name : {"_RNvCs1_4prog4main", "_RNvXCs1_4progNtB2_1ANtB2_3Run3run", "_RINvCs1_4prog4workmEB2_",
                           "_RINvCs1_4prog4workyEB2_", "_RNvNtNtCs1_3std2io5stdio6__print", "__list_MOD_sum",
                           "camlStdlib__List__map_12", "main"})
    elf.functions.push_back({.name = name, .address = elf.functions.size() + 1});
  const auto symbols = [&](const char* name) {
    std::vector<std::string> made;
    for (const SymbolMatch& one : find(elf, name)) made.emplace_back(one.symbol);
    return made;
  };
  for (const Function& function : elf.functions)
    EXPECT_EQ(symbols(demangled(function.name).c_str()), Names{std::string(function.name)});
  EXPECT_EQ(symbols("prog::main"), Names{"_RNvCs1_4prog4main"});
  EXPECT_EQ(symbols("<prog::A as prog::Run>::run"), Names{"_RNvXCs1_4progNtB2_1ANtB2_3Run3run"});
  EXPECT_EQ(symbols("prog::work::<u64>"), Names{"_RINvCs1_4prog4workyEB2_"});
  EXPECT_EQ(symbols("std::io::stdio::_print"), Names{"_RNvNtNtCs1_3std2io5stdio6__print"});
  EXPECT_EQ(symbols("Stdlib.List.map"), Names{"camlStdlib__List__map_12"});
  EXPECT_EQ(symbols("work"), Names{});
}

TEST(FoundFunctions, contain_the_copies_that_compilers_make) {
  Elf elf;
  for (const char* name : {"helper", "helper.constprop.0", "helper.part.0", "helper.cold", "_Z1fi", "_Z1fi.isra.0"})
    elf.functions.push_back({.name = name, .address = elf.functions.size() + 1});
  const auto addresses = [&](const char* name) {
    const auto found = find(elf, name);
    EXPECT_FALSE(ambiguity(found, name, "prog")) << name;
    std::vector<std::uint64_t> all;
    for (const SymbolMatch& one : found) all.push_back(one.address);
    return all;
  };
  using Addresses = std::vector<std::uint64_t>;
  EXPECT_EQ(addresses("helper"), (Addresses{1, 2, 3}));
  EXPECT_EQ(addresses("helper.constprop.0"), Addresses{2});
  EXPECT_EQ(addresses("helper.cold"), Addresses{4});
  EXPECT_EQ(addresses("f"), (Addresses{5, 6}));
  EXPECT_EQ(addresses("f(int)"), (Addresses{5, 6}));
  EXPECT_EQ(addresses("f(int) [clone .isra.0]"), Addresses{6});
  // Static functions of one name.
  elf.functions = {{.name = "helper", .address = 1, .unit = 1}, {.name = "helper.isra.0", .address = 2, .unit = 2}};
  EXPECT_EQ(find(elf, "helper").size(), 2u);
  EXPECT_FALSE(ambiguity(find(elf, "helper"), "helper", "prog")) << "the only function of this name";
  elf.functions.push_back({.name = "helper", .address = 3, .unit = 2});
  EXPECT_TRUE(ambiguity(find(elf, "helper"), "helper", "prog"));
}

TEST(FoundFunctions, HaveTheirNamesWithoutAbiTags) {
  Elf elf;
  elf.functions.push_back({.name = "_Z5replyB5cxx11i", .address = 1});
  for (const char* name : {"reply[abi:cxx11](int)", "reply[abi:cxx11]", "reply", "reply(int)"})
    EXPECT_EQ(find(elf, name).size(), 1U) << name;
  elf.functions.push_back({.name = "_Z5replyi", .address = 2});
  ASSERT_EQ(find(elf, "reply").size(), 1U) << "the function without a tag";
  EXPECT_EQ(find(elf, "reply").front().address, 2U);
}

TEST(FoundFunctions, of_rust_may_be_in_several_codegen_units) {
  Elf elf;
  for (const std::uint64_t address : {1, 2})
    elf.functions.push_back({.name = "_RNvCs1_4prog4main", .address = address, .local = true});
  EXPECT_EQ(find(elf, "prog::main").size(), 2u);
  EXPECT_FALSE(ambiguity(find(elf, "prog::main"), "prog::main", "prog"));
}

TEST_F(OwnElf, OverloadsAreCandidates) {
  const auto found = find(*elf, "tally::symbol::Sample::twice");
  ASSERT_EQ(found.size(), 2u);
  const auto error = ambiguity(found, "Sample::twice", "prog");
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("is the name of 2 functions in prog"), std::string::npos) << error->message;
  EXPECT_NE(error->message.find("Sample::twice(double) const"), std::string::npos) << error->message;
  EXPECT_FALSE(ambiguity(found, "tally::symbol::Sample…", "prog")) << "a table shortened the name of one of them";
}

TEST_F(OwnElf, TheFormsOfAConstructorAreOneFunction) {
  const auto found = find(*elf, "tally::symbol::Sample::Sample");
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(ambiguity(found, "Sample", "prog"));
}

TEST_F(OwnElf, AddressesAreThoseInMemory) {
  const auto found = find(*elf, "plain_name");
  ASSERT_EQ(found.size(), 1u);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") == std::string::npos || line.find("symbol_test") == std::string::npos) continue;
    const std::uint64_t start = std::stoull(line, nullptr, 16);
    const std::uint64_t offset = std::stoull(line.substr(line.find("r-xp") + 5), nullptr, 16);
    const auto bias = bias_of(*elf, offset, start);
    ASSERT_TRUE(bias);
    EXPECT_EQ(*bias + found[0].address, reinterpret_cast<std::uint64_t>(&plain_name));
    return;
  }
  FAIL() << "no code of this program in /proc/self/maps";
}

TEST_F(OwnElf, HasTheBuildIdOfItsLinker) {
  if (elf->build_id.empty()) GTEST_SKIP() << "the linker wrote no build ID";
  std::string id;
  for (std::size_t i = 0; i < elf->build_id.size(); i += 2)
    id += static_cast<char>(std::stoi(elf->build_id.substr(i, 2), nullptr, 16));
  EXPECT_GE(id.size(), 8u);
  EXPECT_NE(bytes.find(std::string("GNU", 4) + id), std::string::npos);
}

TEST_F(OwnElf, CodeBelongsToTheLastFunctionBeforeIt) {
  ASSERT_FALSE(elf->executable.empty());
  const Segment& code = elf->executable[0];
  std::size_t named = 0, checked = 0;
  for (std::uint64_t at = 0; at < code.bytes; at += code.bytes / 97, ++checked) {
    const auto after =
        std::partition_point(elf->functions.begin(), elf->functions.end(),
                             [&](const Function& function) { return function.address <= code.address + at; });
    const auto function = function_at(bytes, code.offset + at);
    if (!function) continue;
    named++;
    ASSERT_NE(after, elf->functions.begin());
    EXPECT_EQ(function->address, std::prev(after)->address);
    EXPECT_EQ(function->name, std::prev(after)->name);
  }
  EXPECT_GT(named, checked * 9 / 10);
  EXPECT_FALSE(function_at(bytes, bytes.size() + 1));
  EXPECT_FALSE(function_at("#!/bin/sh\n", 0));
}

// A library without all symbols: most of its code has no name.
TEST_F(OwnElf, CodeOfAStrippedFileHasNoNameOfAnotherFunction) {
  std::ifstream file("/lib/x86_64-linux-gnu/libc.so.6", std::ios::binary);
  const std::string libc{std::istreambuf_iterator<char>(file), {}};
  const auto all = read_elf(libc);
  if (!all || !all->stripped) GTEST_SKIP() << "no C library without symbols at its path in Debian";
  std::size_t named = 0, checked = 0;
  const Segment& code = all->executable[0];
  for (std::uint64_t at = 0; at < code.bytes; at += code.bytes / 997, ++checked)
    named += function_at(libc, code.offset + at).has_value();
  EXPECT_GT(named, checked / 20);
  EXPECT_LT(named, checked * 19 / 20);
}

TEST(Files, OtherFilesAreRefused) {
  EXPECT_FALSE(read_elf(""));
  EXPECT_FALSE(read_elf("#!/bin/sh\n"));
  std::string cut = own_bytes();
  cut.resize(cut.size() / 2);
  EXPECT_FALSE(read_elf(cut));  // its section headers are at the end
}

TEST(Names, ParametersAndResultsAreLeftOut) {
  EXPECT_EQ(without_parameters("ns::f(int, char const*)"), "ns::f");
  EXPECT_EQ(without_parameters("void ns::g<std::pair<int, int> >(int) const"), "ns::g<std::pair<int, int> >");
  EXPECT_EQ(without_parameters("A::operator()(int)"), "A::operator()");
  EXPECT_EQ(without_parameters("A::operator bool() const"), "A::operator bool");
  EXPECT_EQ(without_parameters("f(int)::{lambda(int)#1}::operator()(int) const"),
            "f(int)::{lambda(int)#1}::operator()");
  EXPECT_EQ(without_parameters("main"), "main");
}

TEST(Places, AreParsedAsUsersWriteThem) {
  EXPECT_EQ(*parse_code_address("main"), (CodeAddress{"", "main", 0}));
  EXPECT_EQ(*parse_code_address("main+0x10"), (CodeAddress{"", "main", 16}));
  EXPECT_EQ(*parse_code_address("ns::f(std::string)+3"), (CodeAddress{"", "ns::f(std::string)", 3}));
  EXPECT_EQ(*parse_code_address("libz.so.1:inflate"), (CodeAddress{"libz.so.1", "inflate", 0}));
  EXPECT_EQ(*parse_code_address("prog:ns::f"), (CodeAddress{"prog", "ns::f", 0}));
  EXPECT_EQ(*parse_code_address("reply[abi:cxx11]"), (CodeAddress{"", "reply[abi:cxx11]", 0}));
  EXPECT_EQ(*parse_code_address("prog:reply[abi:cxx11](int)"), (CodeAddress{"prog", "reply[abi:cxx11](int)", 0}));
  EXPECT_EQ(*parse_code_address("0x401136"), (CodeAddress{"", "", 0x401136}));
  EXPECT_EQ(*parse_code_address("libz:0x10"), (CodeAddress{"libz", "", 16}));
  EXPECT_EQ(*parse_code_address("A::operator+"), (CodeAddress{"", "A::operator+", 0}));
  for (const char* bad : {"", ":f", "libz:", "0x", "0xfg", "+3"}) EXPECT_FALSE(parse_code_address(bad)) << bad;
}

TEST(Places, FilesMatchByTheBeginningOfTheirNames) {
  EXPECT_TRUE(is_file({"", "f", 0}, "libz.so.1.2.13"));
  EXPECT_TRUE(is_file({"libz", "f", 0}, "libz.so.1.2.13"));
  EXPECT_TRUE(is_file({"libz.so.1", "f", 0}, "libz.so.1.2.13"));
  EXPECT_FALSE(is_file({"libz", "f", 0}, "libzstd.so.1"));
}

TEST(Places, MayBeNamesOfFunctionsWithoutASymbol) {
  const Elf elf{.functions = {}, .executable = {{.offset = 0x1000, .bytes = 0x3000, .address = 0x401000}}};
  EXPECT_TRUE(is_address_in({"", "gzip", 0x403fff}, "gzip", elf));
  EXPECT_FALSE(is_address_in({"", "gzip", 0x404000}, "gzip", elf));
  EXPECT_FALSE(is_address_in({"", "gzip", 0x10}, "gzip", elf));
  EXPECT_FALSE(is_address_in({"", "gzip", 0x403fff}, "bzip2", elf));
}

}  // namespace
}  // namespace tally::symbol
