// The page of `tally verify`: which counts are reliable, and the evidence.
#include <fmt/format.h>

#include "programs/verify_output/verify_format.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kit/element.hpp"

namespace tally::output {
namespace {

using result::Check;
using result::Verify;

std::string thousands_if(const std::optional<std::int64_t>& value) { return value ? thousands(*value) : ""; }

std::string grades_table(const Verify& verify) {
  HtmlTable table({"event", "grade", "reason", "#largest error", "#runs", "counted by", "published", "alternative"});
  for (const result::GradedEvent& graded_event : verify.events) {
    table.add({graded_event.event.text(), std::string(name(graded_event.grade)), graded_event.why,
               thousands_if(graded_event.furthest), thousands(graded_event.runs), graded_event.source,
               graded_event.published, graded_event.instead});
  }
  return table.html();
}

std::string checks_table(const Verify& verify, result::Verdict verdict) {
  HtmlTable table(
      {"goal", "what", "event", "program", "#expected", "#measured", "tolerance", "#runs", "#failed runs", "reason"});
  for (const Check& check : verify.checks) {
    if (check.verdict != verdict) continue;
    std::string tolerance = check.tolerance;
    if (!check.reason.empty()) tolerance += " (" + check.reason + ")";
    table.add({check.goal, check.what, check.event, check.program, thousands_if(check.expected),
               thousands_if(check.measured), tolerance, thousands(check.runs), check.off ? thousands(check.off) : "",
               check.why});
  }
  return table.html();
}

std::string compared_table(const Verify& verify) {
  HtmlTable table({"event", "#" + verify.backend, "#spread", "#" + verify.other, "#due to faults", "#due to interrupts",
                   "#unexplained", "#allowed", "verdict", "reason"});
  for (const result::ComparedEvent& compared_event : verify.compared) {
    table.add({compared_event.event, thousands_if(compared_event.exact), thousands(compared_event.spread),
               thousands_if(compared_event.other), thousands(compared_event.by_faults),
               thousands(compared_event.by_interrupts), thousands_if(compared_event.left),
               thousands(compared_event.allowed), std::string(name(compared_event.verdict)), compared_event.why});
  }
  return table.html();
}

}  // namespace

PageSection page_section(const Verify& verify) {
  std::string where = environment_line(verify.environment);
  if (!verify.environment.microcode.empty()) where += " · microcode " + verify.environment.microcode;
  std::string html =
      element("p", where, "soft") + element("p", verify_answer(verify)) + compared_table(verify) + grades_table(verify);
  if (const std::string failed = checks_table(verify, result::Verdict::fail); !failed.empty()) {
    html += element("h3", "Checks that failed") + failed;
  }
  if (const std::string passed = checks_table(verify, result::Verdict::pass); !passed.empty()) {
    html += element("h3", "Checks that passed") + passed;
  }
  if (const std::string open = checks_table(verify, result::Verdict::inconclusive); !open.empty()) {
    html += element("h3", "Inconclusive checks") + open;
  }
  for (const std::string& notice : verify.notices) html += element("p", notice, "soft");
  html += element("p",
                  fmt::format("{} runs in {}{}", thousands(verify.runs), duration_text(verify.duration),
                              verify.quick ? ", quick" : ""),
                  "soft");
  const std::string& cpu = verify.environment.cpu;
  return {cpu.empty() ? "Counters verified" : "Counters verified: " + cpu, std::move(html)};
}

}  // namespace tally::output
