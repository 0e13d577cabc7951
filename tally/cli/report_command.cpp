#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/discoveries.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/profiles.hpp"
#include "tally/cli/stored.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/memory/foreign/foreign.hpp"
#include "tally/report/html/html.hpp"
#include "tally/report/phases.hpp"
#include "tally/result/lab.hpp"
#include "tally/result/stored.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output, vectors;
  ProfileReport profiles;
};

constexpr const char* examples =
    "The page needs no network and no other file: it can be mailed. It is right on a phone and on paper. Latency "
    "curves "
    "of\n"
    "several files are drawn over each other first. Of two profiles it says what changed, by default in a table.\n"
    "\n"
    "Examples:\n"
    "  tally memory --format json -o memory.json && tally report memory.json -o memory.html\n"
    "  tally stat -r 20 --format json -o stat.json -- ./prog && tally report stat.json -o stat.html\n"
    "  lat_mem_rd 256 64 2>lat.txt; tally report memory.json lat.txt -o beside.html\n"
    "  TALLY_OUTPUT=regions.json ./prog; tally report regions.json -o regions.html\n"
    "  tally discover -o found.jsonl && tally report found.jsonl -o found.html\n"
    "  tally sample --every 50000 --format binary -o w.bin -- ./prog; tally report w.bin -o windows.html\n"
    "  tally lab --json examples/lab/15-3.asm > run.json; tally report run.json -o run.html\n"
    "  tally report monday.json tuesday.json -o both.html\n"
    "  tally report before.json after.json        # two of tally profile --format json: what changed, by function\n"
    "  tally report before.json after.json --by line --top 0\n"
    "  tally report before.json after.json -o changed.html\n";

void describe(Page& page, Options& options) {
  page.head("Makes one page with curves and tables, for a browser, of stored results; of two profiles, what changed.",
            "tally report [options] -o PAGE.html FILE…\n  tally report [options] BEFORE.json AFTER.json");
  page.add_option(
      "FILE", options.files,
      "results: what `tally memory --format json`, `tally stat --format json`, `tally profile --format json`, `tally "
      "lab --json`, `tally "
      "sample "
      "-o FILE`, HPCTool or a "
      "program with regions (TALLY_OUTPUT=FILE.json) wrote, or what multichase -v, lat_mem_rd, Intel MLC, LENS or VANS "
      "printed");
  page.add_option("-o,--output", options.output, "write the page to this file; - is standard output")
      .value_name("FILE");
  page.add_option(
          "--bbv", options.vectors,
          "of one file of windows: phases by the code that ran, which `tally sample --bbv FILE` wrote with them")
      .value_name("FILE");
  add_profile_options(page, options.profiles);
  page.footer(examples);
}

bool is_of_tally(std::string_view text) {
  return text.find("\"schema\"") != std::string_view::npos || text.starts_with("run,interval_ns,");
}

Error unknown_file(std::string_view text, const std::string& file) {
  const auto begins = [text](std::string_view with) { return text.substr(0, with.size()) == with; };
  const char* what = text.empty()                                           ? "it is empty"
                     : begins("<!doctype html") || begins("<!DOCTYPE html") ? "it is a page already"
                     : begins("task,") ? "it has the rows of a result, not all of it"
                                       : "it is of no kind that is known here";
  return {Code::bad_usage, fmt::format("no page can be made of '{}': {}", printable(file), what),
          "pages are made of the JSON of `tally stat`, `tally memory`, `tally verify`, `tally lab` and regions, of "
          "what `tally sample` "
          "writes, of HPCTool's csv, "
          "and of what "
          "multichase "
          "-v, lat_mem_rd, Intel MLC, LENS and VANS print",
          0};
}

Result<std::vector<report::Shown>> read_all(const std::vector<std::string>& files) {
  std::vector<report::Shown> all;
  for (const std::string& file : files) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const auto text = read_stored(file);
    if (!text) return fail(text.error());
    if (is_of_windows(*text, file)) {
      auto windows = stored_windows(*text, file);
      if (!windows) return fail(windows.error());
      all.push_back({name, *std::move(windows)});
      continue;
    }
    if (is_discovery(*text)) {
      auto discovery = discovery_of(*text, file);
      if (!discovery) return fail(discovery.error());
      all.push_back({name, *std::move(discovery)});
      continue;
    }
    if (result::is_memory(*text)) {
      auto memories = result::read_memories(*text, file);
      if (!memories) return fail(memories.error());
      for (result::Memory& one : *memories) all.push_back({name, std::move(one)});
      continue;
    }
    if (result::is_lab(*text)) {
      auto run = result::read_lab(*text, file);
      if (!run) return fail(run.error());
      all.push_back({name, *std::move(run)});
      continue;
    }
    if (result::is_verify(*text)) {
      auto verify = result::read_verify(*text, file);
      if (!verify) return fail(verify.error());
      all.push_back({name, *std::move(verify)});
      continue;
    }
    if (result::is_regions(*text)) {
      auto program = result::read_regions(*text);
      if (!program) {
        return fail(program.error().code, fmt::format("'{}' holds no regions: {}", file, program.error().message),
                    "TALLY_OUTPUT=FILE.json makes a program with regions write them");
      }
      all.push_back({name, *std::move(program)});
      continue;
    }
    if (memory::is_foreign(*text)) {
      auto memory = memory::read_foreign(*text, file);
      if (!memory) return fail(memory.error());
      all.push_back({name, *std::move(memory)});
      continue;
    }
    auto stats = stored_stats(*text, file);
    if (!stats) return fail(is_of_tally(*text) ? stats.error() : unknown_file(*text, file));
    for (result::Stat& one : *stats) all.push_back({name, std::move(one)});
  }
  return all;
}

// Threads have their vectors in files of their own, numbered in the order of their first windows.
Result<void> read_vectors(const std::string& path, std::vector<report::Shown>& results) {
  auto* const windows = results.size() == 1 ? std::get_if<result::Windows>(&results.front().result) : nullptr;
  if (windows == nullptr)
    return fail(Code::bad_usage, "--bbv goes with one file of windows",
                "tally sample -o FILE --bbv FILE.bb writes both");
  const auto& triggers = windows->head.triggers;
  const bool by_instructions = triggers.size() == 1 && triggers[0].event.starts_with("instructions");
  for (std::size_t i = 0; i < windows->series.size(); ++i) {
    const std::string file = i == 0 ? path : fmt::format("{}.{}", path, i + 1);
    const auto text = read_stored(file);
    if (!text) return fail(text.error());
    if (const auto added = report::add_vectors(windows->series[i], *text, file, by_instructions); !added) return added;
  }
  return {};
}

}  // namespace

void describe_report(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_report(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.files.empty()) {
    return report_error(
        {Code::bad_usage, "there is no file to read", "for example: tally report result.json -o page.html", 0});
  }
  const auto profiles = stored_profiles(options.files);
  if (!profiles) return report_error(profiles.error());
  if (!profiles->empty() && !options.vectors.empty())
    return report_error({Code::bad_usage, "--bbv goes with one file of windows, and these are profiles", "", 0});
  if (!profiles->empty()) return report_profiles(*profiles, options.profiles, options.output, options.files);
  if (options.profiles.any())
    return report_error({Code::bad_usage, "--format, --by, --top and --full-names are for profiles",
                         "other results make a page: -o page.html", 0});
  const bool to_file = !options.output.empty() && options.output != "-";
  if (options.output.empty() && linux::Output::standard_output().is_terminal()) {
    return report_error(
        {Code::bad_usage, "a page is nothing for a terminal", "-o page.html writes it to that file", 0});
  }
  if (const auto apart = check_not_read(options.output, options.files); !apart) return report_error(apart.error());
  auto results = read_all(options.files);
  if (!results) return report_error(results.error());
  if (!options.vectors.empty())
    if (const auto read = read_vectors(options.vectors, *results); !read) return report_error(read.error());
  const std::string text = report::html_page(*results);
  if (!to_file) return print(text);
  auto output = linux::Output::open_file(options.output);
  if (!output) return report_error(output.error());
  const auto written = output->write(text);
  return written ? exit_ok : report_error(written.error());
}

}  // namespace tally::cli
