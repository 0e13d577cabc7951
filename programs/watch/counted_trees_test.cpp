// Counts of processes and groups on a machine made of files.
#include "programs/watch/trees_testing.hpp"

namespace tally::watch {
namespace {

// A process and a group, each with its own counters.
TEST(Counted, processes_and_groups_have_their_own) {
  const Tree tree;
  make_xeon(tree);
  const WatchedMachine machine = read_watched_machine(tree.root());
  Reading before, after;
  after.time = std::chrono::seconds(1);
  const auto sums = [](double instructions, double cycles) {
    Sums made;
    made[static_cast<std::size_t>(Counted::instructions)] = instructions;
    made[static_cast<std::size_t>(Counted::cycles)] = cycles;
    return made;
  };
  for (const int process : {7, 8, 9}) {
    ProcessStatistics one;
    one.process = process;
    one.name = "p" + std::to_string(process);
    before.processes.push_back(one);
    after.processes.push_back(one);
    before.process_counts.sums[process] = sums(100, 100);
  }
  after.process_counts.sums[7] = sums(600, 350);
  after.process_counts.sums[8] = sums(100, 100);
  after.process_counts.sums[9] = Sums{};  // the counters were used by others
  CgroupStatistics group;
  group.path = "/g";
  before.groups = after.groups = {group};
  before.group_counts.sums["/g"] = sums(0, 0);
  after.group_counts.sums["/g"] = sums(30, 10);
  Shown shown;
  shown.kinds = {Kind::process, Kind::group};
  const result::WatchTable table = table_of(machine, shown, before, after);
  const auto& busy = row_of(table, Kind::process, "p7");
  EXPECT_EQ(value(busy, Id::instructions), 500);
  EXPECT_EQ(value(busy, Id::cycles), 250);
  EXPECT_EQ(value(busy, Id::ipc), 2);
  const auto& idle = row_of(table, Kind::process, "p8");
  EXPECT_EQ(value(idle, Id::instructions), 0);
  EXPECT_EQ(reason(table, idle, Id::ipc), "idle");
  EXPECT_EQ(reason(table, row_of(table, Kind::process, "p9"), Id::instructions), "not-running");
  EXPECT_EQ(value(row_of(table, Kind::group, "/g"), Id::ipc), 3);
}

// Computes the columns of counters from given counts.
TEST(Counted, ratios_of_what_was_counted) {
  const Tree tree;
  make_xeon(tree);
  const WatchedMachine machine = read_watched_machine(tree.root());
  Reading before, after;
  after.time = std::chrono::seconds(2);
  const auto at = [](Counted one) { return static_cast<std::size_t>(one); };
  for (int processor = 0; processor < 8; ++processor) {
    before.kernel.times.processors[processor] = {.user = 100, .idle = 100};
    after.kernel.times.processors[processor] = {.user = 200, .idle = 200};
    Sums& from = before.counts.processors[processor];
    Sums& to = after.counts.processors[processor];
    from[at(Counted::instructions)] = 1000;
    to[at(Counted::instructions)] = 3000;
    from[at(Counted::cycles)] = 0;
    to[at(Counted::cycles)] = 1000;
    from[at(Counted::l3_misses)] = 0;
    to[at(Counted::l3_misses)] = processor == 7 ? std::nullopt : std::optional<double>(50);
    from[at(Counted::l3_hits)] = 0;
    to[at(Counted::l3_hits)] = 150;
    from[at(Counted::reference_cycles)] = 0;
    to[at(Counted::reference_cycles)] = processor == 7 ? std::nullopt : std::optional<double>(500);
    from[at(Counted::faults)] = 10;
    to[at(Counted::faults)] = 30;
  }
  before.counts.sockets[0][at(Counted::read_bytes)] = 1e9;
  after.counts.sockets[0][at(Counted::read_bytes)] = 5e9;
  before.ticks = 1000;
  after.ticks = 3000;
  before.counts.sockets[0][at(Counted::reads_pending)] = 0;
  after.counts.sockets[0][at(Counted::reads_pending)] = 180'000;
  before.counts.sockets[0][at(Counted::reads_missed)] = 0;
  after.counts.sockets[0][at(Counted::reads_missed)] = 1000;
  after.uncore_hertz[0] = 1.8e9;
  const result::WatchTable table = table_of(machine, {}, before, after);
  EXPECT_NEAR(*value(row_of(table, Kind::socket, "0"), Id::miss_latency), 100, 1e-9) << "180 clocks of 1.8 GHz";
  EXPECT_EQ(value(row_of(table, Kind::socket, "1"), Id::miss_latency), std::nullopt);
  const auto& core = row_of(table, Kind::core, "2");
  EXPECT_EQ(value(core, Id::util), 0.25) << "reference cycles by ticks";
  EXPECT_EQ(value(row_of(table, Kind::core, "7"), Id::util), 0.5) << "without them: the kernel's accounting";
  EXPECT_EQ(value(core, Id::ipc), 2);
  EXPECT_EQ(value(core, Id::l3_hits), 0.75);
  EXPECT_EQ(value(core, Id::l3_per_instruction), 0.025);
  EXPECT_EQ(value(core, Id::faults), 10) << "a second";
  EXPECT_EQ(value(row_of(table, Kind::core, "7"), Id::l3_misses), std::nullopt);
  EXPECT_EQ(value(row_of(table, Kind::socket, "0"), Id::instructions), 8000);
  EXPECT_EQ(value(row_of(table, Kind::socket, "0"), Id::l3_misses), 200);
  EXPECT_EQ(value(row_of(table, Kind::socket, "1"), Id::l3_misses), std::nullopt) << "a sum lacks what a part lacks";
  EXPECT_EQ(value(row_of(table, Kind::socket, "0"), Id::read), 2);
  EXPECT_EQ(value(row_of(table, Kind::system, ""), Id::read), std::nullopt) << "the other socket reported nothing";
  EXPECT_EQ(table.totals.instructions.value, 16000);
  EXPECT_EQ(table.totals.cycles.value, 8000);
}

}  // namespace
}  // namespace tally::watch
