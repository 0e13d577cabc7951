#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/results.hpp"
#include "tally/cli/stored.hpp"
#include "tally/linux/input.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  ResultOptions results;
};

constexpr const char* examples =
    "A file holds one result, or one in each line, as --append leaves them. Several are written one behind the other, "
    "their\n"
    "runs numbered through. Processes and threads are there where the file has them. Each row of HPCTool is a run.\n"
    "\n"
    "Examples:\n"
    "  tally stat --format json -o result.json -- ./prog\n"
    "  tally export result.json >result.csv\n"
    "  tally export --format table --per-process result.json\n"
    "  tally export --format table hpcoutput-sampl.csv\n";

void describe(Page& page, Options& options) {
  page.head("Writes stored results, of `tally stat` (its JSON) or of HPCTool (its csv), in another format.",
            "tally export [options] FILE…");
  page.add_option("FILE", options.files, "results: what `tally stat --format json`, or HPCTool, wrote");
  add_result_options(page, options.results, "they go there, too; the format is csv where none is named");
  page.footer(examples);
}

Result<std::vector<result::Stat>> read_all(const std::vector<std::string>& files) {
  std::vector<result::Stat> all;
  for (const std::string& file : files) {
    const auto text = linux::read_file(file);
    if (!text) return fail(text.error());
    auto stats = stored_stats(*text, file);
    if (!stats) return fail(stats.error());
    for (result::Stat& stat : *stats) all.push_back(std::move(stat));
  }
  return all;
}

}  // namespace

void describe_export(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_export(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.files.empty()) {
    return report_error({Code::bad_usage, "there is no file to read", "for example: tally export result.json", 0});
  }
  const auto stats = read_all(options.files);
  if (!stats) return report_error(stats.error());
  auto destination = Destination::open(options.results, "csv", linux::Output::standard_output());
  if (!destination) return report_error(destination.error());
  return destination->write(*stats);
}

}  // namespace tally::cli
