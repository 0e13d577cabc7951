// Tests which function contains an address: the inner one if two overlap, none in a gap.
#include <gtest/gtest.h>

#include <utility>

#include "tally/counting/profile/code_names.hpp"
#include "tally/counting/profile/function_of.hpp"

namespace tally::profile {
namespace {

class GivenNames final : public CodeNames {
 public:
  explicit GivenNames(std::vector<NamedCode> functions) : functions_(std::move(functions)) {}
  std::optional<std::uint64_t> address_of(std::uint64_t offset) const override { return offset; }
  const std::vector<NamedCode>& functions() const override { return functions_; }
  NamedCode section_of(std::uint64_t address) const override { return {"[.text]", address, 1, true}; }
  std::optional<SourceLine> line_of(std::uint64_t /*address*/) const override { return std::nullopt; }

 private:
  std::vector<NamedCode> functions_;
};

std::string name_at(const CodeNames& names, std::uint64_t address) {
  const NamedCode* const found = function_of(names, address);
  return found == nullptr ? "" : found->name;
}

TEST(FunctionOf, contains_its_first_address_and_not_the_one_after_its_last) {
  const GivenNames names({{"a", 0x1000, 0x10}, {"b", 0x1020, 0x10}});
  EXPECT_EQ(name_at(names, 0xfff), "");
  EXPECT_EQ(name_at(names, 0x1000), "a");
  EXPECT_EQ(name_at(names, 0x100f), "a");
  EXPECT_EQ(name_at(names, 0x1010), "");
  EXPECT_EQ(name_at(names, 0x101f), "");
  EXPECT_EQ(name_at(names, 0x1020), "b");
  EXPECT_EQ(name_at(names, 0x1030), "");
}

TEST(FunctionOf, is_the_inner_one_of_two_and_the_outer_one_after_it) {
  const GivenNames names({{"outer", 0x1000, 0x100}, {"inner", 0x1040, 0x10}});
  EXPECT_EQ(name_at(names, 0x103f), "outer");
  EXPECT_EQ(name_at(names, 0x1040), "inner");
  EXPECT_EQ(name_at(names, 0x1050), "outer");
}

TEST(FunctionOf, has_no_bytes_where_the_symbol_has_no_size) {
  const GivenNames names({{"_start", 0x1000, 0}});
  EXPECT_EQ(name_at(names, 0x1000), "");
}

TEST(FunctionOf, reaches_the_highest_address) {
  const GivenNames names({{"last", 0xffff'ffff'ffff'f000, 0x1000}});
  EXPECT_EQ(name_at(names, 0xffff'ffff'ffff'ffff), "last");
  EXPECT_EQ(name_at(names, 0), "");
  EXPECT_EQ(name_at(GivenNames({}), 0x1000), "");
}

}  // namespace
}  // namespace tally::profile
