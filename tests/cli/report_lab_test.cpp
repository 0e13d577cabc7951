// Pages of runs of `tally lab`, as `tally report` makes them and as a browser shows them.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/pages.hpp"

#if TALLY_HAS_LAB
namespace tally::test {
namespace {

std::string page_of_run(const std::string& example) {
  Words words{"lab", "--json", std::string(TALLY_LAB_EXAMPLES) + "/" + example};
  if (example.starts_with("m1-")) words.insert(words.end(), {"--model", "apple-m1"});
  const Finished run = tally(words);
  constexpr int not_found = 127;
  if (run.code() == not_found) return {};
  EXPECT_EQ(run.code(), 0) << run.err;
  const TemporaryFile file("run.json", run.out);
  return page_of({file.path()});
}

#define TALLY_NEEDS_PAGE(page) \
  if ((page).empty()) GTEST_SKIP() << "the assembler is not installed: there is no run"

TEST(ReportLab, shows_what_happened_next_to_the_listing) {
  const std::string page = page_of_run("15-3.asm");
  TALLY_NEEDS_PAGE(page);
  EXPECT_TRUE(holds(page, "15-3.asm on haswell-v3"));
  EXPECT_TRUE(holds(page, "the program halted, at line"));
  EXPECT_TRUE(holds(page, "IA32_PERFEVTSEL0 = 0x5300c0"));
  EXPECT_TRUE(holds(page, "IA32_PMC0 overflows"));
  EXPECT_TRUE(holds(page, "call set_interrupt_handler"));
  EXPECT_TRUE(holds(page, "Counters at the end"));
}

TEST(ReportLab, a_file_that_is_damaged_is_refused) {
  const TemporaryFile file("run.json", "{\"tally_lab\": 1, \"file\": \"x\", \"end\": {}}");
  const Finished finished = tally({"report", "-o", "-", file.path()});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "is not a result of `tally lab --json`")) << finished.err;
}

class ReportLabBrowser : public Browser {};

/// Lanes for the counters that changed, with the overflow, the handler and the regions; bits and the line at the
/// pointer.
TEST_F(ReportLabBrowser, draws_the_time_line_and_the_bits_at_the_pointer) {
  const std::string page = page_of_run("15-3.asm");
  TALLY_NEEDS_PAGE(page);
  const std::string shown = probe_output(render(page, R"(
    const lab = document.querySelector(".lab");
    const all = (what) => lab.querySelectorAll(what).length;
    const row = [...lab.querySelectorAll("tr[data-kind=write]")].find((one) => one.dataset.name === "IA32_PERFEVTSEL0");
    row.dispatchEvent(new Event("pointerenter"));
    const bit = lab.querySelector(".bits td[data-bit='20']");
    bit.dispatchEvent(new Event("pointerenter"));
    document.getElementById("seen").textContent = [all(".curve") > 0, all(".overflow-mark"), all(".handler") > 0,
      all(".asked") > 0, all(".write-mark") > 3, bit.textContent, lab.querySelector(".field").textContent,
      lab.querySelector("li.here code").textContent, +lab.querySelector(".cursor").getAttribute("x1") > 0].join("|");
  )"));
  EXPECT_TRUE(shown.starts_with("true|1|true|true|true|1|INT (bit 20) = 1:")) << shown;
  EXPECT_TRUE(shown.ends_with("|true")) << shown;
  EXPECT_TRUE(holds(shown, "wrmsr") || holds(shown, "WRITE_MSR") || holds(shown, "WRMSR")) << shown;
}

/// A selected range is drawn alone; the button restores the whole run.
TEST_F(ReportLabBrowser, a_range_can_be_enlarged) {
  const std::string page = page_of_run("m1-sampling.s");
  TALLY_NEEDS_PAGE(page);
  const std::string shown = probe_output(render(page, R"(
    const lab = document.querySelector(".lab");
    const ends = () => [...lab.querySelectorAll(".lanes text.tick")].map((one) => one.textContent);
    const before = ends(), box = lab.querySelector("svg").getBoundingClientRect();
    const event = (name, share) => lab.querySelector("svg").dispatchEvent(
      new PointerEvent(name, { clientX: box.left + share * box.width, clientY: box.top + 5, bubbles: true }));
    event("pointerdown", 0.3); event("pointermove", 0.5); event("pointerup", 0.6);
    const part = ends(), marks = lab.querySelectorAll(".overflow-mark").length;
    lab.querySelector(".whole").click();
    document.getElementById("seen").textContent = [before[0], before.at(-1) === ends().at(-1), part[0] !== before[0],
      part.at(-1) !== before.at(-1), marks, lab.querySelectorAll(".overflow-mark").length].join("|");
  )"));
  EXPECT_TRUE(shown.starts_with("0|true|true|true|")) << shown;
  EXPECT_TRUE(shown.ends_with("|5")) << shown;
}

}  // namespace
}  // namespace tally::test
#endif
