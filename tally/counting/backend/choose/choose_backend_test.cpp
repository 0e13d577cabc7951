#include "tally/counting/backend/choose/choose_backend.hpp"

#include <gtest/gtest.h>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend {
namespace {

const auto software = *event::parse_lists({"page-faults,duration_time"});
const auto hardware = *event::parse_lists({"page-faults,instructions"});

#if TALLY_HAS_ENGINE
constexpr const char* for_hardware = "engine";
#else
constexpr const char* for_hardware = "none";
#endif

TEST(Choose, runs_natively_without_a_notice_for_software_events_only) {
  const auto choice = choose("auto", {.events = software}, {});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->backend->name(), "none");
  EXPECT_TRUE(choice->notices.empty());
}

TEST(Choose, reports_why_the_pmu_is_not_used) {
  linux::HostMachine machine;
  machine.hypervisor = true;
  const auto guest = choose("auto", {.events = hardware}, machine);
  ASSERT_TRUE(guest);
  EXPECT_EQ(guest->backend->name(), for_hardware);
  ASSERT_EQ(guest->notices.size(), 1u);
  EXPECT_EQ(guest->notices[0].find("this VM exposes no PMU; counting "), 0u) << guest->notices[0];

  machine.pmus = {"cpu"};
  const auto host = choose("auto", {.events = hardware}, machine);
  EXPECT_EQ(host->notices[0].find("this machine's PMU is not used"), 0u);
  EXPECT_EQ(host->notices.size(), 1u);
}

TEST(Choose, takes_the_named_backend_without_a_notice) {
  const auto choice = choose("none", {.events = hardware}, {});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->backend->name(), "none");
  EXPECT_TRUE(choice->notices.empty());
}

TEST(Choose, perf_cannot_measure_and_suggests_another_backend) {
  const auto choice = choose("perf", {.events = hardware}, {});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::cannot_measure);
  EXPECT_NE(choice.error().hint.find("--backend"), std::string::npos);
}

TEST(Choose, perf_counts_the_kernels_own_events_or_reports_why_not) {
  const auto choice = choose("perf", {.events = software}, {});
  if (const auto known = linux::open_for_next_program(linux::KernelEvent::page_faults); !known) {
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().os_errno, known.os_errno);
    return;
  }
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->backend->name(), "perf");
}

TEST(Choose, engine_is_available_if_it_was_built) {
  const auto choice = choose("engine", {.events = software}, {});
#if TALLY_HAS_ENGINE
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->backend->name(), "engine");
#else
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::cannot_measure);
#endif
}

#if TALLY_HAS_ENGINE
TEST(Choose, takes_the_engine_for_options_that_only_it_supports_and_refuses_others) {
  Order clock{.events = software}, parts{.events = software, .instrument = Order::Profile{.parts = ProfileParts{}}};
  clock.conditions.clock = "counted";
  for (const auto& [order, option] : {std::pair(clock, "--clock counted"), std::pair(parts, "--parts")}) {
    const auto automatic = choose("auto", order, {});
    ASSERT_TRUE(automatic) << option;
    EXPECT_EQ(automatic->backend->name(), "engine") << option;
    const auto native = choose("perf", order, {});
    ASSERT_FALSE(native) << option;
    EXPECT_EQ(native.error().code, Code::bad_usage);
    EXPECT_EQ(native.error().message.find(std::string(option) + " needs the engine"), 0u) << native.error().message;
    EXPECT_EQ(native.error().hint.find("omit `--backend perf`"), 0u) << native.error().hint;
  }
}
#endif

TEST(Choose, refuses_if_no_requested_event_can_be_counted) {
  for (const char* name : {"auto", "none"}) {
    const auto choice = choose(name, {.events = *event::parse_lists({"r1234,r1235:u"})}, {});
    ASSERT_FALSE(choice) << name;
    EXPECT_EQ(choice.error().code, Code::cannot_measure);
    EXPECT_EQ(choice.error().message.find("cannot count r1234, r1235:u: needs a PMU"), 0u) << choice.error().message;
    const auto kernel = choose(name, {.events = *event::parse_lists({"instructions:k"})}, {});
    ASSERT_FALSE(kernel) << name;
    EXPECT_EQ(kernel.error().code, Code::cannot_measure);
  }
  EXPECT_EQ(choose("none", {.events = *event::parse_lists({"instructions"})}, {}).error().code, Code::cannot_measure);
  EXPECT_TRUE(choose("none", {.events = *event::parse_lists({"cycles,page-faults"})}, {}));
}

TEST(Choose, unknown_names_are_bad_usage) {
  EXPECT_EQ(choose("prf", {.events = hardware}, {}).error().code, Code::bad_usage);
  EXPECT_EQ(choose("prf", {.events = hardware}, {}).error().hint, "did you mean perf?");
}

}  // namespace
}  // namespace tally::backend
