#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "programs/linux/nodes.hpp"
#include "programs/memory/room.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/tasks/task.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/machine/host_machine.hpp"

namespace tally::memory {
namespace {

constexpr unsigned swept = Takes::regions | Takes::blocks | Takes::stride;
constexpr unsigned writes_and_fences = Takes::store | Takes::fence;
constexpr unsigned passes = swept | writes_and_fences | Takes::working_set;

constexpr std::array all{
    Task{"levels", "the full report: cache levels, TLBs, controls, verdict", run_levels, 0u | Takes::ends},
    Task{"curve", "latency by region size", run_curve, Takes::ends | Takes::order},
    Task{"assoc", "ways and sets of the first-level cache", run_assoc},
    Task{"tlb", "TLBs, and the pages that the host uses", run_tlb},
    Task{"line", "cache line size", run_line, 0, 1},
    Task{"ladder", "prefetchers: latency of single cold accesses by stride", run_ladder},
    Task{"clock", "core cycles per nanosecond, and first-level latency", run_clock, 0, 1, false},
    Task{"chase-write", "write regions, one fence per region", run_chase_write, passes},
    Task{"chase-read", "write regions, then read them cold", run_chase_read, passes | Takes::load},
    Task{"chase-raw", "write each region, then read it at once", run_chase_raw, passes | Takes::load},
    Task{"forward", "store-to-load forwarding of regions", run_forward, passes | Takes::load},
    Task{"fence-fit", "write small regions: cost of fence and line, bandwidth", run_fence_fit,
         writes_and_fences | Takes::stride | Takes::working_set},
    Task{"amplify", "cold reads by region and block size", run_amplify, passes | Takes::load},
    Task{"overwrite", "overwrite one block: slow writes and their period", run_overwrite,
         writes_and_fences | Takes::blocks},
    Task{"basic", "each operation alone, 64 to 256 bytes, forward and random", run_basic, 0u | Takes::fence},
    Task{"flush-first", "write and read regions after emptying the first-level cache", run_flush_first,
         writes_and_fences | Takes::regions | Takes::load},
    Task{"wear", "write one address in seven ways: slow writes and their period", run_wear,
         Takes::blocks | Takes::stride | Takes::fence},
    Task{"stride-lat", "latency by stride, one fence per access", run_stride_lat,
         Takes::blocks | Takes::stride | Takes::fence},
    Task{"seq-bw", "sequential bandwidth by operation and number of threads", run_seq_bw,
         Takes::regions | Takes::blocks},
    Task{"stride-bw", "bandwidth by stride and operation", run_stride_bw, swept},
    Task{"random-bw", "random-access bandwidth by operation and number of threads", run_random_bw, swept},
    Task{"lap", "load n lines at stride S repeatedly: the n x S map", run_lap,
         Takes::regions | Takes::stride | Takes::order, 2},
    Task{"mlp", "memory-level parallelism: 1 to 16 chains of loads at once", run_mlp, 0u | Takes::regions},
    Task{"stlf", "store-to-load forwarding by relative address", run_stlf},
    Task{"loaded", "latency while other CPUs use the memory bandwidth", run_loaded, 0u | Takes::regions},
    Task{"c2c", "transfer of a cache line between two CPUs", run_c2c, 0, 5, false},
    Task{"ceilings", "bandwidth of each level and peak FLOP/s, for rooflines", run_ceilings, 0, 1},
    Task{"nodes", "latency and bandwidth between NUMA nodes", run_nodes, 0u | Takes::regions, 2},
};

Error unknown_task(std::string_view word) {
  std::vector<std::string> names;
  for (const Task& task : all) names.emplace_back(task.name);
  const auto near = nearest(word, names, 1);
  return {Code::bad_usage, fmt::format("unknown task '{}'", printable(word)),
          near.empty() ? "the tasks are: " + join(names, ", ") : fmt::format("did you mean {}?", near.front()), 0};
}

std::string tasks_that_take(Takes what) {
  std::vector<std::string> names;
  for (const Task& task : all) {
    if (task.does_take(what)) names.emplace_back(task.name);
  }
  return join(names, ", ");
}

// Refuses options that a task does not support, because its rows would claim them.
Result<void> check_plan(const Task& task, const Plan& plan) {
  const Plan usual;
  const std::vector<std::uint64_t> one_line{64};  // as in most presets
  const struct {
    Takes what;
    bool asked;
    std::string option;
  } options[] = {
      {Takes::ends, plan.from_bytes != usual.from_bytes || plan.to_bytes != usual.to_bytes, "--from and --to"},
      {Takes::regions, !plan.regions.empty(), "--regions"},
      {Takes::blocks, !plan.blocks.empty() && plan.blocks != one_line, "--blocks"},
      {Takes::stride, plan.stride_bytes != 0, "--stride"},
      {Takes::working_set, plan.working_set_bytes != 0, "--working-set"},
      {Takes::order, plan.order != usual.order, fmt::format("--order {}", name(plan.order))},
      {Takes::store, plan.store != usual.store, fmt::format("--store {}", plan.store->name)},
      {Takes::load, plan.load != usual.load, fmt::format("--load {}", plan.load->name)},
      {Takes::fence, plan.fence != usual.fence, fmt::format("--fence {}", plan.fence->name)},
  };
  for (const auto& one : options) {
    if (!one.asked || task.does_take(one.what)) continue;
    return fail(Code::bad_usage, fmt::format("the task {} cannot be used with {}", task.name, one.option),
                "these do: " + tasks_that_take(one.what));
  }
  if (!task.maps && (plan.pages != usual.pages || plan.node || !plan.file.empty())) {
    return fail(
        Code::bad_usage,
        fmt::format("the task {} measures no memory: it cannot be used with --pages, --node or --file", task.name),
        "omit it");
  }
  if (task.mappings == 1 && (plan.mappings > 1 || plan.batches != usual.batches)) {
    return fail(
        Code::bad_usage,
        fmt::format("the task {} has a fixed number of measurements: it cannot be used with --mappings or --batches",
                    task.name),
        "omit them");
  }
  if (!plan.node) return {};
  if (task.run == run_nodes) return fail(Code::bad_usage, "the task nodes measures all nodes", "omit --node");
  if (!plan.file.empty()) {
    return fail(Code::bad_usage, "--node and --file cannot be used together: the file determines its memory",
                "use a device on that node as the file");
  }
  return linux::check_node(*plan.node, linux::memory_nodes());
}

// "5", or "5 (2 to 15 per size)" if sizes differ: large sizes have fewer mappings, disturbed ones more.
std::string mappings_text(int asked, const std::vector<result::MemoryPoint>& points) {
  std::vector<std::int64_t> used;
  for (const result::MemoryPoint& point : points) {
    if (point.mappings > 0) used.push_back(point.mappings);
  }
  if (used.empty()) return std::to_string(asked);
  const auto [least, most] = std::minmax_element(used.begin(), used.end());
  if (*least == *most) return *least == asked ? std::to_string(asked) : fmt::format("{} ({} per size)", asked, *least);
  return fmt::format("{} ({} to {} per size)", asked, *least, *most);
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
  // The task clock reports it itself.
  if (task.run != run_clock) add("core clock", fmt::format("{:.3f} GHz", runner.core_ghz()));
  add("time-stamp counter", fmt::format("{:.4f} GHz", 1 / runner.ns(1)));
}

// Without counts for a task that does other work between the stamps, although counters were read.
void add_counters(const Runner& runner, result::Memory& result) {
  const auto counted = [](const result::MemoryPoint& point) { return !point.counts.empty(); };
  if (!runner.counters().any()) {
    result.counters_reason = runner.counters().why();
  } else if (std::none_of(result.points.begin(), result.points.end(), counted)) {
    result.counters_reason = "this task does more than loads and stores between its time stamps";
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
  if (plan.file.empty()) {
    for (const std::uint64_t region : plan.regions) {
      if (auto fit = fits(region, "--regions"); !fit) return fail(fit.error());
    }
    if (auto fit = fits(plan.working_set_bytes, "--working-set"); !fit) return fail(fit.error());
  }
  auto runner = Runner::start(std::move(plan));
  if (!runner) return fail(runner.error());
  if (auto done = task->run(*runner, result); !done) {
    if (result.points.empty()) return fail(done.error());
    result.notices.push_back("stopped early: " + done.error().message);
    result.stopped_by_error = true;
    result.complete = false;
  }
  // Without points there is nothing to judge.
  if (result.points.empty() && runner->plan().stop()) result.verdict = {};
  add_advice(*runner, result);
  if (result.verdict.contended && result.levels.empty()) {
    // Conclusions from a contended run are unreliable. Levels are judged one by one.
    result.findings.clear();
    result.statistics.clear();
    result.tlbs.clear();
    for (result::MemoryRatio& ratio : result.ratios) {
      ratio.verdict = "undecided";
      ratio.reason = fmt::format("the run was contended: {}", result.verdict.text);
    }
  }
  if (const auto node = runner->plan().node) {
    for (result::MemoryPoint& point : result.points) point.node = node;
  }
  add_settings(*task, *runner, result);
  result.ticks_per_ns = 1 / runner->ns(1);
  add_counters(*runner, result);
  if (runner->plan().stop()) {
    result.complete = false;
    result.notices.emplace_back("interrupted: results so far");
  } else if (runner->seconds_left() <= 0) {
    result.complete = false;
    result.notices.emplace_back("the time limit was reached before everything was measured: increase --time-budget");
  }
  return result;
}

}  // namespace tally::memory
