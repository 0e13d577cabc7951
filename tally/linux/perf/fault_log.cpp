#include "tally/linux/perf/fault_log.hpp"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tally/linux/perf/record_body.hpp"
#include "tally/linux/perf/sample_ring.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/worker_thread.hpp"

namespace tally::linux {
namespace {

constexpr std::size_t fault_ring_pages = 32;

struct OneProcessor {
  PerfCounter counter;
  SampleRing ring;
};

}  // namespace

struct FaultLog::Reader {
  std::vector<OneProcessor> processors;
  Descriptor end;  // an eventfd
  FaultPlaces places;
  std::thread thread;

  void read() {
    std::vector<pollfd> waited{{end.get(), POLLIN, 0}};
    for (const OneProcessor& one : processors) waited.push_back({one.counter.fd.get(), POLLIN, 0});
    while (poll(waited.data(), waited.size(), -1) >= 0 || errno == EINTR) {
      // The kernel reports POLLHUP for a counter whose program has ended.
      for (pollfd& one : waited)
        if (one.revents & (POLLHUP | POLLERR)) one.fd = -1;
      drain();
      if (waited[0].revents != 0) return;
    }
  }

  void drain() {
    for (OneProcessor& one : processors) {
      one.ring.drain([this](const RingRecord& record) {
        if (record.type == PERF_RECORD_SAMPLE && record.body.size() >= 8)
          ++places.in_mebibyte[number_at<std::uint64_t>(record.body, 0) >> 20];
        if (record.type == PERF_RECORD_LOST && record.body.size() >= 16)  // ID of the counter, then the number
          places.lost += number_at<std::int64_t>(record.body, 8);
      });
    }
  }
};

std::optional<FaultLog> FaultLog::open(KernelEvent event, bool user_only) {
  auto reader = std::make_unique<Reader>();
  const PerfEvent asked{perf_type_software, static_cast<std::uint64_t>(event), user_only};
  const PerfSampling sampling{1, PERF_SAMPLE_ADDR, static_cast<std::uint32_t>(fault_ring_pages * 4096 / 2)};
  PerfTarget target = next_program;
  for (long processor = 0; processor < configured_processors(); ++processor) {
    target.processor = static_cast<std::int32_t>(processor);
    PerfCounter counter = open_sampled(asked, target, sampling);
    if (counter.os_errno == ENODEV) continue;  // it is offline
    if (!counter) return std::nullopt;
    auto ring = SampleRing::map(counter, fault_ring_pages);
    if (!ring) return std::nullopt;
    reader->processors.push_back({std::move(counter), std::move(*ring)});
  }
  reader->end = Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!reader->end) return std::nullopt;
  try {
    reader->thread = worker_thread([r = reader.get()] { r->read(); });
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  return FaultLog(std::move(reader));
}

FaultLog::FaultLog(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
FaultLog::FaultLog(FaultLog&&) noexcept = default;
FaultLog& FaultLog::operator=(FaultLog&&) noexcept = default;

FaultLog::~FaultLog() {
  if (reader_) finish();
}

FaultPlaces FaultLog::finish() {
  if (reader_->thread.joinable()) {
    const std::uint64_t one = 1;
    (void)!write(reader_->end.get(), &one, sizeof one);
    reader_->thread.join();
    reader_->drain();
  }
  return std::exchange(reader_->places, {});
}

}  // namespace tally::linux
