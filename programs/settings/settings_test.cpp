#include "programs/settings/settings.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "programs/linux/msr.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::settings {
namespace {

namespace fs = std::filesystem;

// Two Intel processors: 2.1 GHz base, 3.7 GHz turbo, registers in files.
class FakeMachine {
 public:
  FakeMachine() {
    std::string pattern = (fs::temp_directory_path() / "tally-settings-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("sys/devices/system/cpu/online", "0-1");
    write("proc/cpuinfo", "vendor_id\t: GenuineIntel");
    fs::create_directories(fs::path(root_) / "run");
    for (int processor = 0; processor < 2; ++processor) {
      const std::string folder = cpufreq(processor);
      write(folder + "scaling_min_freq", "1000000");
      write(folder + "scaling_max_freq", "3700000");
      write(folder + "base_frequency", "2100000");
      write("dev/cpu/" + std::to_string(processor) + "/msr", std::string(0x1A4 + 8, '\0'));
      EXPECT_TRUE(linux::write_msr(processor, 0x1A4, 0x20, root_));
    }
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;
  ~FakeMachine() { fs::remove_all(root_); }

  const std::string& root() const { return root_; }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((fs::path(root_) / path).parent_path());
    std::ofstream(fs::path(root_) / path) << text << '\n';
  }
  void remove(const std::string& path) const { fs::remove_all(fs::path(root_) / path); }
  static std::string cpufreq(int processor) {
    return "sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cpufreq/";
  }
  std::string frequencies(int processor) const {
    return linux::content(root_ + "/" + cpufreq(processor) + "scaling_min_freq") + " " +
           linux::content(root_ + "/" + cpufreq(processor) + "scaling_max_freq");
  }
  std::uint64_t prefetchers(int processor) const { return linux::read_msr(processor, 0x1A4, root_).value_or(0); }
  bool is_noted() const { return fs::exists(fs::path(root_) / "run/tally-settings"); }

 private:
  std::string root_;
};

void expect_as_before(const FakeMachine& machine) {
  for (int processor = 0; processor < 2; ++processor) {
    EXPECT_EQ(machine.frequencies(processor), "1000000 3700000");
    EXPECT_EQ(machine.prefetchers(processor), 0x20u);
  }
  EXPECT_FALSE(machine.is_noted());
}

TEST(Settings, are_changed_and_restored) {
  const FakeMachine machine;
  {
    const auto held = ScopedSettings::change({true, true}, machine.root());
    ASSERT_TRUE(held) << held.error().message;
    EXPECT_EQ(machine.frequencies(1), "2100000 2100000");
    EXPECT_EQ(machine.prefetchers(1), 0x2Fu) << "the other bits stay";
    EXPECT_TRUE(machine.is_noted());
    EXPECT_TRUE(repair(machine.root()).empty()) << "their process is running";
    EXPECT_FALSE(ScopedSettings::change({true, false}, machine.root())) << "one at a time";
  }
  expect_as_before(machine);
}

TEST(Settings, are_restored_by_the_next_call_after_a_kill) {
  const FakeMachine machine;
  const pid_t child = fork();
  if (child == 0) {
    const auto held = ScopedSettings::change({true, true}, machine.root());
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(machine.frequencies(0), "2100000 2100000");
  const auto notices = repair(machine.root());
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("has ended"), std::string::npos) << notices[0];
  expect_as_before(machine);
  EXPECT_TRUE(repair(machine.root()).empty());
}

TEST(Settings, changed_by_another_program_are_not_restored) {
  const FakeMachine machine;
  auto held = ScopedSettings::change({true, false}, machine.root());
  ASSERT_TRUE(held);
  machine.write(FakeMachine::cpufreq(0) + "scaling_max_freq", "3000000");
  const auto notices = held->put_back();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("another program set 3000000"), std::string::npos) << notices[0];
  EXPECT_EQ(machine.frequencies(0), "1000000 3000000");
  EXPECT_EQ(machine.frequencies(1), "1000000 3700000");
}

TEST(Settings, all_or_none) {
  const FakeMachine machine;
  machine.remove("dev/cpu/1");
  const auto held = ScopedSettings::change({true, true}, machine.root());
  ASSERT_FALSE(held);
  EXPECT_EQ(machine.frequencies(0), "1000000 3700000");
  EXPECT_FALSE(machine.is_noted());
  machine.remove(FakeMachine::cpufreq(0));
  EXPECT_NE(ScopedSettings::change({true, false}, machine.root()).error().message.find("cannot be fixed"),
            std::string::npos);
  machine.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD");
  EXPECT_NE(ScopedSettings::change({false, true}, machine.root()).error().message.find("AuthenticAMD"),
            std::string::npos);
}

}  // namespace
}  // namespace tally::settings
