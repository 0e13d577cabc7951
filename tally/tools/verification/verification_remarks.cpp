#include "tally/tools/verification/verification_remarks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using result::EventGrade;
using result::GradedEvent;

const GradedEvent* graded_event_of(const result::Verify& verify, const EventName& event) {
  const auto match = std::find_if(verify.events.begin(), verify.events.end(),
                                  [&event](const GradedEvent& graded_event) { return graded_event.event == event; });
  return match == verify.events.end() ? nullptr : &*match;
}

// The count of page faults in the same result; 0 if they were not counted.
std::int64_t faults_in(const result::Stat& stat) {
  for (const EventName& name : {EventName{"page-faults", Mode::user}, EventName{"page-faults"}}) {
    for (const result::Event& row : stat.events) {
      if (row.total.name == name && row.total.count.value) return *row.total.count.value;
    }
  }
  return 0;
}

// Less than a hundredth of a percent misleads nobody.
bool matters(std::int64_t added, std::int64_t value) { return added > value / 10'000; }

}  // namespace

bool is_of(const result::Verify& verify, const std::string& backend, const result::Environment& environment) {
  const result::Environment& then = verify.environment;
  return verify.noise.empty() && !verify.incomplete && verify.backend == backend && then.cpu == environment.cpu &&
         then.microcode == environment.microcode && then.hypervisor == environment.hypervisor;
}

std::vector<std::string> remarks(const result::Verify& verify, const result::Stat& stat) {
  std::vector<std::string> lines;
  for (const result::Event& row : stat.events) {
    const GradedEvent* graded = graded_event_of(verify, row.total.name);
    if (!graded || !row.total.count.value) continue;
    if (graded->grade == EventGrade::unusable) {
      std::string line =
          fmt::format("`tally verify` found {} unusable on this machine: {}", graded->event.text(), graded->why);
      if (!graded->instead.empty()) line += "; count " + graded->instead + " instead";
      lines.push_back(std::move(line));
    } else if (graded->grade == EventGrade::correctable && row.total.count.correction) {
      const Correction& correction = *row.total.count.correction;
      const std::int64_t added = *row.total.count.value - correction.corrected;
      if (!matters(added, correction.corrected)) continue;
      lines.push_back(fmt::format("this processor counts {} of {} too many for each page fault and interrupt: {} here",
                                  correction.each, graded->event.text(), thousands(added)));
    } else if (graded->grade == EventGrade::correctable && graded->each.value_or(0) > 0) {
      const std::int64_t added = *graded->each * faults_in(stat);
      if (!matters(added, *row.total.count.value)) continue;
      lines.push_back(
          fmt::format("this processor counts {} of {} too many for each page fault: about {} here "
                      "(--corrections subtracts them)",
                      *graded->each, graded->event.text(), thousands(added)));
    }
  }
  return lines;
}

}  // namespace tally::verify
