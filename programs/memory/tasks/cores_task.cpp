// Times one line that two processors write in turn.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <thread>

#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::memory {
namespace {

constexpr std::uint64_t turns = 2000;

struct alignas(256) SharedLine {
  std::atomic<std::uint64_t> turn{0};
};

// Several lines, because the address of a line selects the part of a last level, or the memory, that it belongs to.
struct Page {
  static constexpr std::uint64_t count = 16;
  SharedLine line[count];
};

// The partner thread: answers every odd number with the next one.
void answer(SharedLine& line, std::uint64_t last) {
  for (std::uint64_t turn = 1; turn < last; turn += 2) {
    while (line.turn.load(std::memory_order_acquire) != turn) {
    }
    line.turn.store(turn + 1, std::memory_order_release);
  }
}

// ns from one processor to the other, for each batch in which this thread was not disturbed.
MappingSample ping_pong(Runner& runner, int partner, SharedLine& line) {
  const int batches = 1 + runner.plan().batches;
  const std::uint64_t last = 2 * turns * static_cast<std::uint64_t>(batches);
  std::jthread other([&] {
    (void)linux::stay_on(partner);
    answer(line, last);
  });
  MappingSample sample;
  sample.reference_ns = runner.reference_ns();
  sample.ghz = runner.core_ghz();
  std::uint64_t turn = 0;
  for (int i = 0; i < batches; ++i) {
    const auto body = [&] {
      const Stamp start = begin_stamp();
      for (std::uint64_t k = 0; k < turns; ++k, turn += 2) {
        line.turn.store(turn + 1, std::memory_order_release);
        while (line.turn.load(std::memory_order_acquire) != turn + 2) {
        }
      }
      return Timed{start, end_stamp(), 0};
    };
    const auto one = runner.batch(body, 2 * turns);
    if (i == 0) continue;  // the partner was still starting
    if (one) {
      sample.ns.push_back(one->ns);
    } else {
      ++sample.rejected;
    }
  }
  return sample;
}

}  // namespace

Result<void> run_c2c(Runner& runner, result::Memory& result) {
  const auto& processors = runner.processors();
  if (processors.size() < 2) {
    return fail(Code::cannot_measure, "the task needs two CPUs, but this process may run on only one",
                "allow more with taskset or the container's CPU limit");
  }
  std::vector<double> references;
  result::MemoryMap map{"From one processor to another", "processor", "processor", false, false, "ns", {}};
  for (std::size_t a = 0; a < processors.size(); ++a) {
    (void)linux::stay_on(processors[a]);
    for (std::size_t b = a + 1; b < processors.size() && !runner.must_stop(); ++b) {
      runner.plan().progress(static_cast<double>(a) / static_cast<double>(processors.size()),
                             "lines between processors");
      runner.calibrate();
      std::vector<MappingSample> samples;
      std::vector<std::unique_ptr<Page>> all;  // kept mapped, so that each page has different frames
      for (int i = 0; i < runner.plan().mappings && !runner.must_stop(); ++i) {
        all.push_back(std::make_unique<Page>());
        samples.push_back(
            ping_pong(runner, processors[b], all.back()->line[runner.random().uniform(0, Page::count - 1)]));
        references.push_back(samples.back().reference_ns);
      }
      result::MemoryPoint row;
      row.task = result.task;
      row.quantity = fmt::format("{} to {}", processors[a], processors[b]);
      row.mode = "in turn";
      row.region_bytes = row.block_bytes = row.stride_bytes = 64;
      row.count = 1;
      row.threads = 2;
      row.seed = runner.plan().seed;
      row.mappings = static_cast<std::int64_t>(samples.size());
      set_timing(row, samples);
      if (row.ns) {
        const auto x = static_cast<double>(processors[a]);
        const auto y = static_cast<double>(processors[b]);
        map.cells.push_back({x, y, *row.ns});
        map.cells.push_back({y, x, *row.ns});
        result.findings.push_back(fmt::format("a line moves from processor {} to {} in {:.1f} ns", x, y, *row.ns));
      }
      result.points.push_back(std::move(row));
    }
  }
  (void)linux::stay_on(runner.processor());
  result.maps.push_back(std::move(map));
  judge(result, references);
  return {};
}

}  // namespace tally::memory
