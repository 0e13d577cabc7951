// Parses vendor event names with libpfm4.
#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/names_without_event.hpp"
#include "tally/hardware/event/parsers.hpp"

namespace tally::event {
namespace {

Event made(std::string_view asked, const std::string& label, const pfm::EncodedEvent& found) {
  return coded(asked, label, found.encoding, found.mode.value_or(Mode::user));
}

// Parses "hsw::UOPS_RETIRED:ALL".
Parsed qualified(std::string_view text, std::size_t colons) {
  const pfm::Pmu* pmu = pfm::find_pmu(text.substr(0, colons));
  if (!pmu) return std::nullopt;
  auto found = pfm::encode(*pmu, text.substr(colons + 2));
  if (!found) return std::nullopt;
  if (!*found) return fail(found->error());
  return made(text, pmu->name + "::" + (*found)->name, **found);
}

struct Reading {
  const pfm::Pmu* pmu;
  pfm::EncodedEvent found;
};

// Whether two meanings of a name count the same event.
bool agree(const Reading& a, const Reading& b) {
  const auto id = counterpart(a.found.encoding);
  if (id && id == counterpart(b.found.encoding)) return true;
  return is_amd(a.found.encoding.family) == is_amd(b.found.encoding.family) &&
         a.found.encoding.config == b.found.encoding.config && a.found.encoding.config1 == b.found.encoding.config1;
}

Error ambiguous(std::string_view text, const std::vector<Reading>& readings) {
  std::vector<std::string> codes;
  std::vector<const Reading*> firsts;
  for (const Reading& reading : readings) {
    if (std::any_of(firsts.begin(), firsts.end(), [&](const Reading* first) { return agree(*first, reading); }))
      continue;
    firsts.push_back(&reading);
    if (codes.size() < 4)
      codes.push_back(fmt::format("{} on {}", code_text(reading.found.encoding), reading.pmu->name));
  }
  const auto near = name_without_event(text);
  return {Code::bad_usage,
          fmt::format("'{}' is not an event of this machine's processor, and others have {} codes for it: {}{}",
                      printable(text), firsts.size(), join(codes, ", "), firsts.size() > codes.size() ? " …" : ""),
          fmt::format("{}name the processor: {}::{}", near ? std::string(near->instead) + "; or " : "",
                      readings.front().pmu->name, text),
          0};
}

}  // namespace

Parsed parse_pfm_anywhere(std::string_view text) {
  std::vector<Reading> readings;
  std::optional<Error> first_error;
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    auto found = pfm::encode(pmu, text);
    if (!found) continue;
    if (*found) {
      readings.push_back({&pmu, **std::move(found)});
    } else if (!first_error) {
      first_error = found->error();
    }
  }
  if (readings.empty()) return first_error ? Parsed(fail(*std::move(first_error))) : std::nullopt;
  const bool all_agree = std::all_of(readings.begin(), readings.end(),
                                     [&](const Reading& reading) { return agree(readings.front(), reading); });
  if (!all_agree) return fail(ambiguous(text, readings));
  // Prefers Haswell, the generation that is documented best here.
  const auto haswell =
      std::find_if(readings.begin(), readings.end(), [](const Reading& one) { return one.pmu->name == "hsw"; });
  const Reading& chosen = haswell == readings.end() ? readings.front() : *haswell;
  Event event = made(text, chosen.found.name, chosen.found);
  event.notes.push_back(fmt::format("{}: not an event of this machine's processor; read as {}::{}", text,
                                    chosen.pmu->name, chosen.found.name));
  return event;
}

Parsed parse_pfm(std::string_view text, const Sources& sources) {
  if (const std::size_t colons = text.find("::"); colons != std::string_view::npos) return qualified(text, colons);
  if (const pfm::Pmu* own = own_pmu(sources)) {
    if (auto found = pfm::encode(*own, text)) {
      if (!*found) return fail(found->error());
      return made(text, (*found)->name, **found);
    }
  }
  return std::nullopt;
}

}  // namespace tally::event
