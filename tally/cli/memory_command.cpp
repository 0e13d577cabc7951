#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/progress.hpp"
#include "tally/linux/output.hpp"
#include "tally/linux/signals.hpp"
#include "tally/memory/task.hpp"
#include "tally/report/memory.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::string task = "levels";
  std::string format;
  std::string output;
  std::string pages = "thp";
  std::string from, to;
  std::int64_t budget_seconds = 55;
  std::optional<int> processor;
  memory::Plan plan;
};

std::string footer() {
  std::string text =
      "The tasks:\n"
      "\n";
  for (const memory::Task& task : memory::tasks()) text += fmt::format("  {:<10} {}\n", task.name, task.summary);
  return text +
         "\n"
         "Each number comes from batches of at most a millisecond; those in which something else ran are thrown away "
         "and\n"
         "counted. A machine that was too busy is called contended, and no capacity is claimed above what was quiet.\n"
         "Nothing needs root, and nothing is changed on this machine. Ctrl-C ends it with what was measured until "
         "then.\n"
         "\n"
         "Exit code: 0, 1 where the machine was contended, 2 bad usage, 125 where it could not be measured.\n"
         "\n"
         "Examples:\n"
         "  tally memory\n"
         "  tally memory curve --to 256M --format csv -o curve.csv\n"
         "  tally memory levels --pages 4k --time-budget 120\n";
}

void describe(Page& page, Options& options) {
  page.head(
      "The memory hierarchy of this machine: capacity, latency, line, ways and translation buffers, each with "
      "how far it can be believed.",
      "tally memory [options] [TASK]");
  page.add_option("TASK", options.task, "what to measure, as below; levels where none is named");
  page.add_option("--format", options.format, "table, csv or json; table where none is named")->option_text("FORM");
  page.add_option("-o,--output", options.output, "write the result to this file; - is standard output, as without it")
      ->option_text("FILE");
  page.add_option("--pages", options.pages, "4k, thp (the default), 2m or 1g")->option_text("PAGES");
  page.add_option("--file", options.plan.file, "use this file or device as memory: it is overwritten")
      ->option_text("FILE");
  page.add_option("--from", options.from, "the smallest region: 4K")->option_text("SIZE");
  page.add_option("--to", options.to, "the largest region; chosen by the machine where none is named")
      ->option_text("SIZE");
  page.add_option("--cpu", options.processor, "the processor to measure on; the quietest one where none is named")
      ->option_text("CPU");
  page.add_option("--mappings", options.plan.mappings, "fresh mappings for each point: 5")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  page.add_option("--batches", options.plan.batches, "timings of each mapping: 10")
      ->option_text("N")
      ->check(CLI::Range(1, 100'000));
  page.add_option("--time-budget", options.budget_seconds, "seconds after which it ends with what it has: 55")
      ->option_text("SECONDS")
      ->check(CLI::Range(1, 86'400));
  page.add_option("--seed", options.plan.seed, "of everything random: 1")->option_text("N");
  page.footer(footer());
}

Result<std::uint64_t> size_of(const std::string& word, const std::string& option) {
  const auto bytes = parse_bytes(word);
  if (bytes && *bytes >= 64) return *bytes / 64 * 64;
  return fail(Code::bad_usage, fmt::format("{} {} is no size of at least a line", option, printable(word)),
              "sizes are written 4096, 48K, 2M, 1G");
}

// What the options say, checked.
Result<memory::Plan> plan_of(Options options) {
  memory::Plan plan = std::move(options.plan);
  const auto pages = linux::page_kind_of(options.pages);
  if (!pages) {
    return fail(Code::bad_usage, fmt::format("there are no pages '{}'", printable(options.pages)),
                "the kinds are: 4k, thp, 2m, 1g");
  }
  plan.pages = *pages;
  plan.processor = options.processor;
  plan.budget = std::chrono::seconds(options.budget_seconds);
  if (!options.from.empty()) {
    const auto from = size_of(options.from, "--from");
    if (!from) return fail(from.error());
    plan.from_bytes = *from;
  }
  if (!options.to.empty()) {
    const auto to = size_of(options.to, "--to");
    if (!to) return fail(to.error());
    plan.to_bytes = *to;
  }
  if (plan.to_bytes > 0 && plan.to_bytes < plan.from_bytes) {
    return fail(Code::bad_usage,
                fmt::format("the largest region, {}, is smaller than the smallest, {}",
                            bytes_text(static_cast<std::int64_t>(plan.to_bytes)),
                            bytes_text(static_cast<std::int64_t>(plan.from_bytes))),
                "--from and --to name the ends");
  }
  return plan;
}

Result<const report::MemoryFormat*> format_of(const std::string& word) {
  if (word.empty()) return &report::memory_formats().front();
  std::vector<std::string> names;
  for (const report::MemoryFormat& one : report::memory_formats()) {
    if (one.name == word) return &one;
    names.emplace_back(one.name);
  }
  return fail(Code::bad_usage, fmt::format("unknown format '{}'", printable(word)),
              "the formats are: " + join(names, ", "));
}

}  // namespace

void describe_memory(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_memory(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  const auto format = format_of(options.format);
  if (!format) return report_error(format.error());
  auto plan = plan_of(options);
  if (!plan) return report_error(plan.error());
  auto output = options.output.empty() || options.output == "-"
                    ? Result<linux::Output>(linux::Output::standard_output())
                    : linux::Output::open_file(options.output);
  if (!output) return report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());

  plan->stop = [&signals] {
    if (!signals->interrupted_by()) (void)signals->take(0);
    return signals->interrupted_by().has_value();
  };
  Progress progress("tally memory");
  plan->progress = [&progress](double done, const std::string& what) { progress.show(done, what); };
  const auto result = memory::run_task(options.task, *std::move(plan));
  progress.clear();
  if (!result) return report_error(result.error());
  if (const auto written = output->write((*format)->write(*result)); !written) return report_error(written.error());
  if (signals->interrupted_by()) linux::die_of(*signals->interrupted_by());
  if (result->broken_off) return exit_cannot_measure;
  return result->verdict.contended ? exit_no : exit_ok;
}

}  // namespace tally::cli
