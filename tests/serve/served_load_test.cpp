// Slow tests: many scrapes of a machine with many control groups.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/serve/served.hpp"

namespace tally::test {
namespace {

TEST(ServeLoad, six_hundred_scrapes_of_a_thousand_groups_take_no_more_memory_in_the_end) {
  const FakeMachine machine(1000);
  Served served(machine.root());
  const auto scrape = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const auto text = served.scrape();
      ASSERT_TRUE(text);
      ASSERT_EQ(value_of(*text, R"(tally_cgroup_cpu_seconds_total{cgroup="/group999"})"), 999);
    }
  };
  scrape(100);
  const long before = resident_bytes(served.running().pid());
  std::thread other([&] { scrape(250); });
  scrape(250);
  other.join();
  const long after = resident_bytes(served.running().pid());
  EXPECT_LT(after, before + (8 << 20)) << before << " to " << after;
  EXPECT_LT(after, 128 << 20);
}

std::size_t open_files(pid_t process) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd"))
    ++count;
  return count;
}

// In addition to good scrapes there are clients that disconnect, and groups that are created and removed.
TEST(ServeSoak, memory_and_files_stay_bounded_over_an_hour) {
  const char* wanted = std::getenv("TALLY_SOAK_MINUTES");
  if (!wanted) GTEST_SKIP() << "it takes an hour: TALLY_SOAK_MINUTES=60 runs it";
  const auto minutes = std::chrono::minutes(std::atoi(wanted));
  const FakeMachine machine(200);
  Served served(machine.root());
  const pid_t server = served.running().pid();
  const auto begin = std::chrono::steady_clock::now();
  long first = 0, scrapes = 0;
  std::size_t files = 0;
  while (std::chrono::steady_clock::now() - begin < minutes) {
    const std::string guest = "sys/fs/cgroup/comes-and-goes-" + std::to_string(scrapes);
    machine.write(guest + "/cpu.stat", "usage_usec 1000000");
    const auto text = served.scrape();
    ASSERT_TRUE(text) << scrapes;
    ASSERT_EQ(value_of(*text, R"(tally_cgroup_cpu_seconds_total{cgroup="/group199"})"), 199);
    std::filesystem::remove_all(machine.root() + "/" + guest);
    const int impatient = connect_to(served.port());
    EXPECT_GE(send(impatient, "GET /met", 8, MSG_NOSIGNAL), 0);
    close(impatient);
    constexpr int warm = 200;
    if (++scrapes == warm) {
      first = resident_bytes(server);
      files = open_files(server);
    }
    // Ten scrapes a second, more than fleets have; without pauses it would be another test.
    std::this_thread::sleep_until(begin + scrapes * std::chrono::milliseconds(100));
  }
  ASSERT_GT(first, 0) << "it takes longer than that";
  const long last = resident_bytes(server);
  RecordProperty("scrapes", std::to_string(scrapes));
  RecordProperty("first_bytes", std::to_string(first));
  RecordProperty("last_bytes", std::to_string(last));
  EXPECT_LT(last, first + (8 << 20)) << first << " to " << last << " in " << scrapes << " scrapes";
  EXPECT_LE(open_files(server), files + 8);
}

}  // namespace
}  // namespace tally::test
