// `tally rdpmc`, on machines made of files. tests/guest tests its effects on a processor with a PMU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "programs/linux/daemon.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

// A desktop whose PMU has the kernel's number of software events: they open anywhere, and use no counter.
class Desktop {
 public:
  explicit Desktop(const std::string& architecture = "x86_64") {
    fs::create_directories(folder_.folder() + "/run");
    write("proc/sys/kernel/arch", architecture);
    write("sys/devices/system/cpu/online", "0");
    write("sys/bus/event_source/devices/cpu/type", "1");
    write("sys/bus/event_source/devices/cpu/format/event", "config:0-7");
    write("sys/bus/event_source/devices/cpu/rdpmc", "1");
  }
  void write(const std::string& path, const std::string& content) const {
    const fs::path file = fs::path(folder_.folder()) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << content << '\n';
  }
  void remove_pmu() const { fs::remove_all(fs::path(folder_.folder()) / "sys/bus/event_source/devices/cpu"); }
  std::string switch_now() const {
    return TemporaryFile::read(folder_.folder() + "/sys/bus/event_source/devices/cpu/rdpmc").value_or("");
  }
  bool has_state_file() const { return fs::exists(folder_.folder() + "/run/tally-rdpmc"); }
  Finished rdpmc(Words words) const {
    words.insert(words.begin(), "rdpmc");
    words.insert(words.end(), {"--root", folder_.folder()});
    return tally(words);
  }

 private:
  TemporaryFile folder_{"machine"};
};

TEST(Rdpmc, status_answers_by_its_exit_code_too) {
  const Desktop desktop;
  const Finished finished = desktop.rdpmc({"status"});
  EXPECT_EQ(finished.code(), 1) << finished.err;
  EXPECT_EQ(finished.out,
            "tally holds no counters for rdpmc.\n"
            " cpu: the setting is 1, only programs that opened a counter can execute rdpmc (the kernel's default)\n");
  EXPECT_EQ(desktop.rdpmc({"off"}).code(), 0) << "it is off";
  EXPECT_EQ(desktop.switch_now(), "1\n");
}

TEST(Rdpmc, what_a_killed_process_left_is_restored) {
  for (const char* word : {"status", "off"}) {
    const Desktop desktop;
    desktop.write("sys/bus/event_source/devices/cpu/rdpmc", "2");
    // A process ID of 1 whose start time differs from that of every process that lives now.
    desktop.write("run/tally-rdpmc/note",
                  "tally-rdpmc/1\nholder 1 1\nswitch cpu 1 2\ncounter 0 48 0 instructions:u\nend");
    const Finished finished = desktop.rdpmc({word});
    EXPECT_EQ(finished.err,
              "tally: process 1, which held the counters, ended without restoring the setting; tally restored it\n");
    EXPECT_EQ(desktop.switch_now(), "1\n") << word;
    EXPECT_FALSE(desktop.has_state_file());
  }
}

// Held by this process: the command finds a process that lives.
TEST(Rdpmc, status_shows_which_ecx_reads_which_event) {
  const Desktop desktop;
  desktop.write("sys/bus/event_source/devices/cpu/rdpmc", "2");
  const linux::ProcessIdentity own = linux::identity_of(getpid());
  desktop.write("run/tally-rdpmc/note",
                "tally-rdpmc/1\nholder " + std::to_string(own.number) + " " + std::to_string(own.started) +
                    "\nswitch cpu 1 2\ncounter 1073741825 48 0-3 cycles:u\nnone 4 cycles:u\nend");
  const Finished finished = desktop.rdpmc({"status"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const std::string table = "Process " + std::to_string(own.number) +
                            " holds the counters; `tally rdpmc off` ends it.\n\n" +
                            " ECX         event     bits  processors\n"
                            " 0x40000001  cycles:u    48  0-3\n"
                            " none now    cycles:u     -  4\n";
  EXPECT_EQ(finished.out, "Every program can execute rdpmc. " + table);
  desktop.write("sys/bus/event_source/devices/cpu/rdpmc", "0");
  EXPECT_EQ(desktop.rdpmc({"status"}).out,
            "The current setting was not made by tally:\n"
            " cpu: the setting is 0, no program can execute rdpmc\n" +
                table);
  EXPECT_EQ(desktop.rdpmc({"on"}).code(), 125) << "it is on already";
}

TEST(Rdpmc, an_event_that_is_on_no_counter_changes_nothing) {
  const Desktop desktop;
  const Finished finished = desktop.rdpmc({"on", "-e", "cpu/event=0x2/"});
  EXPECT_EQ(finished.code(), 125);
  EXPECT_EQ(finished.out, "");
  EXPECT_NE(finished.err.find("no counter is available for "), std::string::npos) << finished.err;
  EXPECT_EQ(desktop.switch_now(), "1\n");
  EXPECT_FALSE(desktop.has_state_file());
}

TEST(Rdpmc, without_a_pmu_nothing_is_held_and_nothing_can_be_switched_on) {
  const Desktop desktop;
  desktop.remove_pmu();
  const Finished status = desktop.rdpmc({"status"});
  EXPECT_EQ(status.code(), 1) << status.err;
  EXPECT_TRUE(status.out.starts_with("tally holds no counters for rdpmc.\n the kernel reports no PMU")) << status.out;
  EXPECT_EQ(desktop.rdpmc({"off"}).code(), 0) << "it is off";
  const Finished on = desktop.rdpmc({"on"});
  EXPECT_EQ(on.code(), 125);
  EXPECT_TRUE(on.err.find("there is no counter to read") != std::string::npos) << on.err;
}

TEST(Rdpmc, arm64_is_refused_with_the_reason) {
  const Desktop board("aarch64");
  for (const char* word : {"on", "off", "status"}) {
    const Finished finished = board.rdpmc({word});
    EXPECT_EQ(finished.code(), 125);
    EXPECT_NE(finished.err.find("on arm64 a program may only read counters of its own events"), std::string::npos)
        << finished.err;
  }
}

TEST(Rdpmc, mistakes_end_with_2) {
  EXPECT_EQ(tally({"rdpmc"}).code(), 2);
  EXPECT_NE(tally({"rdpmc", "no"}).err.find("unknown word 'no'"), std::string::npos);
  EXPECT_EQ(tally({"rdpmc", "no"}).code(), 2);
  EXPECT_EQ(tally({"rdpmc", "off", "-e", "cycles"}).code(), 2);
  const Desktop desktop;
  const Finished unknown = desktop.rdpmc({"on", "-e", "instrctions"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_NE(unknown.err.find("did you mean instructions"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace tally::test
