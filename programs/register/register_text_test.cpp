#include "programs/register/register_text.hpp"

#include <gtest/gtest.h>

#include "tally/output/result/golden_testing.hpp"

namespace tally::registers {
namespace {

ShownRegister shown(const char* name, std::uint64_t bits, bool has_value) {
  const auto place = pmu::find_register(name);
  EXPECT_TRUE(place) << name;
  return {{*place, bits, std::nullopt}, has_value};
}

TEST(GoldenRegister, with_a_value) {
  expect_golden(TALLY_GOLDEN, "register.txt",
                register_text(shown("IA32_PERFEVTSEL0", 0x4101c2, true), pmu::Lines::unicode));
}
TEST(GoldenRegister, its_layout) {
  expect_golden(TALLY_GOLDEN, "register-layout.txt",
                register_text(shown("IA32_PERF_GLOBAL_CTRL", 0, false), pmu::Lines::ascii));
}
TEST(GoldenRegister, for_programs) {
  expect_golden(TALLY_GOLDEN, "register.json", register_json({shown("IA32_PERFEVTSEL0", 0x4101c2, true)}, {}));
}
TEST(GoldenRegister, listed) {
  const auto place = pmu::find_register("IA32_PERFEVTSEL0");
  ASSERT_TRUE(place);
  std::vector<pmu::RegisterInstance> first = pmu::places(*place->model);
  first.resize(std::min<std::size_t>(first.size(), 24));
  expect_golden(TALLY_GOLDEN, "register-list.txt", register_list(first));
}

}  // namespace
}  // namespace tally::registers
