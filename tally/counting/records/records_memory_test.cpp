#include "tally/counting/records/records_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

namespace tally::detail {
namespace {

CountedEvents two_events() {
  CountedEvents counted;
  counted.events = {*event::parse("instructions"), *event::parse("r00c4:u")};
  counted.zeros = {exact(0, Source::engine), absent("no counter")};
  counted.metrics = *parse_metrics({"mine=instructions / 2", "IPC"});
  counted.overhead[static_cast<std::size_t>(Path::engine)].own = {3};
  return counted;
}

result::ProgramRegions program() { return {getpid(), {"prog", "two words\n"}, "", {}, 7, {}}; }

void enter(RecordsMemory& memory, const RecordsMemory::Owner& owner, std::uint32_t number, std::int64_t count,
           bool with_histograms = false) {
  const auto [record, histograms] = memory.add_record(owner, number == 0 ? "first" : "second", number, with_histograms);
  if (record == nullptr) return;
  record->path = Path::engine;
  record->entries.set(1);
  record->total[0].set(count);
  record->least[0].set(count);
  record->most[0].set(count);
  if (histograms != nullptr) (*histograms)[0][bucket_of(count - 3)].set(1);
}

// What a child leaves that does this and is then killed.
std::vector<std::string> left_by(const std::function<void(RecordsMemory*)>& act) {
  auto gathering = linux::Gathering::open();
  if (!gathering) return {};
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = linux::gathered_in();
    const auto memory = folder ? RecordsMemory::create(*folder) : nullptr;
    act(memory.get());
    (void)raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  return gathering->take();
}

void leave_two_regions(RecordsMemory* memory) {
  memory->describe(1, two_events(), program());
  enter(*memory, {1, 10, 100, 4}, 0, 1003, true);
  enter(*memory, {1, 10, 100, 4}, 1, 13);
  enter(*memory, {1, 20, 200, {}}, 0, 2003);
}

TEST(RecordsMemory, RegionsOfAKilledProcess) {
  const auto left = left_by(leave_two_regions);
  ASSERT_EQ(left.size(), 1u);
  ASSERT_TRUE(are_records(left.front()));
  const auto read = read_records(left.front());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->command, (std::vector<std::string>{"prog", "two words\n"}));
  EXPECT_EQ(read->rank, 7);
  EXPECT_EQ(read->openmp_numbers, (std::map<std::int32_t, std::int32_t>{{100, 4}}));
  ASSERT_EQ(read->regions.size(), 2u);
  const RegionResult& first = read->regions.front();
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.all.entries, 2u);
  ASSERT_EQ(first.threads.size(), 2u);
  EXPECT_EQ(first.threads[1].thread, 200);
  ASSERT_EQ(first.all.events.size(), 2u);
  EXPECT_EQ(first.all.events[0].event.text(), "instructions:u");
  EXPECT_EQ(first.all.events[0].total, exact(1000 + 2000, Source::engine));
  EXPECT_EQ(first.all.events[0].most, 2000);
  EXPECT_EQ(first.all.events[0].histogram.size(), 1u);
  EXPECT_EQ(first.all.events[1].event.text(), "r00c4:u");
  EXPECT_EQ(first.all.events[1].total.reason, "no counter");
  const auto& metrics = first.all.metrics;
  const auto mine =
      std::find_if(metrics.begin(), metrics.end(), [](const RegionMetric& one) { return one.name == "mine"; });
  ASSERT_NE(mine, metrics.end());
  EXPECT_EQ(mine->ratio.value, 1500);
  EXPECT_EQ(read->regions.back().all.events[0].total.value, 10);
}

TEST(RecordsMemory, ManyRegions) {
  const auto left = left_by([](RecordsMemory* memory) {
    memory->describe(1, two_events(), program());
    for (std::uint64_t thread = 0; thread < 500; ++thread) enter(*memory, {1, thread, 1, {}}, 0, 4, thread < 3);
  });
  ASSERT_EQ(left.size(), 1u);
  const auto read = read_records(left.front());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->regions.front().all.entries, 500u);
  EXPECT_EQ(read->regions.front().threads.size(), 500u);
}

TEST(RecordsMemory, ResultsThatAreHandedOverReplaceIt) {
  const auto left = left_by([](RecordsMemory* memory) {
    leave_two_regions(memory);
    (void)memory->hand_over("results");
  });
  EXPECT_EQ(left, std::vector<std::string>{"results"});
}

TEST(RecordsMemory, AForkedChildWritesItsOwnCopy) {
  const auto left = left_by([](RecordsMemory* memory) {
    memory->describe(1, two_events(), program());
    Record* const record = memory->add_record({1, 1, 1, {}}, "first", 0, false).record;
    record->dropped.add(1);
    memory->lock();
    const pid_t child = fork();
    memory->unlock();
    if (child == 0) {
      memory->become_private();
      record->dropped.add(10);
      _exit(record->dropped.get() == 11 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) record->dropped.add(1);
  });
  ASSERT_EQ(left.size(), 1u);
  const auto read = read_records(left.front());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->regions.front().all.dropped, 2u);
}

TEST(RecordsMemory, ALimitOnFilesLeavesRecordsInPrivateMemory) {
  const auto left = left_by([](RecordsMemory* memory) {
    const rlimit none{0, 0};
    (void)setrlimit(RLIMIT_FSIZE, &none);
    leave_two_regions(memory);
    (void)memory->add_record({1, 1, 1, {}}, "first", 0, false).record;
  });
  EXPECT_TRUE(left.empty());
}

TEST(RecordsMemory, DamagedContentIsAnError) {
  const auto left = left_by(leave_two_regions);
  ASSERT_EQ(left.size(), 1u);
  const std::string& whole = left.front();
  std::string other_version = whole;
  other_version[16] = '?';
  EXPECT_FALSE(read_records(other_version));
  EXPECT_FALSE(read_records(whole.substr(0, whole.size() - 1)));
  // A wrong number is not noticed, but nothing outside is read.
  constexpr std::size_t heads_and_description = 3000;
  std::string damaged = whole;
  for (std::size_t at = 0; at < heads_and_description; at += 7) {
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5A);
    (void)read_records(damaged);
    damaged[at] = whole[at];
  }
}

}  // namespace
}  // namespace tally::detail
