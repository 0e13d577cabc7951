#include "tally/hardware/event/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/given.hpp"
#include "tally/hardware/event/perf_names.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::event {
namespace {

void add_table(std::vector<Entry>& entries) {
  for (const Definition& line : event::all()) {
    Entry entry{Origin::table, std::string(line.name), {}, std::string(line.what)};
    for (const Alias& alias : aliases()) {
      if (alias.id == line.id) entry.other_names.emplace_back(alias.name);
    }
    entries.push_back(std::move(entry));
  }
}

void add_devices(const Sources& sources, std::vector<Entry>& entries) {
  for (const std::string& pmu : linux::pmu_names(sources.root)) {
    const auto device = linux::pmu_device(sources.root, pmu);
    if (!device) continue;
    for (const auto& [name, terms] : device->events) {
      std::string full = fmt::format("{}/{}/", pmu, name);
      // msr/tsc/ is an alias of an event that is already in the list.
      if (!find(full)) entries.push_back({Origin::device, std::move(full), {}, terms});
    }
  }
}

void add_pmu(const pfm::Pmu& pmu, Origin origin, std::vector<Entry>& entries) {
  for (pfm::Name& one : pfm::names(pmu)) {
    std::string name = origin == Origin::processor ? one.name : fmt::format("{}::{}", pmu.name, one.name);
    entries.push_back({origin, std::move(name), {}, std::move(one.what)});
  }
}

void add_apple(std::vector<Entry>& entries) {
  for (const pmu::apple::Event& line : pmu::apple::events()) {
    std::vector<std::string> names;
    if (!line.linux_name.empty()) names.emplace_back(line.linux_name);
    for (std::string& word : split(line.framework_name, ' ')) {
      if (!word.empty()) names.push_back(std::move(word));
    }
    entries.push_back(
        {Origin::apple, "apple_m1::" + names.front(), {names.begin() + 1, names.end()}, std::string(line.what)});
  }
}

void add_given(const GivenTable& table, std::vector<Entry>& entries) {
  for (const GivenEvent& event : table.events) entries.push_back({Origin::given, event.name, {}, event.what});
}

// Matches one character against a bracket "[a-c]" at `at` and moves `at` past it; nothing if the bracket is not closed.
std::optional<bool> in_bracket(std::string_view pattern, std::size_t& at, char c) {
  const std::size_t end = pattern.find(']', at + 2);
  if (end == std::string_view::npos) return std::nullopt;
  const bool inverted = pattern[at + 1] == '!' || pattern[at + 1] == '^';
  bool found = false;
  for (std::size_t i = at + (inverted ? 2 : 1); i < end; ++i) {
    if (i + 2 < end && pattern[i + 1] == '-') {
      found = found || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 2;
    } else {
      found = found || pattern[i] == c;
    }
  }
  at = end + 1;
  return found != inverted;
}

// Not recursive: on a mismatch, the last `*` takes one more character.
bool fits(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  while (t < text.size()) {
    bool good = false;
    std::size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
      continue;
    }
    if (p < pattern.size()) {
      good = pattern[p] == '?' || pattern[p] == text[t];
      if (pattern[p] == '[') {
        next = p;
        const auto bracket = in_bracket(pattern, next, text[t]);
        if (!bracket) next = p + 1;
        good = bracket.value_or(text[t] == '[');
      }
    }
    if (good) {
      ++t;
      p = next;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool fits_name(std::string_view name, std::string_view pattern) {
  const std::string small = lower(name);
  const std::string lower_pattern = lower(pattern);
  if (pattern.find_first_of("*?[") == std::string_view::npos) return small.find(lower_pattern) != std::string::npos;
  return fits(small, lower_pattern);
}

}  // namespace

std::vector<Entry> catalog(Reach reach, const Sources& sources) {
  std::vector<Entry> entries;
  add_table(entries);
  if (sources.given) add_given(*sources.given, entries);
  add_devices(sources, entries);
  if (reach == Reach::here) return entries;
  for (const KernelEvent& event : other_kernel_events()) entries.push_back({Origin::kernel, event.name, {}, ""});
  const pfm::Pmu* own = own_pmu(sources);
  if (own) add_pmu(*own, Origin::processor, entries);
  add_apple(entries);
  if (reach == Reach::wide) return entries;
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    if (&pmu != own) add_pmu(pmu, Origin::others, entries);
  }
  return entries;
}

std::string top_down_group(const Sources& sources) {
  constexpr const char* first_level[] = {"slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
                                         "topdown-be-bound"};
  constexpr const char* second_level[] = {"topdown-heavy-ops", "topdown-br-mispredict", "topdown-fetch-lat",
                                          "topdown-mem-bound"};
  for (const std::string& pmu : linux::pmu_names(sources.root)) {
    const auto device = linux::pmu_device(sources.root, pmu);
    const auto has = [&](const char* name) { return device->events.contains(name); };
    if (!device || !device->is_core || !std::all_of(std::begin(first_level), std::end(first_level), has)) continue;
    std::vector<std::string> names;
    for (const char* const name : first_level) names.push_back(fmt::format("{}/{}/", pmu, name));
    if (std::all_of(std::begin(second_level), std::end(second_level), has))
      for (const char* const name : second_level) names.push_back(fmt::format("{}/{}/", pmu, name));
    return "{" + join(names, ",") + "}";
  }
  return "";
}

bool matches(const Entry& entry, std::string_view pattern) {
  return fits_name(entry.name, pattern) ||
         std::any_of(entry.other_names.begin(), entry.other_names.end(),
                     [&](const std::string& name) { return fits_name(name, pattern); });
}

}  // namespace tally::event
