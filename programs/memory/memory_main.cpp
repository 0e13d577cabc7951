// tally-memory: the options of `tally memory`, the measurement, and its output.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "programs/memory/latencies.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory_output/memory_format.hpp"
#include "programs/progress/progress.hpp"
#include "programs/settings/machine_settings.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kit/memory_texts.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"
#include "tally/tools/command/terminal_output.hpp"
#include "tally/tools/roofline/host_ceilings.hpp"

namespace tally::memory {
namespace {

using command::Page;
using command::report_error;
using command::whole_number;

struct MemoryOptions {
  std::string task = "levels";
  std::string format;
  std::string output;
  std::string page;
  std::string pages = "thp";
  std::string from, to;
  std::vector<std::string> regions, blocks;
  std::string stride, working_set;
  std::string store, load, fence;
  std::string preset;
  std::string order = "random";
  std::int64_t budget_seconds = 55;
  std::int64_t seed = 1;
  std::optional<int> processor;
  settings::SettingOptions settings;
  Plan plan;
};

struct Preset {
  std::string_view name;
  std::vector<std::uint64_t> regions, blocks;
};

std::vector<std::uint64_t> steps(std::uint64_t from, std::uint64_t to, std::uint64_t step) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = from; size <= to; size += step) sizes.push_back(size);
  return sizes;
}

// The same sizes as in LENS's scripts.
std::vector<Preset> presets() {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = 1024 * kib;
  return {{"lens-small", {64, 128, 256, 512, kib, 2 * kib, 4 * kib, 8 * kib}, {64}},
          {"lens-buffer", steps(16 * kib, 64 * kib, 4 * kib), {64}},
          {"lens-large", steps(4 * mib, 64 * mib, 4 * mib), {64}},
          {"lens-amplification",
           {64, 256, 512, 4 * kib, 16 * kib, 16 * mib, 512 * mib},
           {64, 256, 512, kib, 2 * kib, 4 * kib}}};
}

std::string preset_names() {
  std::vector<std::string> names;
  for (const Preset& one : presets()) names.emplace_back(one.name);
  return join(names, ", ");
}

// "nt512 (the default), dir64 (unavailable: no MOVDIR64B)".
template <class Flavour>
std::string flavour_lines(std::span<const Flavour> all, const Flavour& usual) {
  std::vector<std::string> words;
  for (const Flavour& one : all) {
    std::string word(one.name);
    if (&one == &usual) word += " (the default)";
    if (!one.present()) word += fmt::format(" (unavailable: no {})", one.needs);
    words.push_back(std::move(word));
  }
  std::string text;
  for (const std::string& line : wrapped(join(words, ", "), 68)) text += "             " + line + "\n";
  return text.substr(13);
}

std::string footer() {
  std::string text =
      "The tasks:\n"
      "\n";
  for (const Task& task : tasks()) text += fmt::format("  {:<12} {}\n", task.name, task.summary);
  return text + "\n" + output::format_lines(output::common(output::memory_formats())) +
         "\nInstructions for stores, loads and fences:\n\n  --store    " + flavour_lines(stores(), usual_store()) +
         "  --load     " + flavour_lines(loads(), usual_load()) + "  --fence    " +
         flavour_lines(fences(), usual_fence()) +
         "\n"
         "Each number is measured in batches of at most a millisecond. Batches that other processes disturbed are "
         "discarded and counted. If too few were undisturbed, the machine is reported as contended, and tally reports "
         "no capacity above the sizes that it could measure. No root is needed, and nothing is changed. Ctrl-C ends "
         "the measurement and prints what was measured so far.\n"
         "\n"
         "Exit code: 0 measured, 1 the machine was contended, 2 bad usage, 125 the memory could not be measured.\n"
         "\n"
         "Examples:\n"
         "  tally memory\n"
         "  tally memory --html memory.html\n"
         "  tally memory curve --to 256M --format csv -o curve.csv\n"
         "  tally memory levels --pages 4k --time-budget 120\n";
}

void describe(Page& page, MemoryOptions& options) {
  page.head(
      "Measure the memory hierarchy of this machine: capacity, latency, line size and ways of caches, TLBs, and how "
      "reliable each number is.",
      "tally memory [options] [TASK]");
  page.add_option("TASK", options.task, "what to measure (default: levels); `tally help memory` lists the tasks");
  const auto formats = output::common(output::memory_formats());
  command::add_format_option(page, options.format, formats, output::format_help(formats, "table"));
  command::add_output_option(page, options.output);
  command::add_label_option(page);
  command::add_host_option(page);
  page.add_option("--html", options.page, "also write a page with curves to FILE").value_name("FILE");
  page.add_option("--pages", options.pages, "page size: 4k, thp (default), 2m or 1g").value_name("PAGES");
  page.add_option("--file", options.plan.file, "measure this file or device as memory; overwrites it")
      .value_name("FILE");
  page.add_option("--node", options.plan.node, "use memory of this NUMA node only").value_name("NODE");
  page.add_option("--order", options.order,
                  "access order for curve and lap: random (default), page-local, forward, backward, fresh-per-lap, "
                  "back-and-forth, interleaved")
      .value_name("ORDER");
  page.add_option("--from", options.from, "size of the smallest region (default: 4K)").value_name("SIZE");
  page.add_option("--to", options.to, "size of the largest region (default: depends on the machine)")
      .value_name("SIZE");
  page.add_option("--regions", options.regions, "region sizes, for tasks that sweep them: 64,4K,16M")
      .value_name("SIZES")
      .separated_by(',');
  page.add_option("--blocks", options.blocks, "block sizes, multiples of 64: 64,256,4K")
      .value_name("SIZES")
      .separated_by(',');
  page.add_option("--stride", options.stride, "distance between blocks (default: the block size)").value_name("SIZE");
  page.add_option("--working-set", options.working_set,
                  "visit as many regions as fill this size (default: as many as take about 30 ms)")
      .value_name("SIZE");
  page.add_option("--preset", options.preset, "region and block sizes of the scripts of LENS: " + preset_names())
      .value_name("PRESET");
  page.add_option("--store", options.store, "store instruction, such as nt512").value_name("STORE");
  page.add_option("--load", options.load, "load instruction, such as scalar").value_name("LOAD");
  page.add_option("--fence", options.fence, "fence after stores, such as sfence").value_name("FENCE");
  page.add_option("--cpu", options.processor, "measure on this CPU (default: the least busy one)").value_name("CPU");
  settings::add_setting_options(page, options.settings);
  page.add_option("--mappings", options.plan.mappings,
                  "new memory mappings per point (default: 5; lap, nodes: 2; not for line, clock)")
      .value_name("N")
      .check(whole_number(1, 1000));
  page.add_option("--batches", options.plan.batches, "timings per mapping (default: 10)")
      .value_name("N")
      .check(whole_number(1, 100'000));
  page.add_option("--time-budget", options.budget_seconds,
                  "stop after this time and report what was measured (default: 55)")
      .value_name("SECONDS")
      .check(whole_number(1, 86'400));
  page.add_option("--seed", options.seed, "random seed (default: 1)").value_name("N").check(whole_number(0));
  page.footer(footer());
}

Result<std::uint64_t> size_of(const std::string& word, const std::string& option) {
  const auto bytes = parse_bytes(word);
  if (!bytes) {
    return fail(Code::bad_usage, fmt::format("{}: '{}' is not a size", option, printable(word)),
                "for example: 4096, 48K, 1536K, 2M, 1G");
  }
  if (*bytes >= 64 && *bytes % 64 == 0) return *bytes;
  return fail(Code::bad_usage, fmt::format("{} {} is not a multiple of 64 bytes", option, printable(word)),
              "sizes are whole numbers: 4096, 48K, 1536K, 2M, 1G");
}

// Finds an instruction by its name; without a name, the usual one. Rejects one that the processor lacks instead of
// using another one.
template <class Flavour>
Result<const Flavour*> flavour_of(std::span<const Flavour> all, const Flavour& usual, const std::string& word,
                                  const char* option) {
  if (word.empty()) return &usual;
  std::vector<std::string> names;
  for (const Flavour& one : all) {
    if (same_word(one.name, word)) {
      if (one.present()) return &one;
      return fail(Code::cannot_measure,
                  fmt::format("{} {} needs {}, which this processor lacks", option, one.name, one.needs),
                  "`tally memory --help` lists what this processor supports");
    }
    if (one.present()) names.emplace_back(one.name);
  }
  return fail(Code::bad_usage, fmt::format("unknown {} '{}'", option, printable(word)),
              "there are: " + join(names, ", "));
}

Result<void> set_flavours(const MemoryOptions& options, Plan& plan) {
  const auto store = flavour_of(stores(), usual_store(), options.store, "--store");
  if (!store) return fail(store.error());
  const auto load = flavour_of(loads(), usual_load(), options.load, "--load");
  if (!load) return fail(load.error());
  const auto fence = flavour_of(fences(), usual_fence(), options.fence, "--fence");
  if (!fence) return fail(fence.error());
  plan.store = *store;
  plan.load = *load;
  plan.fence = *fence;
  return {};
}

Result<std::vector<std::uint64_t>> sizes_of(const std::vector<std::string>& words, const std::string& option) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& word : words) {
    const auto size = size_of(word, option);
    if (!size) return fail(size.error());
    sizes.push_back(*size);
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

Result<void> set_sweep(const MemoryOptions& options, Plan& plan) {
  const auto all = presets();
  const auto preset =
      std::find_if(all.begin(), all.end(), [&](const Preset& one) { return one.name == options.preset; });
  if (preset != all.end()) {
    plan.regions = preset->regions;
    plan.blocks = preset->blocks;
  } else if (!options.preset.empty()) {
    return fail(Code::bad_usage, fmt::format("unknown preset '{}'", printable(options.preset)),
                "the presets are: " + preset_names());
  }
  const auto regions = sizes_of(options.regions, "--regions");
  if (!regions) return fail(regions.error());
  const auto blocks = sizes_of(options.blocks, "--blocks");
  if (!blocks) return fail(blocks.error());
  if (!regions->empty()) plan.regions = *regions;
  if (!blocks->empty()) plan.blocks = *blocks;
  for (const auto& [word, option, bytes] : {std::tuple{&options.stride, "--stride", &plan.stride_bytes},
                                            {&options.working_set, "--working-set", &plan.working_set_bytes}}) {
    if (word->empty()) continue;
    const auto size = size_of(*word, option);
    if (!size) return fail(size.error());
    *bytes = *size;
  }
  return {};
}

// Checks the options and converts them to a plan.
Result<Plan> plan_of(MemoryOptions options) {
  Plan plan = std::move(options.plan);
  const auto pages = linux::page_kind_of(options.pages);
  if (!pages) {
    return fail(Code::bad_usage, fmt::format("unknown page size '{}'", printable(options.pages)),
                "page sizes: 4k, thp, 2m, 1g");
  }
  plan.pages = *pages;
  const auto order = order_of(options.order);
  if (!order) {
    std::vector<std::string> names;
    for (const OrderKind kind : order_kinds()) names.emplace_back(name(kind));
    return fail(Code::bad_usage, fmt::format("unknown order '{}'", printable(options.order)),
                "the orders are: " + join(names, ", "));
  }
  plan.order = *order;
  plan.processor = options.processor;
  plan.budget = std::chrono::seconds(options.budget_seconds);
  plan.seed = static_cast<std::uint64_t>(options.seed);
  if (auto set = set_flavours(options, plan); !set) return fail(set.error());
  if (auto set = set_sweep(options, plan); !set) return fail(set.error());
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
                "set both with --from and --to");
  }
  return plan;
}

// Two results in one file would overwrite each other.
Result<void> check_outputs(const MemoryOptions& options) {
  if (options.page.empty() || options.output.empty() || !linux::same_file(options.output, options.page)) return {};
  return fail(Code::bad_usage, fmt::format("-o and --html name the same file, '{}'", printable(options.page)),
              "--format html -o FILE writes the page");
}

// If the result went to a file, prints to the terminal why the exit code is not 0.
void print_outcome(const result::Memory& result) {
  std::string text;
  if (result.verdict.contended) text = "tally: " + output::verdict_text(result) + "\n";
  if (!result.complete && !result.notices.empty()) text += "tally: " + result.notices.back() + "\n";
  if (const std::string advice = output::advice_text(result); !advice.empty()) text += "       " + advice + "\n";
  (void)linux::Output::standard_error().write(text);
}

constexpr std::size_t date_columns = 10;  // "2026-11-29"

// For `--model host` of other commands. A disturbed measurement does not replace another one.
void store_latencies(result::Memory& result) {
  if (result.levels.empty()) return;
  machines::MeasuredMemory measured = latencies_of(result);
  measured.date = result.environment.provenance.date.substr(0, date_columns);
  const bool is_empty = measured.l2 + measured.llc + measured.memory == 0;
  const std::string contended = contended_levels(result);
  const auto before = machines::measured_memory("/");
  if (result.verdict.contended && before)
    result.notices.push_back(fmt::format("--model host keeps the latencies of {}, because this run was disturbed: {}",
                                         before->date, machines::latencies_text(*before)));
  else if (is_empty ? !contended.empty() : machines::store_measured_memory(measured, "/"))
    result.notices.push_back(fmt::format("stored for --model host: {}{}",
                                         is_empty ? "nothing" : machines::latencies_text(measured),
                                         contended.empty() ? "" : "; not stored, because contended: " + contended));
}

// For rooflines of other commands.
void store_ceilings(result::Memory& result) {
  if (result.ceilings.bandwidths.empty() || result.ceilings.peaks.empty() || !result.complete) return;
  result.ceilings.date = result.environment.provenance.date.substr(0, date_columns);
  result.ceilings.rejected_percent = result.verdict.rejected_percent;
  if (roofline::store_ceilings(result.ceilings, "/"))
    result.notices.emplace_back("stored for `tally stat --roofline` and `tally profile --roofline`");
}

void describe_memory(Page& page) {
  static MemoryOptions unused;
  describe(page, unused);
}

int run_memory(const std::vector<std::string>& arguments) {
  MemoryOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  const auto format = output::choose_format(output::memory_formats(), options.format, options.output, "table");
  if (!format) return report_error(format.error());
  if (const auto supported = output::check_task(**format, options.task); !supported) {
    return report_error(supported.error());
  }
  auto plan = plan_of(options);
  if (!plan) return report_error(plan.error());
  auto output = options.output.empty() || options.output == "-"
                    ? Result<linux::Output>(linux::Output::standard_output())
                    : linux::Output::open_file(options.output);
  if (!output) return report_error(output.error());
  std::optional<linux::Output> html;
  if (!options.page.empty()) {
    auto opened = options.page == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                      : linux::Output::open_file(options.page);
    if (!opened) return report_error(opened.error());
    html.emplace(*std::move(opened));
  }
  if (const auto apart = check_outputs(options); !apart) return report_error(apart.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());

  auto held = settings::apply_settings(options.settings);
  if (!held) return report_error(held.error());
  plan->stop = [&signals] {
    if (!signals->interrupted_by()) (void)signals->take(0);
    return signals->interrupted_by().has_value();
  };
  command::Progress progress("tally memory");
  plan->progress = [&progress](double done, const std::string& what) { progress.show(done, what); };
  const bool is_whole = options.from.empty() && plan->file.empty() && !plan->node;
  auto result = run_task(options.task, *std::move(plan));
  progress.clear();
  settings::restore_settings(*held);
  if (!result) return report_error(result.error());
  result->environment.provenance = command::provenance();
  // A curve that --to ends early shows no memory, and must not replace one that does.
  if (is_whole && (options.to.empty() || latencies_of(*result).memory > 0)) store_latencies(*result);
  store_ceilings(*result);
  result::Memory shown = *result;
  command::hide_host(shown.environment);
  const bool is_page = (*format)->is_page;
  if (const auto written =
          output->write((*format)->write(is_page ? shown : *result, command::terminal_columns(*output)));
      !written)
    return report_error(written.error());
  if (const auto described = command::describe_csv(**format, options.output, output::memory_json(*result)); !described)
    return report_error(described.error());
  if (html) {
    if (const auto written = html->write(output::memory_html(shown)); !written) return report_error(written.error());
  }
  if (!options.output.empty() && options.output != "-") print_outcome(*result);
  if (signals->interrupted_by()) linux::die_of(*signals->interrupted_by());
  if (result->stopped_by_error) return command::exit_cannot_measure;
  return result->verdict.contended ? command::exit_no : command::exit_ok;
}

}  // namespace
}  // namespace tally::memory

int main(int argc, char** argv) {
  constexpr tally::command::Program memory{"memory", tally::memory::describe_memory, tally::memory::run_memory};
  return tally::command::run_program(memory, argc, argv);
}
