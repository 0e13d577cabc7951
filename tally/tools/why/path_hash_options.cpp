#include "tally/tools/why/path_hash_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/engine/channel/hash.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/start_state.hpp"
#include "tally/output/analysis/read_sources.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::why {

void add_path_options(command::Page& page, PathOptions& options) {
  const command::GroupScope group(page, command::results_group);
  page.add_flag("--path-hash", options.hash,
                "engine only: store a hash of each thread's path through the program every 1,048,576 instructions; "
                "`tally compare --why` finds where two runs part");
  page.add_option("--path-interval", options.interval, "with --path-hash: store a hash every N instructions")
      .value_name("N")
      .check(command::whole_number(1, std::int64_t{1} << 40));
}

Result<void> PathOptions::choose(backend::Order& order) const {
  if (!hash && interval)
    return fail(Code::bad_usage, "--path-interval needs --path-hash", "add --path-hash, or omit --path-interval");
  if (!hash) return {};
  backend::PathSettings& path = order.count()->path.emplace();
  if (interval) path.every = static_cast<std::uint64_t>(*interval);
  return {};
}

std::uint32_t check_of_value(std::string_view value) {
  std::uint64_t hash = value.size();
  for (const char c : value) hash = channel::checksum_with(hash, static_cast<unsigned char>(c));
  return channel::hash_bits(hash, 16);
}

result::StartConditions start_conditions(const backend::Order& order) {
  const linux::StartState state = linux::start_state();
  result::StartConditions start{
      .program = {}, .directory = state.directory, .streams = state.streams, .environment = {}};
  if (const auto path = linux::find_program(order.target.command.front(), linux::search_path()))
    if (const auto file = linux::file_state(*path)) start.program = {file->bytes, file->modified_s, file->modified_ns};
  for (const std::string& word : linux::environment_for(order.conditions)) {
    const std::size_t name = std::min(word.find('='), word.size());
    const std::string_view value = std::string_view(word).substr(std::min(name + 1, word.size()));
    start.environment.push_back({word.substr(0, name), static_cast<std::int64_t>(value.size()), check_of_value(value)});
  }
  return start;
}

namespace {

bool exact_counts_differ(const result::Stat& stat) {
  return std::any_of(stat.events.begin(), stat.events.end(), [](const result::Event& event) {
    return event.summary && event.total.count.trust == Trust::exact && event.summary->min != event.summary->max;
  });
}

}  // namespace

void describe_differences(result::Stat& stat, const backend::Order& order) {
  if (order.hashes_paths()) stat.start = start_conditions(order);
  if (stat.runs.empty() || !stat.runs.front().nondeterminism || !exact_counts_differ(stat)) return;
  std::vector<std::string> read;
  for (const result::ReadSource& one : *stat.runs.front().nondeterminism)
    if (!output::is_usual(one)) read.push_back(fmt::format("{} (first in {})", one.source, output::reader_text(one)));
  // Other addresses are the usual cause; many programs read random numbers without effect on their counts.
  std::vector<std::string> causes;
  if (!order.conditions.repeatable && linux::addresses_are_randomized())
    causes.emplace_back("each run has other addresses (address randomisation, which `--repeatable` turns off)");
  if (!read.empty()) causes.push_back("the program read: " + join(read, "; "));
  if (causes.empty())
    causes.emplace_back(
        "no recorded source explains it: perhaps a file that it read, or the order of its threads or processes");
  stat.notices.push_back(
      fmt::format("the runs differ, and {}. Two results of `tally stat --path-hash -o FILE.json` and `tally compare "
                  "--why` show where they part",
                  join(causes, ", and ")));
}

}  // namespace tally::why
