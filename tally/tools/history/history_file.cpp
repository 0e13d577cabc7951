#include "tally/tools/history/history_file.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/linux/size_limit.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::history {
namespace {

result::HistoryCount count_of(const result::Event& event) {
  result::HistoryCount count{.event = event.total.name.text(),
                             .unit = event.total.unit,
                             .value = event.total.count.value,
                             .low = {},
                             .high = {},
                             .trust = event.total.count.trust};
  if (event.summary) {
    // Few runs have no interval: what they differ by is one.
    count.low = event.summary->low ? event.summary->low : event.summary->min;
    count.high = event.summary->high ? event.summary->high : event.summary->max;
  }
  return count;
}

result::HistoryEntry entry_of(const result::Stat& stat, const HistoryOptions& options) {
  result::HistoryEntry entry{.number = 0,
                             .name = options.name,
                             .processor = stat.environment.cpu,
                             .provenance = stat.environment.provenance,
                             .settings = output::settings_of(stat),
                             .counts = {},
                             .accepted = options.accepted};
  if (const auto compared = output::comparable_of(stat))
    entry.can_vary = !compared->is_single_threaded || !compared->sources.empty();
  if (entry.name.empty()) entry.name = stat.command.empty() ? stat.target : shell_words(stat.command);
  // A result of an earlier version has none: it is stored as of now.
  if (!entry.provenance.is_known()) entry.provenance = command::provenance();
  for (const result::Event& event : stat.events) entry.counts.push_back(count_of(event));
  return entry;
}

}  // namespace

void add_history_option(command::Page& page, std::string& file) {
  const command::GroupScope group(page, command::results_group);
  page.add_option("--history", file,
                  "add the result to the history FILE, which `tally history` reads; creates it if it is missing")
      .value_name("FILE");
}

void add_history_options(command::Page& page, HistoryOptions& options) {
  add_history_option(page, options.file);
  const command::GroupScope group(page, command::results_group);
  page.add_option("--name", options.name, "with --history: name of the series (default: the measured command line)")
      .value_name("NAME");
}

Result<HistoryFile> HistoryFile::open(const HistoryOptions& options) {
  HistoryFile file;
  file.options_ = options;
  if (options.file.empty()) {
    if (options.name.empty()) return file;
    return fail(Code::bad_usage, "--name needs --history", "add --history FILE");
  }
  const linux::WithoutSizeSignal no_signal;
  auto database = Database::open(options.file);
  if (!database) return fail(database.error());
  file.database_.emplace(*std::move(database));
  return file;
}

int HistoryFile::add(const result::Stat& stat, Origin origin) {
  if (!database_) return command::exit_ok;
  if (stat.incomplete || stat.exit_code.value_or(0) != 0) {
    command::say(
        {fmt::format("not stored in '{}': the program {}", printable(options_.file),
                     stat.incomplete ? "was interrupted" : fmt::format("failed (exit code {})", *stat.exit_code))});
    return command::exit_ok;
  }
  output::Style style;
  style.one_line = true;
  const auto document = output::json(stat, style);
  if (!document) return command::report_error(document.error());
  const linux::WithoutSizeSignal no_signal;
  const auto added = database_->add(entry_of(stat, options_), *document, origin);
  return added ? command::exit_ok : command::report_error(added.error());
}

}  // namespace tally::history
