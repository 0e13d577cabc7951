#include "programs/results/rank_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "programs/results/rank_sums.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/terminal_output.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::results {
namespace {

constexpr int usual_functions = 20;

struct RankFormat : output::Format {
  std::string (*write)(const RankSums& sums, std::size_t terminal);
};

constexpr RankFormat rank_formats[] = {
    {output::table_of(output::Kind::regions), ranks_table},
    {{output::Kind::regions, "csv", ".csv", "RFC 4180, one row for each event and region"},
     [](const RankSums& sums, std::size_t) { return ranks_csv(sums); }},
    {{output::Kind::regions, "json", ".json", "one JSON object"},
     [](const RankSums& sums, std::size_t) { return ranks_json(sums, command::provenance()); }},
};

Result<std::vector<StoredResult>> read_ranks(const std::vector<std::string>& files) {
  constexpr output::Kind kinds[] = {output::Kind::profile, output::Kind::regions, output::Kind::stat};
  std::vector<StoredResult> ranks;
  for (const std::string& name : files) {
    const auto file = read_stored(name);
    if (!file) return fail(file.error());
    auto results = stored_results(*file, kinds);
    if (!results) return fail(results.error());
    const std::string short_name = name.substr(name.rfind('/') + 1);
    for (result::AnyResult& stored : *results) ranks.push_back({short_name, std::move(stored)});
  }
  return ranks;
}

}  // namespace

int report_ranks(const std::vector<std::string>& files, const ResultOptions& how, const ProfileReport& functions) {
  if (how.append || how.separator || !how.description.empty() || how.perf_json || how.style.per_process ||
      how.style.per_thread)
    return command::report_error({Code::bad_usage, "only --format and -o can be used with --ranks", "", 0});
  const auto format = output::choose_format(std::span<const RankFormat>(rank_formats), how.format, how.output, "table");
  if (!format) return command::report_error(format.error());
  auto ranks = read_ranks(files);
  if (!ranks) return command::report_error(ranks.error());
  const auto profiles = static_cast<std::size_t>(std::ranges::count_if(
      *ranks, [](const StoredResult& rank) { return std::holds_alternative<result::Profile>(rank.result); }));
  const bool are_profiles = profiles == ranks->size();
  if (!are_profiles && profiles != 0)
    return command::report_error({Code::bad_usage, "profiles and other results cannot be mixed",
                                  "profiles are compared by function, other results by region: give one kind", 0});
  if (!functions.by.empty() || functions.whole_names || (functions.top && !are_profiles))
    return command::report_error({Code::bad_usage,
                                  "--ranks: of the options of profiles it has only --top, with profiles",
                                  "omit the others", 0});
  if (are_profiles)
    *ranks = regions_of_profiles(*ranks, static_cast<std::size_t>(functions.top.value_or(usual_functions)));
  split_job(*ranks);
  join_native_job(*ranks);
  RankSums sums = sums_of_ranks(*ranks, are_profiles);
  add_metrics_of_ranks(sums, *ranks);
  for (auto name = sums.names.begin(); name != sums.names.end(); ++name)
    if (std::find(sums.names.begin(), name, *name) != name)
      return command::report_error({Code::bad_usage, fmt::format("two of the results are of {}", printable(*name)),
                                    "name each rank's file once", 0});
  auto output = how.output.empty() || how.output == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                                        : linux::Output::open_file(how.output);
  if (!output) return command::report_error(output.error());
  const auto written = output->write((*format)->write(sums, command::terminal_columns(*output)));
  return written ? command::exit_ok : command::report_error(written.error());
}

}  // namespace tally::results
