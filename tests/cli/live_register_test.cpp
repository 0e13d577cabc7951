// `tally register --cpu`: the value of a processor's register, read from files that imitate the kernel's driver.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

// A file that holds each register at the offset of its number.
class Registers {
 public:
  void set(int processor, std::uint32_t number, std::uint64_t value) const {
    const auto path = std::filesystem::path(place_.folder()) / "dev/cpu" / std::to_string(processor) / "msr";
    std::filesystem::create_directories(path.parent_path());
    if (!std::filesystem::exists(path)) std::ofstream(path).put('\0');
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(number);
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  Finished show(Words words) const {
    words.insert(words.begin(), "register");
    words.insert(words.end(), {"--root", place_.folder()});
    return tally(words);
  }

 private:
  TemporaryFile place_{"machine"};
};

TEST(LiveRegister, shows_the_value_of_the_processor) {
  const Registers registers;
  registers.set(0, 0x38D, 0x22A);
  registers.set(3, 0x187, 0x4101C2);
  EXPECT_EQ(registers.show({"0x38D", "--cpu", "0", "--value"}).out, "0x22a\n");
  const Finished explained = registers.show({"IA32_PERFEVTSEL1", "--cpu", "3"});
  EXPECT_EQ(explained.code(), 0) << explained.err;
  EXPECT_NE(explained.out.find("IA32_PERFEVTSEL1 = 0x4101c2  (MSR 187H)"), std::string::npos) << explained.out;
  EXPECT_NE(explained.out.find("counts UOPS_RETIRED.ALL, in user mode"), std::string::npos) << explained.out;
}

TEST(LiveRegister, says_why_it_cannot_read) {
  const Registers registers;
  const Finished driver = registers.show({"0x38D", "--cpu", "0"});
  EXPECT_EQ(driver.code(), 125);
  EXPECT_NE(driver.err.find("modprobe msr"), std::string::npos) << driver.err;
  registers.set(0, 0x186, 1);
  const Finished processor = registers.show({"0x38D", "--cpu", "9"});
  EXPECT_EQ(processor.code(), 2) << processor.err;
  EXPECT_NE(processor.err.find("processor 9"), std::string::npos) << processor.err;
  const Finished missing = registers.show({"0x38D", "--cpu", "0"});
  EXPECT_EQ(missing.code(), 125);
  EXPECT_NE(missing.err.find("no such register"), std::string::npos) << missing.err;
}

TEST(LiveRegister, refuses_combinations_without_meaning) {
  const Registers registers;
  registers.set(0, 0x38D, 0x22A);
  EXPECT_EQ(registers.show({"0x38D=1", "--cpu", "0"}).code(), 2);
  EXPECT_EQ(registers.show({"PMCR0_EL1", "--cpu", "0"}).code(), 2);
  EXPECT_EQ(registers.show({"CPUID.0AH", "--cpu", "0"}).code(), 2);
  EXPECT_EQ(registers.show({"0x38D", "--cpu", "-1"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
