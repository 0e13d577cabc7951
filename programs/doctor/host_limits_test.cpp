// How many counters the system's limits allow, and which setting changes that.
#include "programs/doctor/host_limits.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace tally::doctor {
namespace {

using Commands = std::vector<std::string>;

// perf_event_open(2): 516 KB for each processor by default; each counter maps one page.
linux::Survey two_processors() {
  linux::Survey survey;
  survey.online = "0-1";
  survey.mlock_kb = 516;
  survey.locked_bytes = 8 << 20;
  return survey;
}

TEST(UserModeCounterLimit, is_the_pages_of_all_processors_and_those_of_the_process) {
  const auto limit = user_mode_counter_limit(two_processors());
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->counters, 129 * 2 + 2048);
  EXPECT_EQ(limit->words, "2,306: 576 threads with 4 events each");
}

TEST(UserModeCounterLimit, counts_processors_in_ranges_and_single_numbers) {
  linux::Survey survey = two_processors();
  survey.locked_bytes = 0;
  const auto counters = [&survey](const char* online) {
    survey.online = online;
    return user_mode_counter_limit(survey).value().counters;
  };
  EXPECT_EQ(counters("0"), 129);
  EXPECT_EQ(counters("0-3,8"), 129 * 5);
  EXPECT_EQ(counters("0,2,4-5"), 129 * 4);
}

TEST(UserModeCounterLimit, depends_on_the_size_of_a_page) {
  linux::Survey survey = two_processors();
  survey.locked_bytes = 0;
  survey.page_bytes = 65536;
  EXPECT_EQ(user_mode_counter_limit(survey).value().counters, 8 * 2);
}

TEST(UserModeCounterLimit, is_unlimited_by_a_capability_by_the_paranoid_level_and_by_ulimit) {
  linux::Survey capable = two_processors();
  capable.capabilities = std::uint64_t{1} << linux::cap_ipc_lock;
  linux::Survey relaxed = two_processors();
  relaxed.machine.perf_event_paranoid = -1;
  linux::Survey unlimited = two_processors();
  unlimited.locked_bytes = -1;
  EXPECT_EQ(user_mode_counter_limit(capable).value().words, "no limit: CAP_IPC_LOCK");
  EXPECT_EQ(user_mode_counter_limit(relaxed).value().words, "no limit: perf_event_paranoid");
  EXPECT_EQ(user_mode_counter_limit(unlimited).value().words, "no limit: ulimit -l");
  for (const linux::Survey& survey : {capable, relaxed, unlimited})
    EXPECT_EQ(user_mode_counter_limit(survey).value().counters, std::nullopt);
  // Level 0 is limited; so is a process with another capability.
  relaxed.machine.perf_event_paranoid = 0;
  capable.capabilities = std::uint64_t{1} << (linux::cap_ipc_lock + 1);
  EXPECT_EQ(user_mode_counter_limit(relaxed).value().counters, 2306);
  EXPECT_EQ(user_mode_counter_limit(capable).value().counters, 2306);
}

TEST(UserModeCounterLimit, is_unknown_if_a_setting_is) {
  linux::Survey no_kernel_limit = two_processors();
  no_kernel_limit.mlock_kb = std::nullopt;
  linux::Survey no_process_limit = two_processors();
  no_process_limit.locked_bytes = std::nullopt;
  linux::Survey no_processors = two_processors();
  no_processors.online = "";
  for (const linux::Survey& survey : {no_kernel_limit, no_process_limit, no_processors})
    EXPECT_FALSE(user_mode_counter_limit(survey));
}

TEST(WhatIsMissing, is_nothing_if_everything_can_be_counted) { EXPECT_TRUE(remaining_limits(Facts{}).empty()); }

TEST(WhatIsMissing, asks_for_the_lowest_level_that_is_needed) {
  Facts facts;
  facts.survey.machine.perf_event_paranoid = 2;
  facts.probes.with_kernel.os_errno = EACCES;
  auto steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].text,
            "Not allowed to you: counting what happens in the kernel (perf_event_paranoid is 2). As root:");
  EXPECT_EQ(steps[0].commands, Commands{"sysctl kernel.perf_event_paranoid=1"});
  facts.probes.whole_processor_errno = EACCES;
  steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_NE(steps[0].text.find("in the kernel or a whole processor"), std::string::npos) << steps[0].text;
  EXPECT_EQ(steps[0].commands, Commands{"sysctl kernel.perf_event_paranoid=0"});
}

TEST(WhatIsMissing, names_the_switch_of_each_architecture_for_reads_in_user_mode) {
  Facts facts;
  facts.probes.user_reads = linux::UserReads{};
  facts.survey.core_pmus = {{"cpu_core", {}, "0-7", 2}, {"cpu_atom", {}, "8-15", 0}};
  auto steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].commands, Commands{"echo 1 > /sys/bus/event_source/devices/cpu_atom/rdpmc"});
  facts.survey.perf_user_access = 0;
  steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].commands, Commands{"sysctl kernel.perf_user_access=1"});
  facts.probes.user_reads->os_errno = EPERM;
  facts.survey.mlock_kb = 8;
  steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_NE(steps[0].text.find("(EPERM); perf_event_mlock_kb is 8. As root:"), std::string::npos) << steps[0].text;
  EXPECT_EQ(steps[0].commands, Commands{"sysctl kernel.perf_event_mlock_kb=516"});
}

// 16 files are reserved for other uses; each of 10 usual events needs one for each of 128 processors.
TEST(WhatIsMissing, counts_the_files_that_whole_processors_take) {
  Facts facts;
  facts.survey.online = "0-127";
  facts.survey.open_files = 16 + 10 * 128;
  EXPECT_TRUE(remaining_limits(facts).empty());
  facts.survey.open_files = 16 + 10 * 128 - 1;
  auto steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_NE(steps[0].text.find("room for 9 events: each takes a file for every processor (128 here), and 1295 may"),
            std::string::npos)
      << steps[0].text;
  EXPECT_TRUE(steps[0].commands.empty());
  facts.survey.open_files_at_most = 4096;
  steps = remaining_limits(facts);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].commands, Commands{"ulimit -n 4096"});
  facts.survey.open_files = 3;
  EXPECT_NE(remaining_limits(facts).at(0).text.find("room for 0 events"), std::string::npos);
}

}  // namespace
}  // namespace tally::doctor
