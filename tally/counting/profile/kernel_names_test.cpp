// Tests functions from text in the format of /proc/kallsyms.
#include "tally/counting/profile/kernel_names.hpp"

#include <gtest/gtest.h>

namespace tally::profile {
namespace {

TEST(KernelNames, are_functions_only_by_rising_address) {
  const auto names = names_of_kernel(
      "ffffffff81000200 t second\n"
      "ffffffff81000000 T first\n"
      "ffffffff82000000 D data\n"
      "ffffffff81000300 W weak\n"
      "ffffffff82000100 b zeros\n"
      "ffffffff81000400 w weak_local");
  ASSERT_NE(names, nullptr);
  const std::vector<NamedCode> expected = {{"first", 0xffffffff81000000, 0x200},
                                           {"second", 0xffffffff81000200, 0x100},
                                           {"weak", 0xffffffff81000300, 0x100},
                                           {"weak_local", 0xffffffff81000400, 4096}};
  EXPECT_EQ(names->functions(), expected);
}

TEST(KernelNames, keep_the_first_name_of_an_address) {
  const auto names = names_of_kernel("ffffffff81000000 T a\nffffffff81000000 t b\nffffffff81000010 t c\n");
  ASSERT_NE(names, nullptr);
  ASSERT_EQ(names->functions().size(), 2u);
  EXPECT_EQ(names->functions()[0], (NamedCode{"a", 0xffffffff81000000, 0x10}));
}

TEST(KernelNames, contain_the_module) {
  const auto names = names_of_kernel("ffffffffc0000000 t open_disk\t[loop]\n");
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(names->functions().at(0).name, "open_disk [loop]");
}

// With kernel.kptr_restrict, every address is 0.
TEST(KernelNames, are_missing_where_the_kernel_shows_no_addresses) {
  EXPECT_EQ(names_of_kernel("0000000000000000 T first\n0000000000000000 t second\n"), nullptr);
  EXPECT_EQ(names_of_kernel(""), nullptr);
}

TEST(KernelNames, skip_lines_in_another_form) {
  EXPECT_EQ(names_of_kernel("\n\nT name\nffffffff81000000\nffffffff81000000 \nffffffff81000000 T\n"
                            "ffffffff81000000 T \nfffffffff81000000 T seventeen_digits\n"),
            nullptr);
  const auto names = names_of_kernel("no line\nffffffff81000000 T x\n");
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(names->functions().at(0).name, "x");
}

TEST(KernelNames, use_addresses_as_they_are) {
  const auto names = names_of_kernel("ffffffff81000000 T first\n");
  ASSERT_NE(names, nullptr);
  EXPECT_EQ(names->address_of(0xffffffff81000123), 0xffffffff81000123);
  EXPECT_EQ(names->section_of(5).name, "[no name]");
  EXPECT_EQ(names->line_of(0xffffffff81000000), std::nullopt);
}

}  // namespace
}  // namespace tally::profile
