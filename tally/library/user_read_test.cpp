// Tests regions with event pages that no kernel wrote: what can happen to a thread between the ends of an entry.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "tally/library/region_thread.hpp"

namespace tally::detail {
namespace {

// Two counters of a thread: their registers, and the pages that the kernel would maintain for them.
struct FakePmu {
  std::array<std::int64_t, 2> registers{};
  std::array<linux::CounterPage, 2> pages{};
  int reads = 0;
  void (*at_read)() = nullptr;  // a signal that arrives between the reads of two registers
} machine;

template <std::size_t n>
constexpr auto read_fake = [](auto...) -> std::int64_t {
  ++machine.reads;
  const std::int64_t value = machine.registers[n];
  if (n == 1 && machine.at_read != nullptr) std::exchange(machine.at_read, nullptr)();
  return value;
};

// Moves a counter to another register, as the kernel does, which holds another value.
void move(std::size_t n, std::int64_t to) {
  linux::CounterPage& page = machine.pages[n];
  page.offset += machine.registers[n] - to;
  machine.registers[n] = to;
  ++page.sequence;
}

constexpr std::uint64_t is_on_1 = std::uint64_t{1} << 32;

class UserReads : public testing::Test {
 public:
  void SetUp() override { open({}); }

  void open(const Options& options) {
    let_go();
    machine = {};
    // Real counters exist, too: they are read when user mode fails.
    auto opened = Counters::open({"page-faults", "minor-faults"}, options);
    if (!opened) GTEST_SKIP() << opened.error().message;
    counters.emplace(*std::move(opened));
    Shared& shared = Access::shared(*counters);
    for (Overhead& overhead : shared.overhead) overhead = {};
    thread = this_thread(shared);
    ASSERT_NE(thread, nullptr);
    constexpr linux::ReadWord (*readers[])(std::uint32_t, std::uint32_t) = {
        [](std::uint32_t, std::uint32_t) -> linux::ReadWord { return read_fake<0>; },
        [](std::uint32_t, std::uint32_t) -> linux::ReadWord { return read_fake<1>; }};
    for (std::size_t i = 0; i < 2; ++i) {
      machine.pages[i].sequence = is_on_1 | 2;
      machine.pages[i].width = 48;
      machine.pages[i].capabilities = 1u << 1 | 1u << 2;
      thread->user[i].page = &machine.pages[i];
      thread->user[i].reader_of = readers[i];
      ASSERT_TRUE(thread->user[i].refresh());
      thread->base[i] = thread->user[i].offset;
    }
    take_path(*thread, Path::user);
  }

  void TearDown() override { let_go(); }

  void let_go() {
    // They are not mapped by the kernel, so nothing must unmap them.
    if (thread == nullptr) return;
    for (linux::UserCounter& one : thread->user) one.page = nullptr;
  }

  RegionCounts result(std::string_view name) {
    for (RegionResult& one : counters->regions()) {
      if (one.name == name) return std::move(one.all);
    }
    ADD_FAILURE() << "no region " << name;
    return {};
  }

  void expect(std::string_view name, std::uint64_t entries, std::int64_t first, std::int64_t second) {
    const RegionCounts counted = result(name);
    EXPECT_EQ(counted.entries, entries) << name;
    EXPECT_EQ(counted.dropped, 0u) << name;
    ASSERT_EQ(counted.events.size(), 2u);
    EXPECT_EQ(counted.events[0].total.value, first) << name;
    EXPECT_EQ(counted.events[1].total.value, second) << name;
  }

  std::optional<Counters> counters;
  Thread* thread = nullptr;
};

// The program's work: adds to the counters.
void work(std::int64_t first, std::int64_t second) {
  machine.registers[0] += first;
  machine.registers[1] += second;
}

TEST_F(UserReads, what_registers_gain_between_the_ends_is_counted_by_one_read_of_each) {
  work(1000, 1000);
  { const Region first{*counters, "region"}; }  // creates the record
  machine.reads = 0;
  {
    const Region region{*counters, "region"};
    work(100, 7);
  }
  EXPECT_EQ(machine.reads, 4);
  expect("region", 2, 100, 7);
  EXPECT_EQ(result("region").events[0].least, 0);
  EXPECT_EQ(result("region").events[0].most, 100);
}

TEST_F(UserReads, waiting_for_instructions_changes_no_count) {
  for (const Serialize how : {Serialize::none, Serialize::fence, Serialize::cpuid}) {
    open({.serialize = how});
    {
      const Region region{*counters, "region"};
      work(100, 7);
      move(0, 12345);
    }
    expect("region", 1, 100, 7);
  }
}

// Waiting changes no count here. A test in the guest checks that each variant waits, by what it executes.
TEST(Serialized, readings_are_others_for_every_number_of_events) {
  for (std::uint32_t events = 1; events <= most_events; ++events) {
    const Read none = read_of(Path::user, events, Serialize::none);
    const Read fence = read_of(Path::user, events, Serialize::fence);
    const Read cpuid = read_of(Path::user, events, Serialize::cpuid);
    EXPECT_NE(none, fence) << events;
    EXPECT_NE(fence, cpuid) << events;
    EXPECT_NE(none, cpuid) << events;
  }
}

// An interrupt between the ends of the entry that begins with that read.
int reads_until_interrupt = 0;

void interrupt_later() {
  if (--reads_until_interrupt > 0) {
    machine.at_read = interrupt_later;
  } else {
    machine.registers[0] += 67;
  }
}

TEST_F(UserReads, an_interrupt_while_the_cost_of_reading_is_measured_is_no_uncertainty) {
  reads_until_interrupt = 41;  // after those of the warm-up
  machine.at_read = interrupt_later;
  calibrate(*counters);
  EXPECT_EQ(reads_until_interrupt, 0);
  const Overhead& overhead = Access::shared(*counters).overhead[static_cast<std::size_t>(Path::user)];
  EXPECT_TRUE(overhead.known);
  EXPECT_EQ(overhead.own[0], 0);
  EXPECT_EQ(overhead.own_spread[0], 0);
  EXPECT_EQ(overhead.nested_spread[0], 0);
}

TEST_F(UserReads, a_histogram_has_what_is_left_without_the_reading) {
  open({.histograms = {"kept"}});
  Overhead& overhead = Access::shared(*counters).overhead[static_cast<std::size_t>(Path::user)];
  overhead.own = {10, 0};
  overhead.nested = {0, 5};
  { const Region first{*counters, "not kept"}; }  // creates the record
  for (const std::int64_t own : {3, 3, 500, 0}) {
    const Region kept{*counters, "kept"};
    work(own + 10, 20);
    const Region inner{*counters, "not kept"};
    work(0, 5);
  }
  using Buckets = std::vector<RegionBucket>;
  EXPECT_EQ(result("kept").events[0].histogram, (Buckets{{0, 0, 1}, {3, 3, 2}, {496, 511, 1}}));
  EXPECT_EQ(result("kept").events[1].histogram, (Buckets{{20, 20, 4}}));
  EXPECT_EQ(result("not kept").entries, 5u);
  EXPECT_TRUE(result("not kept").events[0].histogram.empty());
}

TEST_F(UserReads, all_regions_have_histograms_where_that_is_asked) {
  open({.extremes = false, .histograms = {"*"}});
  {
    const Region region{*counters, "region"};
    work(7, 8);
  }
  EXPECT_EQ(result("region").events[0].histogram, (std::vector<RegionBucket>{{7, 7, 1}}));
  EXPECT_FALSE(result("region").events[0].least);
}

TEST_F(UserReads, metrics_are_made_of_what_the_region_counted) {
  open({.metrics = {"half=minor-faults / page-faults", "IPC"}});
  {
    const Region region{*counters, "region"};
    work(8, 4);
  }
  const auto metrics = result("region").metrics;
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[0].row_event.text(), "minor-faults") << "as tally stat shows them";
  EXPECT_EQ(metrics[0].ratio.value, 0.5);
  EXPECT_FALSE(metrics[0].asked);
  EXPECT_EQ(metrics[1].name, "half");
  EXPECT_EQ(metrics[1].formula, "minor-faults / page-faults");
  EXPECT_EQ(metrics[1].ratio.value, 0.5);
  EXPECT_EQ(metrics[1].ratio.trust, Trust::counted);
  EXPECT_TRUE(metrics[1].asked);
  EXPECT_EQ(metrics[2].name, "IPC");
  EXPECT_EQ(metrics[2].ratio.trust, Trust::absent);
  EXPECT_NE(metrics[2].ratio.reason, "");
  const auto bad = Counters::open({"page-faults"}, {.metrics = {"x=1 +"}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::bad_usage);
}

TEST_F(UserReads, a_counter_that_moves_inside_a_region_adds_nothing) {
  {
    const Region outer{*counters, "outer"};
    work(10, 20);
    {
      const Region inner{*counters, "inner"};
      work(1, 2);
      move(0, -5000);
      move(1, 123456789);
      work(1, 2);
    }
    move(1, 77);
    work(10, 20);
  }
  expect("inner", 1, 2, 4);
  expect("outer", 1, 22, 44);
}

TEST_F(UserReads, one_that_becomes_another_while_it_is_read_is_read_again) {
  const auto moving = [] { move(0, 400); };
  {
    machine.at_read = moving;  // at the begin
    const Region region{*counters, "region"};
    work(3, 4);
    machine.at_read = moving;  // at the end
  }
  expect("region", 1, 3, 4);
}

TEST_F(UserReads, an_entry_is_dropped_if_a_handler_with_regions_interrupts_a_read) {
  static Counters* own;
  own = &*counters;
  const auto handler = [] {
    move(0, 400);
    move(1, -400);
    const Region region{*own, "handler"};
    work(1000, 1000);
  };
  {
    machine.at_read = handler;  // its work comes after the begin, or before the end
    const Region region{*counters, "region"};
    work(3, 4);
  }
  {
    const Region region{*counters, "region"};
    work(3, 4);
    machine.at_read = handler;
  }
  expect("handler", 2, 2000, 2000);
  const RegionCounts counted = result("region");
  EXPECT_EQ(counted.entries, 0u) << "the handler's entries may be before or after the read";
  EXPECT_EQ(counted.dropped, 2u);
}

TEST_F(UserReads, an_entry_that_is_moved_after_its_last_read_is_dropped) {
  Record& record = find_record(*thread, std::string_view("region"));
  Open open;
  enter(open, *thread, record);
  work(3, 4);
  Reached reached;
  read_end(*thread, reached);
  move(0, 400);
  { const Region handler{*counters, "handler"}; }
  leave(open, reached);
  EXPECT_EQ(result("region").dropped, 1u);
  EXPECT_EQ(result("region").entries, 0u);
}

TEST_F(UserReads, without_a_register_at_its_end_an_entry_is_dropped_and_the_kernel_is_asked_from_then_on) {
  {
    const Region outer{*counters, "region"};
    work(3, 4);
  }
  {
    const Region region{*counters, "region"};
    work(3, 4);
    machine.pages[1].sequence = 4;  // index 0: the counter has no register
  }
  const RegionCounts counted = result("region");
  EXPECT_EQ(counted.entries, 1u);
  EXPECT_EQ(counted.dropped, 1u);
  EXPECT_EQ(counted.events[0].total.value, 3);
  EXPECT_EQ(counted.events[0].total.trust, Trust::partial);
  EXPECT_EQ(counters->path(), "system call");
  machine.reads = 0;
  { const Region region{*counters, "later"}; }
  EXPECT_EQ(result("later").entries, 1u);
  EXPECT_EQ(machine.reads, 0);
}

TEST_F(UserReads, without_a_register_at_its_begin_an_entry_is_dropped) {
  machine.pages[0].sequence = 4;
  { const Region region{*counters, "region"}; }
  EXPECT_EQ(result("region").dropped, 1u);
  EXPECT_EQ(result("region").entries, 0u);
}

TEST_F(UserReads, entries_in_which_others_had_the_counters_are_dropped_all_of_them) {
  {
    const Region outer{*counters, "outer"};
    const Region inner{*counters, "inner"};
    machine.pages[0].time_enabled += 100;
    machine.pages[0].time_running += 60;
    ++machine.pages[0].sequence;
  }
  EXPECT_EQ(result("outer").dropped, 1u);
  EXPECT_EQ(result("inner").dropped, 1u);
  {
    const Region inner{*counters, "inner"};
    work(5, 6);
  }
  EXPECT_EQ(result("inner").entries, 1u);
  EXPECT_EQ(result("inner").events[1].total.value, 6);
}

TEST_F(UserReads, readings_keep_their_zero_where_registers_become_others) {
  const Values before = counters->read();
  work(10, 20);
  move(0, 5);
  work(10, 20);
  const Values between = counters->read() - before;
  EXPECT_EQ(between.events[0].count.value, 20);
  EXPECT_EQ(between.events[1].count.value, 40);
}

}  // namespace
}  // namespace tally::detail
