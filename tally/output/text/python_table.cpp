#include "tally/output/text/python_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/proportion.hpp"
#include "tally/output/analysis/python_functions.hpp"
#include "tally/output/kit/grid.hpp"

namespace tally::output {
namespace {

/// A share of the total; if functions were sampled, with its 95 % interval.
std::vector<std::string> share_cells(std::int64_t count, std::int64_t total, double samples) {
  if (total <= 0) return {"", ""};
  const double share = static_cast<double>(count) / static_cast<double>(total);
  const ShareInterval of = share_interval(std::clamp(share, 0.0, 1.0), samples);
  return {fmt::format("{:.2f} %", 100 * share),
          samples > 0 ? fmt::format("{:.0f} – {:.0f} %", 100 * of.low, 100 * of.high) : ""};
}

}  // namespace

std::string python_table(const result::Profile& profile, const ProfileStyle& style) {
  if (profile.python.empty()) return {};
  std::vector<const result::PythonFunction*> functions;
  for (const result::PythonFunction& function : profile.python) functions.push_back(&function);
  const auto key = [&](const result::PythonFunction* f) {
    return std::tuple(style.by_inclusive ? -f->inclusive[0] : -f->self[0], f->name, f->file, f->line);
  };
  std::sort(functions.begin(), functions.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });

  const bool has_calls = !profile.is_sampled();
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> totals(events), more(events);
  for (std::size_t e = 0; e < events; ++e) totals[e] = profile.stat.events[e].total.count.value.value_or(0);
  std::vector<Column> columns{{"share", Align::right}, {"95 % interval", Align::right}};
  for (const auto& event : profile.stat.events) columns.push_back({event.total.name.text(), Align::right});
  columns.insert(
      columns.end(),
      {{"with callees", Align::right}, {"calls", Align::right}, {"Python function", Align::left, 0, true}, {"line"}});
  Grid grid(columns);
  const auto add = [&](const std::vector<std::int64_t>& counts, std::string all, std::string calls, std::string name,
                       std::string place) {
    std::vector<std::string> cells = share_cells(counts[0], totals[0], profile.python_samples);
    for (const std::int64_t count : counts) cells.push_back(thousands(count));
    cells.insert(cells.end(), {std::move(all), std::move(calls), std::move(name), std::move(place)});
    grid.add(std::move(cells));
  };
  const std::size_t shown = style.most == 0 ? functions.size() : std::min(style.most, functions.size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const result::PythonFunction& f = *functions[i];
    for (std::size_t e = 0; e < events && i >= shown; ++e) more[e] += f.self[e];
    if (i < shown) add(f.self, thousands(f.inclusive[0]), f.calls ? thousands(*f.calls) : "", f.name, location_of(f));
  }
  if (shown < functions.size()) add(more, "", "", fmt::format("--top 0 shows {} more", functions.size() - shown), "");
  add(outside_python(profile), "", "", outside_python_name, "");
  add(totals, "", "", "total", "");
  std::string text =
      grid.text(style.terminal) +
      "\n a function's counts contain the C code that it called, \"with callees\" also Python functions" +
      (has_calls ? ";\n calls contain resumptions of generators\n" : "\n");
  if (profile.python_cut) text += " too many Python functions or calls: some are counted in their callers\n";
  return text;
}

}  // namespace tally::output
