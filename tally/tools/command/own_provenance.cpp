#include "tally/tools/command/own_provenance.hpp"

#include <cstdlib>
#include <ctime>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/git.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::command {
namespace {

struct Invocation {
  std::vector<std::string> command_line;
  std::time_t started = 0;
  std::string label;
  bool shows_host = false;
};

// A process is one invocation.
Invocation& invocation() {
  static Invocation one;
  return one;
}

// RFC 3339. Empty for a year that it cannot represent.
std::string date_text(std::time_t seconds) {
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr || parts.tm_year < -1900 || parts.tm_year > 9999 - 1900) return {};
  char text[sizeof "2026-01-31T23:59:59Z"];
  return std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0 ? "" : text;
}

std::time_t started() {
  const char* const fixed = secure_getenv("SOURCE_DATE_EPOCH");
  const auto seconds = fixed == nullptr ? std::nullopt : parse_integer(fixed);
  return seconds ? static_cast<std::time_t>(*seconds) : invocation().started;
}

}  // namespace

void record_invocation(std::vector<std::string> command_line) {
  invocation().command_line = std::move(command_line);
  invocation().started = std::chrono::duration_cast<std::chrono::seconds>(linux::time_since_1970()).count();
}

std::string own_name() {
  const auto& words = invocation().command_line;
  return words.empty() ? "tally" : words.front();
}

void add_label_option(Page& page) {
  page.add_option("--label", invocation().label,
                  "store this text with the result, to find it again: a version, a configuration")
      .value_name("LABEL")
      .in(output_group);
}

void add_host_option(Page& page) {
  page.add_flag("--host", invocation().shows_host, "HTML and Markdown: show the name of the machine").in(output_group);
}

result::Provenance provenance() {
  return {.date = date_text(started()),
          .host = linux::host_name(),
          .label = invocation().label,
          .command_line = invocation().command_line,
          .commit = linux::git_commit("."),
          .tally_version = std::string(version())};
}

void hide_host(result::Provenance& provenance) {
  if (!invocation().shows_host) provenance.host.clear();
}

void hide_host(result::Environment& environment) { hide_host(environment.provenance); }

void hide_host(result::Environment& environment, const output::Format& format) {
  if (format.is_page || format.name == "markdown") hide_host(environment);
}

Result<void> describe_csv(const output::Format& format, const std::string& output, std::string_view json) {
  if (format.name != "csv" || output.empty() || output == "-" || !linux::file_state(output)) return {};
  auto file = linux::Output::open_derived(output + ".meta.json");
  return file ? file->write(json) : Result<void>(fail(file.error()));
}

}  // namespace tally::command
