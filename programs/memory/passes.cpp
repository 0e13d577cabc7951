#include "programs/memory/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "programs/memory/kernels/kernel_loop.hpp"
#include "programs/memory/rows.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

// The time of a line for the length of batches: at most that of a single read from memory.
constexpr double line_ns = 150;
constexpr double batch_ns = 400'000;
constexpr double pass_ns = 30e6;
constexpr std::uint64_t most_bytes = 256 << 20;

// One mapping with its regions, and the timed passes over them.
class MappedRegions {
 public:
  MappedRegions(Runner& runner, const Pass& pass, linux::Area area, std::uint64_t regions)
      : runner_(&runner), pass_(&pass), area_(std::move(area)), order_(random_ring(pass.blocks(), runner.random())) {
    order_.push_back(order_.front());
    visits_ = random_visits(regions, runner.random());
  }

  Result<void> check() const { return check_ring(successors({order_.begin(), order_.end() - 1})); }

  void flush_all() const { flush(area_.data(), visits_.size() * pass_->pitch_bytes(), line_bytes); }

  MappingSample write() {
    return run([this](std::byte* region, std::uint64_t first, std::uint64_t blocks) {
      pass_->store->write(part(region, first, blocks));
      if (first + blocks == pass_->blocks()) pass_->fence->wait();
    });
  }

  MappingSample read() {
    return run([this](std::byte* region, std::uint64_t first, std::uint64_t blocks) {
      if (first == 0) offset_ = 0;
      offset_ = pass_->load->read(part(region, first, blocks), offset_);
      if (first + blocks == pass_->blocks()) pass_->fence->wait();
    });
  }

  double loop() {
    const MappingSample sample = run([this](std::byte* region, std::uint64_t first, std::uint64_t blocks) {
      loop_over_blocks(part(region, first, blocks));
    });
    return sample.ns.empty() ? 0 : *std::min_element(sample.ns.begin(), sample.ns.end());
  }

  // Writes and reads each region; a batch contains whole regions only.
  MappingSample raw() {
    whole_regions_ = true;
    return run([this](std::byte* region, std::uint64_t first, std::uint64_t blocks) {
      pass_->store->write(part(region, first, blocks));
      pass_->fence->wait();
      offset_ = pass_->load->read(part(region, first, blocks), 0);
      pass_->fence->wait();
    });
  }

  // Whether the blocks of the last region still hold the offset of their successor.
  bool holds_chain() const {
    const std::byte* const region = area_.data() + visits_.back() * pass_->pitch_bytes();
    for (std::size_t k = 0; k < pass_->blocks(); k += std::max<std::size_t>(1, pass_->blocks() / 1024)) {
      std::uint64_t next = 0;
      std::memcpy(&next, region + order_[k] * pass_->stride_bytes, sizeof next);
      if (next != order_[k + 1] * pass_->stride_bytes) return false;
    }
    return true;
  }

  std::string pages_got() const { return area_.got(); }

 private:
  Chain part(std::byte* region, std::uint64_t first, std::uint64_t blocks) const {
    return {region, order_.data() + first, Blocks{blocks}, Bytes{pass_->stride_bytes},
            Lines{pass_->block_bytes / line_bytes}};
  }

  // Runs `body` over all regions. A batch is several whole regions if they are short, otherwise a part of one.
  template <class Body>
  MappingSample run(Body body) {
    MappingSample sample;
    runner_->calibrate();
    sample.ghz = runner_->core_ghz();
    sample.reference_ns = runner_->reference_ns();
    const std::int64_t stolen = runner_->stolen_ticks();
    const double block_ns = line_ns * static_cast<double>(pass_->block_bytes) / static_cast<double>(line_bytes);
    const double region_ns = block_ns * static_cast<double>(pass_->blocks());
    const auto group = static_cast<std::size_t>(std::max(1.0, batch_ns / (region_ns + 300)));
    const std::uint64_t part_blocks =
        whole_regions_ || group > 1
            ? pass_->blocks()
            : std::clamp<std::uint64_t>(static_cast<std::uint64_t>(batch_ns / block_ns), 1, pass_->blocks());
    for (std::size_t at = 0; at < visits_.size() && !runner_->plan().stop(); at += group) {
      const std::size_t end = std::min(at + group, visits_.size());
      for (std::uint64_t first = 0; first < pass_->blocks(); first += part_blocks) {
        const std::uint64_t blocks = std::min(part_blocks, pass_->blocks() - first);
        const auto timed = [&] {
          const Stamp start = begin_stamp();
          for (std::size_t i = at; i < end; ++i) {
            body(area_.data() + visits_[i] * pass_->pitch_bytes(), first, blocks);
          }
          return Timed{start, end_stamp(), 0};
        };
        const std::uint64_t lines = (end - at) * blocks * (pass_->block_bytes / line_bytes);
        if (auto one = runner_->batch(timed, lines)) {
          sample.ns.push_back(one->ns);
          sample.counts.push_back(std::move(one->counts));
        } else {
          ++sample.rejected;
        }
      }
    }
    if (runner_->stolen_ticks() != stolen) {
      sample.rejected += static_cast<std::int64_t>(sample.ns.size());
      sample.ns.clear();
      sample.counts.clear();
    }
    return sample;
  }

  Runner* runner_;
  const Pass* pass_;
  linux::Area area_;
  Order order_;   // one entry more than there are blocks
  Order visits_;  // order of the regions
  std::uint64_t offset_ = 0;
  bool whole_regions_ = false;
};

}  // namespace

std::uint64_t regions_of(const Pass& pass) {
  if (pass.working_set_bytes > 0) return std::max<std::uint64_t>(1, pass.working_set_bytes / pass.region_bytes);
  const double region_ns = line_ns * static_cast<double>(pass.region_bytes) / static_cast<double>(line_bytes) + 300;
  const auto by_time = static_cast<std::uint64_t>(pass_ns / region_ns);
  return std::max<std::uint64_t>(1, std::min(by_time, most_bytes / pass.pitch_bytes()));
}

Result<PassSample> run_passes(Runner& runner, const Pass& pass, const PassSelection& wanted) {
  if (pass.region_bytes < pass.block_bytes || pass.stride_bytes < pass.block_bytes) {
    return fail(Code::bad_usage,
                fmt::format("a region of {} is smaller than a block of {}",
                            bytes_text(static_cast<std::int64_t>(pass.region_bytes)),
                            bytes_text(static_cast<std::int64_t>(pass.block_bytes))),
                "regions and strides must be at least one block");
  }
  PassSample sample;
  sample.regions = regions_of(pass);
  const auto map_regions = [&]() -> Result<MappedRegions> {
    auto area = runner.fresh(sample.regions * pass.pitch_bytes());
    if (!area) return fail(area.error());
    MappedRegions mapped(runner, pass, *std::move(area), sample.regions);
    if (auto checked = mapped.check(); !checked) return fail(checked.error());
    return mapped;
  };
  auto mapped = map_regions();
  if (!mapped) return fail(mapped.error());
  sample.pages_got = mapped->pages_got();
  mapped->flush_all();
  sample.loop_ns = mapped->loop();
  sample.write = mapped->write();
  if (wanted.read) {
    mapped->flush_all();
    sample.read = mapped->read();
  }
  if (wanted.raw) {
    mapped->flush_all();
    sample.raw = mapped->raw();
  }
  if (!runner.plan().stop() && !mapped->holds_chain()) {
    return fail(Code::cannot_measure, fmt::format("memory does not contain what {} wrote", pass.store->name),
                "the memory is faulty, or tally has a bug");
  }
  return sample;
}

result::MemoryPoint pass_row(const Runner& runner, const Pass& pass, std::string task, std::string quantity,
                             const std::vector<MappingSample>& mappings, const PassSample& any) {
  result::MemoryPoint row;
  row.task = std::move(task);
  row.quantity = std::move(quantity);
  row.mode = row.quantity == "read" ? "cold by-flush" : "cold";
  row.order = name(OrderKind::random);
  row.region_bytes = pass.region_bytes;
  row.block_bytes = pass.block_bytes;
  row.stride_bytes = pass.stride_bytes;
  row.count = pass.blocks();
  row.regions = any.regions;
  row.pages_asked = runner.plan().file.empty() ? name(runner.plan().pages) : "file";
  row.pages_got = any.pages_got;
  row.store = pass.store->name;
  if (row.quantity != "write") row.load = pass.load->name;
  row.fence = pass.fence->name;
  row.seed = runner.plan().seed;
  set_timing(row, mappings);
  return row;
}

}  // namespace tally::memory
