// The switch, the counters and the daemon, on simulated machines made of files: no hardware counter is needed.
#include "programs/rdpmc/rdpmc.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "programs/linux/run_folder.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/process/process_watch.hpp"

namespace tally::rdpmc {
namespace {

namespace fs = std::filesystem;
using Tree = std::map<std::string, std::string>;

const Tree desktop{{"proc/sys/kernel/arch", "x86_64"},
                   {"proc/sys/kernel/nmi_watchdog", "1"},
                   {"sys/devices/system/cpu/online", "0-3"},
                   {"sys/bus/event_source/devices/cpu/type", "4"},
                   {"sys/bus/event_source/devices/cpu/rdpmc", "1"},
                   {"run/lock/other", ""}};

const Tree hybrid_tree{{"proc/sys/kernel/arch", "x86_64"},
                       {"sys/devices/system/cpu/online", "0-5"},
                       {"sys/bus/event_source/devices/cpu_core/type", "4"},
                       {"sys/bus/event_source/devices/cpu_core/cpus", "0-3"},
                       {"sys/bus/event_source/devices/cpu_core/rdpmc", "1"},
                       {"sys/bus/event_source/devices/cpu_atom/type", "10"},
                       {"sys/bus/event_source/devices/cpu_atom/cpus", "4-7"},
                       {"sys/bus/event_source/devices/cpu_atom/rdpmc", "0"},
                       {"run/lock/other", ""}};

constexpr int events_of_a_processor = 8;

// The kernel's counter pages, in memory shared with the daemon.
class Pages {
 public:
  Pages()
      : file_(linux::make_memory_file("pages", pages * bytes).value()),
        all_(linux::map_shared(file_.get(), 0, pages * bytes).value()) {}

  // One page, for the daemon only: unmapped when it ends.
  linux::Mapping page(int processor, int event) const { return {place(processor, event), bytes}; }

  void put(int processor, int event, std::uint32_t selector) const {
    write(processor, event, (std::uint64_t{selector} + 1) << 32);
  }
  void take_off(int processor, int event) const { write(processor, event, 0); }

 private:
  std::uint8_t* place(int processor, int event) const {
    return all_.data() + static_cast<std::size_t>(processor * events_of_a_processor + event) * bytes;
  }
  void write(int processor, int event, std::uint64_t sequence) const {
    auto& page = *reinterpret_cast<linux::CounterPage*>(place(processor, event));
    page.width = 48;
    page.capabilities = 1u << 1 | 1u << 2;  // cap_bit0_is_deprecated and cap_user_rdpmc
    page.sequence = sequence;
  }

  static constexpr std::size_t bytes = 4096;
  static constexpr std::size_t pages = 64;
  linux::Descriptor file_;
  linux::Mapping all_;
};

class Rdpmc : public testing::Test {
 protected:
  void SetUp() override { lay_out(desktop); }
  void TearDown() override {
    end_holder();
    fs::remove_all(root_);
  }

  void lay_out(const Tree& tree) {
    if (!root_.empty()) fs::remove_all(root_);
    root_ = (fs::temp_directory_path() / "tally-rdpmc-XXXXXX").string();
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    for (const auto& [path, content] : tree) write(path, content);
    for (int processor = 0; processor < 8; ++processor) {
      for (std::uint32_t event = 0; event < 2; ++event) {
        pages_.put(processor, static_cast<int>(event), 0x40000000 + event);
      }
      pages_.put(processor, 2, 0);
    }
  }
  void write(const std::string& path, const std::string& content) const {
    fs::create_directories((fs::path(root_) / path).parent_path());
    std::ofstream(fs::path(root_) / path) << content << '\n';
  }
  std::string read(const std::string& path) const { return linux::content(fs::path(root_) / path); }
  std::string switch_of(const std::string& pmu = "cpu") const {
    return read("sys/bus/event_source/devices/" + pmu + "/rdpmc");
  }
  bool is_noted() const { return fs::exists(root_ + "/run/tally-rdpmc"); }

  static std::vector<event::Event> events(const std::string& list) { return event::parse_lists({list}).value(); }

  // A counter is a page; the kernel decides when it opens one whether it may be read.
  Pin pin() {
    return [this, pinned = std::map<int, int>()](const linux::PerfEvent&,
                                                 int processor) mutable -> Result<linux::PinnedCounter> {
      for (const auto& entry : fs::directory_iterator(root_ + "/sys/bus/event_source/devices")) {
        if (linux::content(entry.path() / "rdpmc") != "2") return fail(Code::cannot_measure, "too early", "", EINVAL);
      }
      return linux::PinnedCounter({}, pages_.page(processor, pinned[processor]++));
    };
  }
  Result<RdpmcStatus> switch_on(const std::string& list = "instructions,cycles,branches") {
    return on(events(list), root_, pin());
  }

  // Kills the daemon and waits for its end.
  void kill_holder(int signal) const {
    const auto state = parse_state(linux::run_note(root_ + "/run/tally-rdpmc"));
    ASSERT_TRUE(state);
    linux::ProcessWatch living({state->holder.number}, {});
    kill(state->holder.number, signal);
    while (living.any()) living.wait(-1, -1);
  }
  void end_holder() const {
    if (const auto state = parse_state(linux::run_note(root_ + "/run/tally-rdpmc")))
      (void)linux::end_and_wait(state->holder);
  }

  Pages pages_;
  std::string root_;
};

const Row instructions{linux::CounterPlace{0x40000000, 48}, "0-3", "instructions:u"};
const Row cycles{linux::CounterPlace{0x40000001, 48}, "0-3", "cycles:u"};
const Row branches{linux::CounterPlace{0, 48}, "0-3", "branches:u"};

TEST_F(Rdpmc, is_on_until_switched_off_which_restores_everything) {
  EXPECT_FALSE(status(root_)->held);
  const auto started = switch_on();
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_TRUE(started->held);
  EXPECT_EQ(started->held->rows, (std::vector<Row>{instructions, cycles, branches}));
  EXPECT_TRUE(linux::lives(started->held->holder));
  EXPECT_EQ(switch_of(), "2");
  EXPECT_EQ(status(root_), started) << "as reported by later commands";

  const auto stopped = off(root_);
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_FALSE(stopped->held);
  EXPECT_EQ(stopped->notices, std::vector<std::string>{});
  EXPECT_FALSE(linux::lives(started->held->holder));
  EXPECT_EQ(switch_of(), "1");
  EXPECT_FALSE(is_noted());
  const auto again = off(root_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->notices, std::vector<std::string>{});
}

TEST_F(Rdpmc, is_on_only_once) {
  const auto started = switch_on();
  ASSERT_TRUE(started);
  const auto second = switch_on();
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(started->held->holder.number)), std::string::npos)
      << second.error().message;
  EXPECT_EQ(status(root_), started) << "the first continues";
}

TEST_F(Rdpmc, a_signal_restores_everything) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    ASSERT_TRUE(switch_on());
    kill_holder(signal);
    EXPECT_EQ(switch_of(), "1") << signal;
    EXPECT_EQ(linux::run_note(root_ + "/run/tally-rdpmc"), "") << signal;
  }
}

TEST_F(Rdpmc, every_command_restores_what_a_killed_daemon_left) {
  const std::function<Result<RdpmcStatus>()> words[] = {[&] { return status(root_); }, [&] { return off(root_); },
                                                        [&] { return switch_on(); }};
  for (const auto& word : words) {
    ASSERT_TRUE(switch_on());
    kill_holder(SIGKILL);
    EXPECT_EQ(switch_of(), "2");
    const auto standing = word();
    ASSERT_TRUE(standing) << standing.error().message;
    ASSERT_EQ(standing->notices.size(), 1u);
    EXPECT_NE(standing->notices[0].find("ended without restoring the setting"), std::string::npos);
    EXPECT_FALSE(standing->left);
    if (standing->held) (void)off(root_);
    EXPECT_EQ(switch_of(), "1") << "the value before the first daemon, not the one that it had set";
    EXPECT_FALSE(is_noted());
  }
}

TEST_F(Rdpmc, a_daemon_killed_before_it_is_ready_leaves_nothing) {
  const auto started = on(events("cycles"), root_, [](const linux::PerfEvent&, int) -> Result<linux::PinnedCounter> {
    kill(getpid(), SIGKILL);
    return fail(Code::cannot_measure, "");
  });
  ASSERT_FALSE(started);
  EXPECT_EQ(switch_of(), "1");
  EXPECT_FALSE(is_noted());
}

TEST_F(Rdpmc, a_switch_that_another_program_changed_is_not_restored) {
  ASSERT_TRUE(switch_on());
  write("sys/bus/event_source/devices/cpu/rdpmc", "0");
  const auto stopped = off(root_);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(switch_of(), "0");
  ASSERT_EQ(stopped->notices.size(), 1u);
  EXPECT_EQ(stopped->notices[0], "cpu: the setting was 1 before, but another program wrote 0: not restored");
  EXPECT_FALSE(is_noted());
}

TEST_F(Rdpmc, a_switch_that_was_on_stays_on) {
  write("sys/bus/event_source/devices/cpu/rdpmc", "2");
  ASSERT_TRUE(switch_on());
  const auto stopped = off(root_);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->notices, std::vector<std::string>{});
  EXPECT_EQ(switch_of(), "2");
}

TEST_F(Rdpmc, an_event_without_a_counter_changes_nothing) {
  const auto started =
      on(events("instructions,cycles"), root_,
         [this, n = 0](const linux::PerfEvent&, int processor) mutable -> Result<linux::PinnedCounter> {
           if (n == 6) return fail(Code::cannot_measure, "all are taken");
           return linux::PinnedCounter({}, pages_.page(processor, n++ / 4));
         });
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "no counter is available for cycles:u on processor 2: all are taken");
  EXPECT_NE(started.error().hint.find("NMI watchdog"), std::string::npos) << started.error().hint;
  EXPECT_EQ(switch_of(), "1");
  EXPECT_FALSE(is_noted());
}

TEST_F(Rdpmc, an_unreadable_counter_is_refused) {
  pages_.take_off(3, 1);
  const auto started = switch_on();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("no counter is available for cycles:u on processor 3"), std::string::npos)
      << started.error().message;
  EXPECT_EQ(switch_of(), "1");
}

TEST_F(Rdpmc, processors_that_differ_have_rows_of_their_own) {
  pages_.put(1, 2, 3);
  pages_.put(3, 2, 3);
  const auto started = switch_on();
  ASSERT_TRUE(started);
  const std::vector<Row> expected{instructions,
                                  cycles,
                                  {linux::CounterPlace{0, 48}, "0,2", "branches:u"},
                                  {linux::CounterPlace{3, 48}, "1,3", "branches:u"}};
  EXPECT_EQ(started->held->rows, expected);
}

TEST_F(Rdpmc, reports_a_counter_that_the_kernel_moves) {
  ASSERT_TRUE(switch_on());
  const linux::Descriptor changes(inotify_init1(IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(changes.get(), (root_ + "/run/tally-rdpmc").c_str(), IN_MOVED_TO), 0);
  for (int processor = 0; processor < 4; ++processor) pages_.take_off(processor, 2);
  pages_.put(0, 2, 5);
  std::vector<Row> expected{
      instructions, cycles, {linux::CounterPlace{5, 48}, "0", "branches:u"}, {std::nullopt, "1-3", "branches:u"}};
  // The daemon may have read in the middle of these changes: then wait for the next write.
  for (int tries = 0; tries < 5 && status(root_)->held->rows != expected; ++tries) {
    char event[4096];
    ASSERT_GT(::read(changes.get(), event, sizeof event), 0);
  }
  EXPECT_EQ(status(root_)->held->rows, expected);
}

TEST_F(Rdpmc, each_kind_of_cores_has_its_switch_and_its_processors) {
  lay_out(hybrid_tree);
  const auto started = switch_on("cycles");
  ASSERT_TRUE(started) << started.error().message;
  // 6 and 7 are offline.
  const linux::CounterPlace place{0x40000000, 48};
  EXPECT_EQ(started->held->rows, (std::vector<Row>{{place, "4-5", "cycles:u"}, {place, "0-3", "cycles:u"}}));
  EXPECT_EQ(switch_of("cpu_core") + switch_of("cpu_atom"), "22");
  ASSERT_TRUE(off(root_));
  EXPECT_EQ(switch_of("cpu_core"), "1");
  EXPECT_EQ(switch_of("cpu_atom"), "0");
}

TEST_F(Rdpmc, is_refused_with_the_reason) {
  const auto refused = [&](const std::string& reason) {
    const auto switched = switch_on("cycles");
    ASSERT_FALSE(switched);
    EXPECT_NE(switched.error().message.find(reason), std::string::npos) << switched.error().message;
    EXPECT_FALSE(is_noted()) << reason;
  };
  Tree tree = desktop;
  tree["proc/sys/kernel/arch"] = "aarch64";
  lay_out(tree);
  refused("counters of its own events");
  EXPECT_FALSE(status(root_));
  EXPECT_FALSE(off(root_));
  tree = desktop;
  tree.erase("sys/bus/event_source/devices/cpu/rdpmc");
  lay_out(tree);
  refused("rdpmc: No such file or directory");
  tree.erase("sys/bus/event_source/devices/cpu/type");
  lay_out(tree);
  refused("no PMU for this processor");
  lay_out(desktop);
  const auto software = switch_on("cycles,page-faults");
  ASSERT_FALSE(software);
  EXPECT_EQ(software.error().message, "no program can read page-faults: no processor counter counts it");
  EXPECT_EQ(switch_of(), "1");
}

TEST_F(Rdpmc, the_note_of_another_program_is_not_changed) {
  write("run/tally-rdpmc/note", "something else");
  EXPECT_FALSE(status(root_));
  EXPECT_FALSE(switch_on());
  EXPECT_EQ(read("run/tally-rdpmc/note"), "something else");
  EXPECT_EQ(switch_of(), "1");
}

}  // namespace
}  // namespace tally::rdpmc
