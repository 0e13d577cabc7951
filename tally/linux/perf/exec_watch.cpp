#include "tally/linux/perf/exec_watch.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/perf/sample_record.hpp"
#include "tally/linux/perf/sample_ring.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::linux {
namespace {

constexpr std::size_t ring_pages = 8;

}  // namespace

struct ExecWatch::Rings {
  std::vector<PerfCounter> counters;
  std::vector<SampleRing> rings;

  // Returns false if the kernel refuses one.
  bool open() {
    const PerfEvent nothing{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY};
    PerfSampling sampling{1, sample_record_fields};
    sampling.ordered = sampling.report_threads = true;
    sampling.wakeup_bytes = 1;
    for (int processor = 0; processor < configured_processors(); ++processor) {
      PerfCounter counter = open_sampled(nothing, {-1, processor}, sampling);
      if (counter.os_errno == ENODEV) continue;  // it is offline
      if (!counter) return false;
      auto ring = SampleRing::map(counter, ring_pages);
      if (!ring) return false;
      counters.push_back(std::move(counter));
      rings.push_back(std::move(*ring));
    }
    return !rings.empty();
  }
};

ExecWatch::ExecWatch(std::vector<std::string> names) : names_(std::move(names)), rings_(std::make_unique<Rings>()) {
  if (!rings_->open()) rings_.reset();
  seen_ = named_processes();
}

ExecWatch::ExecWatch(ExecWatch&&) noexcept = default;
ExecWatch::~ExecWatch() = default;

bool ExecWatch::is_reported() const { return rings_ != nullptr; }

bool ExecWatch::is_named(std::string_view name) const {
  constexpr std::size_t comm_length = 15;  // linux/sched.h, TASK_COMM_LEN
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& one) {
    return !name.empty() && std::string_view(one).substr(0, comm_length) == name;
  });
}

// Returns all processes that have such a name now.
std::vector<pid_t> ExecWatch::named_processes() {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const auto number = parse_integer(entry->path().filename().string());
    if (number && is_named(trimmed(content(entry->path() / "comm")))) found.push_back(static_cast<pid_t>(*number));
  }
  return found;
}

std::vector<pid_t> ExecWatch::take() {
  std::vector<pid_t> fresh;
  if (rings_) {
    bool lost = false;
    for (SampleRing& ring : rings_->rings)
      ring.drain([&](const RingRecord& raw) {
        const SampleRecord record = sample_record(raw);
        lost = lost || record.what == SampleRecord::Kind::lost;
        if (record.what == SampleRecord::Kind::executed && is_named(record.name)) fresh.push_back(record.process);
      });
    // If records were lost, finds their processes while they still run. The caller ignores those that it counts
    // already.
    if (lost)
      for (const pid_t one : named_processes())
        if (std::find(fresh.begin(), fresh.end(), one) == fresh.end()) fresh.push_back(one);
    return fresh;
  }
  std::vector<pid_t> now = named_processes();
  for (const pid_t one : now)
    if (std::find(seen_.begin(), seen_.end(), one) == seen_.end()) fresh.push_back(one);
  seen_ = std::move(now);
  return fresh;
}

void ExecWatch::wait(const ProcessWatch& living, int fd) const {
  std::vector<int> descriptors{fd};
  if (rings_)
    for (const PerfCounter& counter : rings_->counters) descriptors.push_back(counter.fd.get());
  living.wait(descriptors, rings_ ? -1 : poll_each_ms);
}

}  // namespace tally::linux
