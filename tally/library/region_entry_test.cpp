// Tests regions with software events: page faults need no PMU.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tally/library/tally.hpp"

namespace tally {
namespace {

constexpr std::size_t page_bytes = 4096;

// Writes to each of these fresh pages once.
void touch(int pages) {
  const std::size_t bytes = static_cast<std::size_t>(pages) * page_bytes;
  auto* at =
      static_cast<volatile char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(const_cast<char*>(at), bytes, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < bytes; i += page_bytes) at[i] = 1;
  munmap(const_cast<char*>(at), bytes);
}

class Regions : public testing::Test {
 public:
  void SetUp() override {
    auto opened = Counters::open({"page-faults"});
    if (!opened) GTEST_SKIP() << opened.error().message;
    counters.emplace(*std::move(opened));
    // The first region touches pages of the library.
    touch(4);
  }

  RegionResult result(const std::string& name) {
    for (RegionResult& one : counters->regions()) {
      if (one.name == name) return std::move(one);
    }
    ADD_FAILURE() << "no region " << name;
    return {};
  }

  std::int64_t total(const std::string& name) { return result(name).all.events.at(0).total.value.value_or(-1); }

  std::optional<Counters> counters;
};

TEST_F(Regions, entries_are_counted_each_and_together) {
  for (const int pages : {3, 1, 7}) {
    const Region region{*counters, "touch"};
    touch(pages);
  }
  const RegionResult touched = result("touch");
  EXPECT_EQ(touched.all.entries, 3u);
  EXPECT_EQ(touched.all.dropped, 0u);
  ASSERT_EQ(touched.all.events.size(), 1u);
  EXPECT_EQ(touched.all.events[0].event.text(), "page-faults");
  EXPECT_EQ(touched.all.events[0].total.value, 11);
  EXPECT_EQ(touched.all.events[0].total.trust, Trust::counted);
  EXPECT_EQ(touched.all.events[0].least, 1);
  EXPECT_EQ(touched.all.events[0].most, 7);
}

TEST_F(Regions, nested_regions_count_in_the_outer_region) {
  for (int i = 0; i < 2; ++i) {
    const Region outer{*counters, "outer"};
    touch(2);
    const Region inner{*counters, "inner"};
    touch(5);
  }
  EXPECT_EQ(total("inner"), 10);
  EXPECT_EQ(total("outer"), 14) << "the first entry of inner makes a record: that is taken off";
}

void descend(Counters& counters, int depth) {
  const Region region{counters, "descend"};
  touch(1);
  if (depth > 1) descend(counters, depth - 1);
}

TEST_F(Regions, a_recursive_region_is_counted_once) {
  descend(*counters, 10);
  const RegionResult descended = result("descend");
  EXPECT_EQ(descended.all.entries, 1u);
  EXPECT_EQ(descended.all.recursive, 9u);
  EXPECT_EQ(descended.all.events[0].total.value, 10);
}

TEST_F(Regions, names_made_at_run_time_are_compared_by_characters) {
  for (int i = 0; i < 6; ++i) {
    const std::string name = "made " + std::to_string(i % 2);
    const Region region{*counters, name};
    touch(1 + i % 2);
  }
  EXPECT_EQ(total("made 0"), 3);
  EXPECT_EQ(total("made 1"), 6);
}

TEST_F(Regions, threads_have_separate_counts_that_stay_after_they_end) {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) {
    threads.emplace_back([this, i] {
      { const Region warm{*counters, "warm"}; }
      const Region region{*counters, "threads"};
      touch(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const RegionResult all = result("threads");
  EXPECT_EQ(all.all.entries, 4u);
  EXPECT_EQ(all.threads.size(), 4u);
  // A new thread's stack sometimes faults, too.
  EXPECT_GE(all.all.events[0].total.value, 10);
  EXPECT_LE(all.all.events[0].total.value, 14);
}

TEST_F(Regions, a_thread_may_be_older_than_the_counters) {
  std::promise<void> opened;
  std::thread older([this, ready = opened.get_future()] {
    ready.wait();
    for (int i = 0; i < 3; ++i) {
      const Region region{*counters, "older"};
      touch(2);
    }
  });
  auto again = Counters::open({"page-faults"});
  ASSERT_TRUE(again) << again.error().message;
  counters.emplace(*std::move(again));
  opened.set_value();
  older.join();
  EXPECT_EQ(result("older").all.entries, 3u);
  EXPECT_EQ(result("older").all.dropped, 0u);
  EXPECT_GE(total("older"), 6);
}

TEST_F(Regions, a_thread_of_a_pool_serves_several_counters_in_turn) {
  auto others = Counters::open({"minor-faults"});
  ASSERT_TRUE(others) << others.error().message;
  std::thread([&] {
    for (int i = 0; i < 10; ++i) {
      const Region mine{i % 2 == 0 ? *counters : *others, "task"};
      touch(1);
    }
  }).join();
  EXPECT_EQ(result("task").all.entries, 5u);
  EXPECT_EQ(result("task").all.events.at(0).event.text(), "page-faults");
  ASSERT_EQ(others->regions().size(), 1u);
  EXPECT_EQ(others->regions()[0].all.entries, 5u);
  EXPECT_EQ(others->regions()[0].all.events.at(0).event.text(), "minor-faults");
}

TEST_F(Regions, teams_of_openmp_are_threads_as_others) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < 8; ++i) {
    const Region region{*counters, "team"};
    touch(1);
  }
  EXPECT_EQ(result("team").all.entries, 8u);
  EXPECT_EQ(result("team").threads.size(), 4u);
  for (const RegionThread& thread : result("team").threads) EXPECT_EQ(thread.counts.entries, 2u);
#else
  GTEST_SKIP() << "this compiler has no OpenMP";
#endif
}

TEST_F(Regions, an_open_region_is_reported) {
  const Region open{*counters, "open"};
  EXPECT_EQ(result("open").all.entries, 0u);
  EXPECT_EQ(result("open").all.open, 1u);
  EXPECT_EQ(result("open").all.events.at(0).total.trust, Trust::absent);
}

TEST_F(Regions, many_names_have_a_record_each) {
  constexpr int names = 5000;
  for (int i = 0; i < names; ++i) {
    const std::string name = "name " + std::to_string(i);
    const Region region{*counters, name};
  }
  EXPECT_EQ(counters->regions().size(), static_cast<std::size_t>(names));
}

TEST_F(Regions, a_forked_child_starts_from_zero) {
  {
    const Region region{*counters, "before"};
    touch(1);
  }
  const Region open{*counters, "open"};
  const pid_t child = fork();
  if (child == 0) {
    bool good = counters->regions().empty();
    {
      const Region region{*counters, "child"};
      touch(1);
    }
    const auto results = counters->regions();
    good = good && !results.empty() && results.back().name == "child" && results.back().all.entries == 1;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(total("before"), 1);
}

Counters* for_handler;
void handler(int) {
  const Region region{*for_handler, "handler"};
  touch(1);
}

TEST_F(Regions, a_handler_of_a_signal_has_regions_of_its_own) {
  for_handler = &*counters;
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  for (int i = 0; i < 3; ++i) {
    const Region region{*counters, "interrupted"};
    raise(SIGUSR1);
  }
  EXPECT_EQ(total("handler"), 4);
  EXPECT_EQ(total("interrupted"), 3);
}

TEST_F(Regions, readings_are_values) {
  // The first reading touches pages of the library.
  (void)(counters->read() - counters->read());
  const Values before = counters->read();
  touch(6);
  const Values between = counters->read() - before;
  EXPECT_EQ(between["page-faults"].value, 6);
  EXPECT_EQ(between["cycles"].trust, Trust::absent);
  EXPECT_EQ(counters->measure([] { touch(3); })["page-faults"].value, 3);
}

TEST(RegionCounters, a_name_that_is_none_is_refused) {
  const auto opened = Counters::open({"instruktions"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::bad_usage);
}

TEST(RegionCounters, events_may_be_chosen_by_the_environment) {
  setenv("TALLY_EVENTS", "minor-faults,page-faults", 1);
  auto opened = Counters::open();
  unsetenv("TALLY_EVENTS");
  if (!opened) GTEST_SKIP() << opened.error().message;
  EXPECT_EQ(opened->read().events.size(), 2u);
}

}  // namespace
}  // namespace tally
