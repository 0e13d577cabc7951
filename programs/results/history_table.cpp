// `tally history` for people: a row with the trend of each series, and the changes.
#include <fmt/format.h>

#include <algorithm>

#include "programs/results/history_format.hpp"
#include "programs/results/history_series.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::results {
namespace {

// The last values of a series as a line of blocks, from its least to its greatest.
std::string trend(const HistorySeries& series) {
  constexpr std::size_t longest = 24;
  constexpr const char* blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t first = series.values.size() - std::min(series.values.size(), longest);
  std::vector<double> values;
  for (std::size_t i = first; i < series.values.size(); ++i)
    values.push_back(static_cast<double>(*series.values[i].count->value));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::string text;
  for (const double value : values) {
    const double share = *most > *least ? (value - *least) / (*most - *least) : 0;
    text += blocks[static_cast<std::size_t>(share * 7 + 0.5)];
  }
  return text;
}

std::string level_text(double level, Unit unit) { return value_text(static_cast<std::int64_t>(level), unit); }

}  // namespace

std::string history_table(const result::History& history, const result::Provenance&, std::size_t terminal) {
  const std::vector<HistorySeries> all = series_of(history);
  if (all.empty()) return " The history contains no counts.\n";
  Grid series({{"name"},
               {"event"},
               {"counted with"},
               {"results", Align::right},
               {"first", Align::right},
               {"last", Align::right},
               key_column("trend")});
  Grid changes({{"name"},
                {"event"},
                {"counted with"},
                {"since"},
                {"date", Align::right},
                {"before", Align::right},
                {"after", Align::right},
                key_column("change", Align::right)});
  Grid patterns({{"name"},
                 {"event"},
                 {"counted with"},
                 {"pattern"},
                 {"steps", Align::right},
                 {"since"},
                 {"until"},
                 {"before", Align::right},
                 {"after", Align::right},
                 key_column("change", Align::right)});
  Grid new_settings({{"name"}, {"since"}, {"date", Align::right}, prose_column("settings that changed")});
  Grid accepted({{"name"}, {"since"}, {"date", Align::right}, prose_column("reason")});
  for (const AcceptedResult& step : accepted_results(all))
    accepted.add({step.name, entry_text(*step.entry), step.entry->provenance.date, step.entry->accepted});
  for (const HistorySeries& history_series : all) {
    series.add({history_series.name, history_series.event, history_series.distinction,
                std::to_string(history_series.values.size()),
                value_text(*history_series.values.front().count->value, history_series.unit),
                value_text(*history_series.values.back().count->value, history_series.unit), trend(history_series)});
    for (const SeriesChange& change : history_series.changes) {
      const result::HistoryEntry& entry = *history_series.values[change.at].entry;
      changes.add({history_series.name, history_series.event, history_series.distinction, entry_text(entry),
                   entry.provenance.date, level_text(change.before, history_series.unit),
                   level_text(change.after, history_series.unit), percent_change(change.before, change.after)});
    }
    for (const SeriesPattern& pattern : history_series.patterns) {
      patterns.add({history_series.name, history_series.event, history_series.distinction,
                    std::string(name(pattern.pattern)), std::to_string(pattern.steps),
                    entry_text(*history_series.values[pattern.first].entry),
                    entry_text(*history_series.values[pattern.last].entry),
                    value_text(pattern.before, history_series.unit), value_text(pattern.after, history_series.unit),
                    percent_change(static_cast<double>(pattern.before), static_cast<double>(pattern.after))});
    }
  }
  for (const NewSettings& one : new_settings_of(all))
    new_settings.add({one.name, entry_text(*one.entry), one.entry->provenance.date, one.settings});
  return "\n" + series.text(terminal) + "\n" +
         (new_settings.empty() ? ""
                               : " New series, counted with other settings\n\n" + new_settings.text(terminal) + "\n") +
         (changes.empty() ? " No change was found.\n" : " Changes\n\n" + changes.text(terminal)) +
         (accepted.empty() ? "" : "\n Accepted: limits of growth begin there\n\n" + accepted.text(terminal)) +
         (patterns.empty() ? "" : "\n Patterns\n\n" + patterns.text(terminal));
}

std::string history_list(const result::History& history, std::size_t terminal) {
  Grid rows({{"number", Align::right},
             {"date", Align::right},
             {"name"},
             {"commit"},
             {"label"},
             {"host"},
             {"processor"},
             {"counts", Align::right}});
  for (const result::HistoryEntry& entry : history.entries)
    rows.add({std::to_string(entry.number), entry.provenance.date, entry.name, entry.provenance.commit.substr(0, 12),
              entry.provenance.label, entry.provenance.host, entry.processor, std::to_string(entry.counts.size())});
  return "\n" + rows.text(terminal);
}

}  // namespace tally::results
