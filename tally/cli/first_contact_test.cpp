// What `tally` prints without arguments on a terminal.
#include "tally/cli/first_contact.hpp"

#include <gtest/gtest.h>

#include "tally/core/base/holds_testing.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::cli {
namespace {

using Counting = FirstContact::Counting;

linux::HostMachine guest() {
  linux::HostMachine machine;
  machine.cpu = "Some Processor";
  machine.hypervisor = true;
  return machine;
}

TEST(FirstContact, has_five_lines_that_fit_a_terminal) {
  for (const Counting counting : {Counting::by_pmu, Counting::by_engine, Counting::by_kernel, Counting::nothing}) {
    const std::string text =
        first_contact_text({counting, "PMU cpu of Some Processor", "/usr/share/doc/tally/README.md"});
    const std::vector<std::string> lines = split(text, '\n');
    ASSERT_EQ(lines.size(), 6u) << text;
    EXPECT_EQ(lines.back(), "");
    for (const std::string& line : lines) EXPECT_LE(display_width(line), 80) << line;
    EXPECT_TRUE(holds(text, "here  PMU cpu of Some Processor\n"));
    EXPECT_TRUE(holds(text, "try   tally stat -- "));
    EXPECT_TRUE(holds(text, "tally --help; man tally; /usr/share/doc/tally/README.md\n"));
  }
  EXPECT_TRUE(holds(first_contact_text({}), "man tally\n"));
}

TEST(FirstContact, repeats_why_there_is_no_pmu) {
  const linux::HostMachine machine = guest();
  const FirstContact contact =
      first_contact_of(backend::choose("auto", {.events = event::default_set()}, machine), machine);
  EXPECT_EQ(contact.why.find("this VM exposes no PMU; counting "), 0u) << contact.why;
#if TALLY_HAS_ENGINE
  EXPECT_EQ(contact.counting, Counting::by_engine);
#else
  EXPECT_EQ(contact.counting, Counting::by_kernel);
#endif
}

TEST(FirstContact, names_the_pmu_and_the_processor) {
  linux::HostMachine machine = guest();
  machine.pmus = {"cpu_core", "cpu_atom"};
  const FirstContact contact = first_contact_of(backend::Traits{"perf", false, true}, {}, machine);
  EXPECT_EQ(contact.counting, Counting::by_pmu);
  EXPECT_EQ(contact.why, "PMU cpu_core, cpu_atom of Some Processor");
}

TEST(FirstContact, without_the_engine_the_kernel_counts) {
  const FirstContact contact =
      first_contact_of(backend::choose("none", {.events = event::default_set()}, guest()), guest());
  EXPECT_EQ(contact.counting, Counting::by_kernel);
  EXPECT_TRUE(holds(first_contact_text(contact), "page faults, context switches, times"));
}

TEST(FirstContact, says_what_fails) {
  const FirstContact contact = first_contact_of(fail(Code::cannot_measure, "no way to count"), guest());
  EXPECT_EQ(contact.counting, Counting::nothing);
  EXPECT_TRUE(holds(first_contact_text(contact), "here  no way to count\n"));
}

}  // namespace
}  // namespace tally::cli
