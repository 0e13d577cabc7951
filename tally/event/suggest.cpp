#include "tally/event/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tally/base/text.hpp"
#include "tally/event/apple_m1.hpp"
#include "tally/event/perf_names.hpp"
#include "tally/event/table.hpp"
#include "tally/linux/pmu_devices.hpp"

namespace tally::event {
namespace {

// Comparing is quadratic in the length of a name, and nobody mistypes a page.
constexpr std::size_t longest_compared = 100;

/// Names by how near they are to the user: this project's, the kernel's, this processor's, then everybody's.
class Candidates {
 public:
  void add(std::string_view name) {
    if (!name.empty() && seen_.insert(lower(name)).second) names_.emplace_back(name);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::set<std::string> seen_;
};

std::vector<std::string> candidates(const Sources& sources) {
  Candidates all;
  for (const Definition& line : event::all()) all.add(line.name);
  for (const Alias& alias : aliases()) all.add(alias.name);
  for (const KernelEvent& one : other_kernel_events()) all.add(one.name);
  for (const std::string& pmu : linux::pmu_names(sources.root)) {
    const auto device = linux::pmu_device(sources.root, pmu);
    if (!device) continue;
    for (const auto& [name, terms] : device->events) all.add(fmt::format("{}/{}/", pmu, name));
  }
  if (const pfm::Pmu* own = own_pmu(sources)) {
    for (const pfm::Name& one : pfm::names(*own)) all.add(one.name);
  }
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    for (const pfm::Name& one : pfm::names(pmu)) all.add(one.name);
  }
  for (const apple_m1::Line& line : apple_m1::lines()) {
    for (const std::string& word : split(line.framework_name, ' ')) all.add(word);
    all.add(line.linux_name);
  }
  return all.names();
}

// Names differ in case between makers; what is suggested is spelled as its source does.
std::vector<std::string> nearest_in_any_case(std::string_view text, const std::vector<std::string>& names) {
  std::vector<std::string> small;
  for (const std::string& name : names) small.push_back(lower(name));
  std::vector<std::string> found;
  for (const std::string& one : nearest(lower(text), small)) {
    found.push_back(names[static_cast<std::size_t>(std::find(small.begin(), small.end(), one) - small.begin())]);
  }
  return found;
}

// "sched:sched_switch"; where the names can be read, which is root's right on most machines.
bool is_tracepoint(std::string_view text, const Sources& sources) {
  const auto parts = split(text, ':');
  return parts.size() == 2 && linux::has_tracepoint(sources.root, parts[0], parts[1]);
}

bool looks_like_code(std::string_view text) {
  return text.size() >= 2 && text.size() <= 16 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

Error unknown_event(std::string_view text, const Sources& sources) {
  constexpr const char* list =
      "`tally events` lists what may be counted here, `tally events --all PATTERN` searches every source";
  Error error{Code::bad_usage, fmt::format("unknown event '{}'", printable(text.substr(0, 2 * longest_compared))), list,
              0};
  if (text.empty()) error.message = "an event's name is missing";
  const std::string_view base = text.substr(0, text.find_last_not_of("uk:") + 1);
  if (is_tracepoint(text, sources)) {
    return {Code::bad_usage, fmt::format("'{}' is a tracepoint: tally counts none", text), list, 0};
  }
  if (looks_like_code(base)) {
    error.hint =
        base.size() <= 4 ? fmt::format("as a code it is r{}", base) : fmt::format("as a code it is 0x{}", base);
  } else if (!base.empty() && base.size() <= longest_compared) {
    // The whole text first: "UOPS_RETIRED:ALL" is a name.
    const auto names = candidates(sources);
    auto near = nearest_in_any_case(base, names);
    if (near.empty()) near = nearest_in_any_case(base.substr(0, base.find(':')), names);
    if (!near.empty()) error.hint = "did you mean " + join(near, ", ") + "?";
  }
  return error;
}

}  // namespace tally::event
