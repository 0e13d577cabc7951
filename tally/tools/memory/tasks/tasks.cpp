#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tally/core/base/text.hpp"
#include "tally/counting/measure/stat.hpp"
#include "tally/linux/machine/machine.hpp"
#include "tally/linux/machine/nodes.hpp"
#include "tally/tools/memory/room.hpp"
#include "tally/tools/memory/rows.hpp"
#include "tally/tools/memory/tasks/task.hpp"

namespace tally::memory {
namespace {

constexpr unsigned swept = Takes::regions | Takes::blocks | Takes::stride;
constexpr unsigned writes = Takes::store | Takes::fence;

constexpr std::array all{
    Task{"levels", "the report: levels, translation buffers, controls, verdict", run_levels, 0u | Takes::ends},
    Task{"curve", "latency against size", run_curve, Takes::ends | Takes::order},
    Task{"assoc", "lines that hit against stride: ways and sets of the first level", run_assoc},
    Task{"tlb", "pages that hit against pitch: translation buffers, and what pages the host gives", run_tlb},
    Task{"line", "pairs of words against distance: the line", run_line, 0, 1},
    Task{"ladder", "cold single touches against stride: what prefetchers do", run_ladder},
    Task{"clock", "core cycles in a nanosecond, and the first level beside them", run_clock, 0, 1, false},
    Task{"chase-write", "writes of regions, one fence each", run_chase_write, swept | writes},
    Task{"chase-read", "the same, and cold reads of what was written", run_chase_read, swept | writes | Takes::load},
    Task{"chase-raw", "each region written, then read at once", run_chase_raw, swept | writes | Takes::load},
    Task{"forward", "reads after writes against both alone: what is forwarded", run_forward,
         swept | writes | Takes::load},
    Task{"fence-fit", "writes of small regions: the fence, a line, the bandwidth behind them", run_fence_fit,
         writes | Takes::stride},
    Task{"amplify", "cold reads over region and block sizes: entries", run_amplify, swept | writes | Takes::load},
    Task{"overwrite", "one block written again and again: slow writes and their period", run_overwrite,
         writes | Takes::blocks},
    Task{"basic", "every operation by itself, 64 to 256 bytes, forward and random", run_basic, 0u | Takes::fence},
    Task{"flush-first", "writes and reads of regions after the first level was emptied", run_flush_first,
         writes | Takes::regions | Takes::load},
    Task{"wear", "one place written in seven ways: slow writes, their period, what puts them off", run_wear,
         Takes::blocks | Takes::stride | Takes::fence},
    Task{"stride-lat", "accesses against distance, a fence behind each", run_stride_lat,
         Takes::blocks | Takes::stride | Takes::fence},
    Task{"seq-bw", "bandwidth of contiguous accesses, by operation and number of threads", run_seq_bw,
         Takes::regions | Takes::blocks},
    Task{"stride-bw", "bandwidth against distance, by operation", run_stride_bw, swept},
    Task{"random-bw", "bandwidth of random accesses, by operation and number of threads", run_random_bw, swept},
    Task{"lap", "loads of n lines that lie a stride apart, again and again: the n x S map", run_lap,
         Takes::regions | Takes::stride | Takes::order, 2},
    Task{"mlp", "1 to 16 rings walked together: how many loads are under way at once", run_mlp, 0u | Takes::regions},
    Task{"stlf", "a load behind a store, by their places: what is forwarded", run_stlf},
    Task{"loaded", "latency while other processors move bytes", run_loaded, 0u | Takes::regions},
    Task{"c2c", "one line between two processors", run_c2c, 0, 5, false},
    Task{"nodes", "latency and bandwidth of each memory node from each other", run_nodes, 0u | Takes::regions, 2},
};

Error unknown_task(std::string_view word) {
  std::vector<std::string> names;
  for (const Task& task : all) names.emplace_back(task.name);
  const auto near = nearest(word, names, 1);
  return {Code::bad_usage, fmt::format("there is no task '{}'", printable(word)),
          near.empty() ? "the tasks are: " + join(names, ", ") : fmt::format("did you mean {}?", near.front()), 0};
}

std::string tasks_that_take(Takes what) {
  std::vector<std::string> names;
  for (const Task& task : all) {
    if (task.does_take(what)) names.emplace_back(task.name);
  }
  return join(names, ", ");
}

// What a task cannot do is refused: its rows would name what was not done.
Result<void> check_plan(const Task& task, const Plan& plan) {
  const Plan usual;
  const std::vector<std::uint64_t> one_line{64};  // as most presets have them
  const struct {
    Takes what;
    bool asked;
    std::string option;
  } options[] = {
      {Takes::ends, plan.from_bytes != usual.from_bytes || plan.to_bytes != usual.to_bytes, "--from and --to"},
      {Takes::regions, !plan.regions.empty(), "--regions"},
      {Takes::blocks, !plan.blocks.empty() && plan.blocks != one_line, "--blocks"},
      {Takes::stride, plan.stride_bytes != 0, "--stride"},
      {Takes::order, plan.order != usual.order, fmt::format("--order {}", name(plan.order))},
      {Takes::store, plan.store != usual.store, fmt::format("--store {}", plan.store->name)},
      {Takes::load, plan.load != usual.load, fmt::format("--load {}", plan.load->name)},
      {Takes::fence, plan.fence != usual.fence, fmt::format("--fence {}", plan.fence->name)},
  };
  for (const auto& one : options) {
    if (!one.asked || task.does_take(one.what)) continue;
    return fail(Code::bad_usage, fmt::format("the task {} takes no {}", task.name, one.option),
                "these do: " + tasks_that_take(one.what));
  }
  if (!task.maps && (plan.pages != usual.pages || plan.node || !plan.file.empty())) {
    return fail(Code::bad_usage,
                fmt::format("the task {} measures no memory: it takes no --pages, --node or --file", task.name),
                "leave it out");
  }
  if (task.mappings == 1 && (plan.mappings > 1 || plan.batches != usual.batches)) {
    return fail(Code::bad_usage,
                fmt::format("the task {} measures in one place, a fixed number of times: it takes no --mappings or "
                            "--batches",
                            task.name),
                "leave them out");
  }
  if (!plan.node) return {};
  if (task.run == run_nodes) return fail(Code::bad_usage, "the task nodes takes all nodes", "leave --node out");
  if (!plan.file.empty()) {
    return fail(Code::bad_usage, "a file's memory lies where the file has it",
                "--node and --file do not go together; a device of that node can be the file");
  }
  return linux::check_node(*plan.node, linux::memory_nodes());
}

// "5", or "5 (2 to 15 of a size)" where sizes had others: dear ones have fewer, disturbed ones more.
std::string mappings_text(int asked, const std::vector<result::MemoryPoint>& points) {
  std::int64_t least = asked;
  std::int64_t most = asked;
  for (const result::MemoryPoint& point : points) {
    if (point.mappings == 0) continue;
    least = std::min(least, point.mappings);
    most = std::max(most, point.mappings);
  }
  return least == most ? std::to_string(asked) : fmt::format("{} ({} to {} of a size)", asked, least, most);
}

void add_settings(const Task& task, const Runner& runner, result::Memory& result) {
  const Plan& plan = runner.plan();
  const auto add = [&](const char* name, std::string text) { result.settings.emplace_back(name, std::move(text)); };
  add("processor", std::to_string(runner.processor()));
  if (task.maps) {
    add("memory", plan.file.empty() ? std::string(name(plan.pages)) + " pages" : plan.file);
    add("order", std::string(name(plan.order)));
    add("node", plan.node ? std::to_string(*plan.node) : "any");
    add("seed", std::to_string(plan.seed));
  }
  if (task.maps && task.mappings > 1) {
    add("mappings", mappings_text(plan.mappings, result.points));
    add("batches", std::to_string(plan.batches));
  }
  // The task clock has taken it down already.
  if (task.run != run_clock) add("core clock", fmt::format("{:.3f} GHz", runner.core_ghz()));
  add("time-stamp counter", fmt::format("{:.4f} GHz", 1 / runner.ns(1)));
}

// A task that does other work beside its loads has no counts of them, though they were read.
void add_counters(const Runner& runner, result::Memory& result) {
  const auto counted = [](const result::MemoryPoint& point) { return !point.counts.empty(); };
  if (!runner.counters().any()) {
    result.counters_reason = runner.counters().why();
  } else if (std::none_of(result.points.begin(), result.points.end(), counted)) {
    result.counters_reason = "this task does more between its time stamps than its loads and stores";
  } else {
    result.counters = runner.counters().rows();
  }
}

void add_advice(const Runner& runner, result::Memory& result) {
  result::MemoryVerdict& verdict = result.verdict;
  if (!verdict.contended) {
    verdict.cause.clear();
    return;
  }
  if (verdict.cause.empty() && runner.waited_share() > waited_too_long) verdict.cause = processor_shared;
  verdict.advice = advice(verdict.cause, circumstances(runner));
}

}  // namespace

std::span<const Task> tasks() { return all; }

Result<result::Memory> run_task(std::string_view name, Plan plan) {
  const Task* task = nullptr;
  for (const Task& one : all) {
    if (same_word(one.name, name)) task = &one;
  }
  if (task == nullptr) return fail(unknown_task(name));
  if (auto may = check_plan(*task, plan); !may) return fail(may.error());
  if (plan.mappings == 0) plan.mappings = task->mappings;
  result::Memory result;
  result.task = task->name;
  result.environment = measure::environment(linux::read_host_machine());
  for (const std::uint64_t region : plan.regions) {
    if (!plan.file.empty()) break;
    if (auto fit = fits(region, "--regions"); !fit) return fail(fit.error());
  }
  auto runner = Runner::start(std::move(plan));
  if (!runner) return fail(runner.error());
  if (auto done = task->run(*runner, result); !done) {
    if (result.points.empty()) return fail(done.error());
    result.notices.push_back("broken off: " + done.error().message);
    result.broken_off = true;
    result.complete = false;
  }
  // Nobody's fault: there is nothing to be judged.
  if (result.points.empty() && runner->plan().stop()) result.verdict = {};
  add_advice(*runner, result);
  if (result.verdict.contended && result.levels.empty()) {
    // What is concluded from numbers that a busy machine made is no better than they are. Levels are judged one by one.
    result.findings.clear();
    result.statistics.clear();
    result.tlbs.clear();
    for (result::MemoryRatio& ratio : result.ratios) ratio.verdict = "undecided";
  }
  if (const auto node = runner->plan().node) {
    for (result::MemoryPoint& point : result.points) point.node = node;
  }
  add_settings(*task, *runner, result);
  add_counters(*runner, result);
  if (runner->plan().stop()) {
    result.complete = false;
    result.notices.emplace_back("interrupted: what was measured until then");
  } else if (runner->seconds_left() <= 0) {
    result.complete = false;
    result.notices.emplace_back("the time ran out before all was measured: --time-budget gives more");
  }
  return result;
}

}  // namespace tally::memory
