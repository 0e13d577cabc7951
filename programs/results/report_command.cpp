#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "programs/results/conversion.hpp"
#include "programs/results/history_page.hpp"
#include "programs/results/merge_profiles.hpp"
#include "programs/results/rank_report.hpp"
#include "programs/results/read_history.hpp"
#include "programs/results/report_profile.hpp"
#include "programs/results/reported_formats.hpp"
#include "programs/results/result_commands.hpp"
#include "programs/results/results_page.hpp"
#include "programs/results/stored_code.hpp"
#include "programs/results/tally_file.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/output/analysis/phases.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/output/registry/readers.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::results {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string vectors;
  report::ResultOptions results;
  report::ProfileReport profiles;
  MergeOptions merge;
  bool ranks = false;
};

// The kinds that it reads, in the order in which they are tried.
constexpr output::Kind reported_kinds[] = {output::Kind::profile, output::Kind::windows, output::Kind::discovery,
                                           output::Kind::memory,  output::Kind::lab,     output::Kind::verify,
                                           output::Kind::regions, output::Kind::stat};

// The output format for results other than profiles.
constexpr output::Format page_format{output::Kind::stat, "html", ".html .htm", "a page"};

constexpr const char* report_examples =
    "The page is a single file that needs no network. Latency curves of several files share one chart. Two profiles, "
    "or two results of tally stat, are compared as by tally compare --force.\n"
    "\n"
    "With another --format or -o NAME.ending, or an option of tally stat such as --per-process, the results are "
    "converted. Several results of tally stat are written one after the other, with their runs numbered "
    "consecutively. Each row of an HPCTool file is then a run, unless tally wrote the rows as windows.\n"
    "\n"
    "Examples:\n"
    "  tally report stat.json -o stat.html\n"
    "  tally report windows.csv.gz -o windows.html\n"
    "  tally report found.jsonl -o found.html\n"
    "  # Your latency curve next to that of another machine\n"
    "  tally report memory.json other.json -o curves.html\n"
    "  # Regions recorded by the tally library\n"
    "  TALLY_OUTPUT=regions.json ./prog\n"
    "  tally report regions.json -o regions.html\n"
    "  # All ranks of a job: mpirun tally stat -o %h.%r.json -- ./prog\n"
    "  tally report --ranks *.json\n"
    "  # The history that `tally stat --history bench.db` wrote\n"
    "  tally report bench.db -o history.html\n"
    "  # The sum of several runs, for BOLT\n"
    "  tally report --merge run1.code.json run2.code.json -o prog.fdata\n"
    "  # Other formats\n"
    "  tally report stat.json --format csv >stat.csv\n"
    "  tally report stat.json --format table --per-process\n"
    "  tally report hpcoutput-sampl.csv --format table\n"
    "  tally report windows.csv.gz --format chrome-trace -o trace.json\n"
    "  # The same as tally compare --force before.json after.json\n"
    "  tally report before.json after.json\n";

std::vector<const output::Format*> formats_of_profiles() {
  static const std::vector<output::ProfileFormat> stored = report::formats_of_stored_profiles();
  return output::common(std::span<const output::ProfileFormat>(stored));
}

void describe(Page& page, ReportOptions& options) {
  page.head("Make an HTML page of stored results, convert them to another format, or compare two.",
            "tally report [options] -o PAGE.html FILE…\n  tally report [options] --format FORMAT FILE…\n  tally report "
            "[options] BEFORE.json AFTER.json");
  page.add_option("FILE", options.files, "a file with stored results; `tally help report` lists the formats");
  report::add_result_options(page, options.results, "html", "(default)");
  page.add_option("--bbv", options.vectors,
                  "windows: find phases from the basic-block vectors that `tally sample --bbv FILE` wrote")
      .value_name("FILE");
  page.add_flag("--ranks", options.ranks,
                "the files are those of the ranks of one job, or of the whole job (tally stat -- mpirun …): print sum, "
                "minimum, maximum and imbalance of each event in each region, or of profiles in each function (--top); "
                "formats table, csv and json");
  report::add_profile_options(page, options.profiles);
  add_merge_options(page, options.merge);
  page.footer(output::reader_lines(reported_formats(), reported_kinds) + "\n" + conversion_lines() +
              fmt::format("  {:<12}  {}\n\n", output::source_name(output::Kind::profile),
                          output::format_names(formats_of_profiles())) +
              report_examples);
}

bool is_of_tally(std::string_view text) { return text.find("\"schema\"") != std::string_view::npos; }

Error unknown_file(const output::StoredFile& file) {
  const auto begins = [&](std::string_view with) { return file.text.starts_with(with); };
  const char* what = file.text.empty()                                      ? "the file is empty"
                     : begins("<!doctype html") || begins("<!DOCTYPE html") ? "it is already a page"
                     : begins("task,")                                      ? "it holds only the rows of a result"
                                       : "it is not in a file format that tally reads";
  return {Code::bad_usage, fmt::format("cannot report '{}': {}", printable(file.name), what),
          "`tally report --help` lists the file formats", 0};
}

// Null for tally's own JSON. An error if the file is in no format that tally reads.
Result<const output::Format*> format_of(const output::StoredFile& file) {
  const output::Format* const format = output::recognised_format(reported_formats(), reported_kinds, file);
  if (auto why = report::unreadable_file_error(file)) return fail(*std::move(why));
  if (format == nullptr && !is_of_tally(file.text)) return fail(unknown_file(file));
  return format;
}

// The results that were read from the files.
struct LoadedResults {
  std::vector<StoredResult> shown;        // for a page
  std::vector<result::Profile> profiles;  // never mixed with other results
};

Error mixed_profiles() {
  return {Code::bad_usage, "profiles and other results cannot be mixed", "give only profiles, or only other results",
          0};
}

void add(result::AnyResult result, const std::string& name, LoadedResults& all) {
  std::visit(
      [](auto& one) {
        if constexpr (requires { one.environment; }) hide_host(one.environment);
      },
      result);
  if (auto* const profile = std::get_if<result::Profile>(&result))
    all.profiles.push_back(std::move(*profile));
  else
    all.shown.push_back({name, std::move(result)});
}

Result<LoadedResults> load_all(const std::vector<std::string>& names) {
  LoadedResults all;
  std::vector<output::StoredFile> files;
  std::size_t profiles = 0;
  for (const std::string& name : names) {
    auto file = report::read_stored(name);
    if (!file) return fail(file.error());
    profiles += output::is_profile_json(*file);
    files.push_back(*std::move(file));
  }
  if (profiles != 0 && profiles < files.size()) {
    for (const output::StoredFile& file : files)
      if (const auto format = format_of(file); !format) return fail(format.error());
    return fail(mixed_profiles());
  }
  for (output::StoredFile& file : files) {
    const auto format = format_of(file);
    if (!format) return fail(format.error());
    auto results = report::stored_results(file, *format);
    if (!results) return fail(results.error());
    for (result::AnyResult& one : *results) add(std::move(one), file.name.substr(file.name.rfind('/') + 1), all);
    file = {};  // files of windows are large
  }
  return all;
}

// Each thread has a file of vectors; the files are numbered in the order of the threads' first windows.
Result<void> read_vectors(const std::string& path, std::vector<StoredResult>& results) {
  auto* const windows = results.size() == 1 ? std::get_if<result::Windows>(&results.front().result) : nullptr;
  if (windows == nullptr)
    return fail(Code::bad_usage, "--bbv needs a single file of windows",
                "`tally sample -o FILE --bbv FILE.bb` writes both files");
  const auto& triggers = windows->head.triggers;
  const bool by_instructions = triggers.size() == 1 && triggers[0].event.base == "instructions";
  for (std::size_t i = 0; i < windows->series.size(); ++i) {
    const std::string file = i == 0 ? path : fmt::format("{}.{}", path, i + 1);
    const auto text = report::read_stored(file);
    if (!text) return fail(text.error());
    if (const auto added = output::add_vectors(windows->series[i], text->text, file, by_instructions); !added)
      return added;
  }
  return {};
}

// Whether the page can be written there. Errors: bad_usage.
Result<void> check_page_output(const ReportOptions& options) {
  const std::string& output = options.results.output;
  if (output.empty() && linux::Output::standard_output().is_terminal())
    return fail(Code::bad_usage, "refusing to write a page to a terminal", "use `-o page.html`");
  return output::check_ending(output, {&page_format}, false);
}

int write_page(const std::string& text, const std::string& path) {
  if (path.empty() || path == "-") return print(text);
  auto output = linux::Output::open_file(path);
  if (!output) return report_error(output.error());
  const auto written = output->write(text);
  return written ? exit_ok : report_error(written.error());
}

// Whether an option is only for results of `tally stat` that are converted.
bool has_stat_options(const report::ResultOptions& how) {
  return how.append || how.perf_json || how.separator || !how.description.empty() || how.style.per_process ||
         how.style.per_thread;
}

// Whether an option asks for another format than a page.
bool asks_for_conversion(const report::ResultOptions& how) {
  if (!how.format.empty()) return how.format != page_format.name;
  if (has_stat_options(how)) return true;
  if (output::matched_name_length(page_format, how.output) > 0) return false;
  return std::ranges::any_of(reported_formats(), [&](const output::Format* format) {
    return output::matched_name_length(*format, how.output) > 0;
  });
}

// Whether the two files hold results, OLD and NEW, that `tally compare` compares.
bool are_compared(const LoadedResults& results) {
  const auto is_stat = [](const StoredResult& one) { return std::holds_alternative<result::Stat>(one.result); };
  return results.profiles.size() == 2 ||
         (results.shown.size() == 2 && std::all_of(results.shown.begin(), results.shown.end(), is_stat));
}

Error only_for_profiles() {
  return {Code::bad_usage, "--by, --top and --full-names can only be used with profiles, --bbv only with -o page.html",
          "omit them", 0};
}

// The name under which `tally compare` reads a file. The text of a pipe, which can be read only once, gets a file in
// memory, whose descriptor is in `kept`. Errors: those of files.
Result<std::string> readable_again(const std::string& name, std::vector<linux::Descriptor>& kept) {
  if (linux::file_state(name == "-" ? "/dev/stdin" : name)) return name;
  const auto stored = report::read_stored(name);
  if (!stored) return fail(stored.error());
  auto file = linux::make_memory_file("result", stored->text.size());
  if (!file) return fail(file.error());
  if (!linux::write_at(file->get(), 0, stored->text))
    return fail(Code::cannot_measure, fmt::format("cannot keep the text of '{}' in memory", printable(name)));
  linux::keep_over_exec(file->get(), true);
  kept.push_back(*std::move(file));
  return fmt::format("/proc/self/fd/{}", kept.back().get());
}

// Compares the two files as `tally compare --force` does.
int compare_files(const ReportOptions& options) {
  const report::ProfileReport& profiles = options.profiles;
  if (profiles.whole_names)
    return report_error({Code::bad_usage, "--full-names shows one profile", "omit it to compare two", 0});
  std::vector<std::string> arguments{own_name(), "compare", "--force"};
  std::vector<linux::Descriptor> kept;
  for (const std::string& name : options.files) {
    auto readable = readable_again(name, kept);
    if (!readable) return report_error(readable.error());
    arguments.push_back(*std::move(readable));
  }
  for (const auto& [option, value] : {std::pair{"--format", options.results.format},
                                      {"--by", profiles.by},
                                      {"--top", profiles.top ? fmt::format("{}", *profiles.top) : ""},
                                      {"--output", options.results.output}})
    if (!value.empty()) arguments.insert(arguments.end(), {option, value});
  result::Provenance shown = provenance();
  hide_host(shown);
  if (!shown.host.empty()) arguments.emplace_back("--host");
  return report_error(linux::become(tally_file(), arguments));
}

int report_history(const ReportOptions& options) {
  if (options.files.size() != 1 || options.profiles.any() || !options.vectors.empty())
    return report_error({Code::bad_usage, "a history cannot be combined with other files or with options of profiles",
                         "tally report bench.db -o history.html", 0});
  if (const auto fits = check_page_output(options); !fits) return report_error(fits.error());
  auto history = history::read_history(options.files.front());
  if (!history) return report_error(history.error());
  for (result::HistoryEntry& entry : history->entries) hide_host(entry.provenance);
  return write_page(history_html(*history), options.results.output);
}

// `is_export`: the results are converted, to CSV if no option names another format.
int report_files(const std::vector<std::string>& arguments, bool is_export) {
  ReportOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.files.empty())
    return report_error({Code::bad_usage, "missing FILE", "for example: tally report result.json -o page.html", 0});
  const report::ResultOptions& how = options.results;
  if (const auto apart = report::check_not_read(how.output, options.files); !apart) return report_error(apart.error());
  if (options.merge.merge)
    return merge_profiles(options.files, options.merge, options.profiles, how.format, how.output);
  if (options.ranks) {
    if (!options.vectors.empty()) return report_error(only_for_profiles());
    return report_ranks(options.files, how, options.profiles);
  }
  if (!is_export && history::is_history(options.files.front())) return report_history(options);
  const bool converts = is_export || asks_for_conversion(how);
  const bool may_compare = !is_export && options.files.size() == 2 && options.vectors.empty() && !has_stat_options(how);
  const bool fits_comparison =
      output::choose_format(output::comparison_formats(), how.format, how.output, "table").has_value();
  const auto first = report::read_stored(options.files.front());
  if (first && result::is_code(first->text))
    return merge_profiles(options.files, options.merge, options.profiles, how.format, how.output);
  if (converts && !(may_compare && fits_comparison) && !(first && output::is_profile_json(*first))) {
    if (options.profiles.any() || !options.vectors.empty()) return report_error(only_for_profiles());
    return convert(options.files, how, is_export ? "csv" : "table");
  }
  auto results = load_all(options.files);
  if (!results) return report_error(results.error());
  const auto& profiles = results->profiles;
  if (!profiles.empty() && !options.vectors.empty())
    return report_error({Code::bad_usage, "--bbv cannot be used with profiles", "", 0});
  if (!profiles.empty() && has_stat_options(how))
    return report_error({Code::bad_usage, "only --format and -o can be used with profiles",
                         "the other options are for results of `tally stat`", 0});
  if (may_compare && are_compared(*results)) return compare_files(options);
  if (profiles.size() > 1)
    return report_error(
        {Code::bad_usage, "give one profile to show, or two to compare", "tally report before.json after.json", 0});
  if (!profiles.empty()) return report::report_profile(profiles.front(), options.profiles, how.format, how.output);
  if (options.profiles.any()) return report_error(only_for_profiles());
  if (converts) return convert(options.files, how, "table");
  if (const auto fits = check_page_output(options); !fits) return report_error(fits.error());
  if (!options.vectors.empty())
    if (const auto read = read_vectors(options.vectors, results->shown); !read) return report_error(read.error());
  return write_page(results_html(std::move(results->shown)), how.output);
}

}  // namespace

void describe_report(Page& page) {
  static ReportOptions unused;
  describe(page, unused);
}

int run_report(const std::vector<std::string>& arguments) { return report_files(arguments, false); }

int run_export(const std::vector<std::string>& arguments) { return report_files(arguments, true); }

}  // namespace tally::results
