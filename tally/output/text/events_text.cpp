#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/json_document.hpp"
#include "tally/output/kit/wrap.hpp"
#include "tally/output/text/event_text.hpp"

namespace tally::output {
namespace {

using event::Origin;

const char* heading(Origin origin) {
  switch (origin) {
    case Origin::table: return "Events of every machine:";
    case Origin::kernel: return "The kernel's other generic events:";
    case Origin::device: return "Events of this machine's kernel, in sysfs:";
    case Origin::processor: return "Events of this machine's processor, by libpfm4:";
    case Origin::others: return "Events of other processors, by libpfm4:";
    case Origin::apple: return "Events of Apple's M1:";
    case Origin::given: return "Events of the table given with --event-table:";
  }
  return "";
}

const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::table: return "table";
    case Origin::kernel: return "kernel";
    case Origin::device: return "sysfs";
    case Origin::processor: return "processor";
    case Origin::others: return "libpfm4";
    case Origin::apple: return "apple_m1";
    case Origin::given: return "given";
  }
  return "";
}

// perf's short names. Patterns find the others, and `tally event` lists them.
std::string short_names(const std::vector<std::string>& names) {
  std::vector<std::string> few;
  for (const std::string& name : names) {
    if (!name.starts_with("PERF_COUNT_") && !name.starts_with("PAPI_")) few.push_back(name);
  }
  return join(few, ", ");
}

/// Numbers reasons, and lists them below the tables.
class Reasons {
 public:
  std::string cell(const EventTrust& outlook) {
    std::string text(name(outlook.trust));
    if (outlook.trust == Trust::counted) text += " by " + outlook.source.text();
    if (outlook.reason.empty()) return text;
    auto at = std::find(all_.begin(), all_.end(), outlook.reason);
    if (at == all_.end()) at = all_.insert(at, outlook.reason);
    return fmt::format("{} [{}]", text, at - all_.begin() + 1);
  }

  std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < all_.size(); ++i) lines += hanging(fmt::format(" [{}] ", i + 1), printable(all_[i]));
    return lines.empty() ? "" : "\n" + lines;
  }

 private:
  std::vector<std::string> all_;
};

std::string offered_table(const std::vector<const OfferedEvent*>& rows, Reasons& reasons, std::size_t terminal) {
  Grid grid({{"event"}, {"trust here"}, prose_column("one count is")});
  for (const OfferedEvent* row : rows) {
    const std::string others = short_names(row->entry.other_names);
    std::string what = printable(row->entry.what);
    if (!others.empty()) what += what.empty() ? fmt::format("also {}", others) : fmt::format(" (also {})", others);
    grid.add({printable(row->entry.name), reasons.cell(row->outlook), what});
  }
  return grid.text(terminal);
}

}  // namespace

std::string events_text(const std::vector<OfferedEvent>& offered, std::size_t terminal) {
  std::string text;
  Reasons reasons;
  for (const Origin origin : {Origin::table, Origin::kernel, Origin::device, Origin::processor, Origin::others,
                              Origin::apple, Origin::given}) {
    std::vector<const OfferedEvent*> rows;
    for (const bool absent : {false, true}) {
      for (const OfferedEvent& event : offered) {
        if (event.entry.origin == origin && (event.outlook.trust == Trust::absent) == absent) rows.push_back(&event);
      }
    }
    if (rows.empty()) continue;
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", heading(origin), offered_table(rows, reasons, terminal));
  }
  return text + reasons.text();
}

std::string events_json(const std::vector<OfferedEvent>& offered, const result::Provenance& provenance) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json json = document("tally-events/1", provenance);
  json["events"] = Json::array();
  for (const OfferedEvent& event : offered) {
    json["events"].push_back({{"event", event.entry.name},
                              {"other_names", event.entry.other_names},
                              {"origin", origin_name(event.entry.origin)},
                              {"trust", name(event.outlook.trust)},
                              {"reason", or_null(event.outlook.reason)},
                              {"source", or_null(event.outlook.source.text())},
                              {"what", or_null(event.entry.what)}});
  }
  return json_text(json, 2) + "\n";
}

}  // namespace tally::output
