#include "tally/linux/perf/fault_cost.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace tally::linux {
namespace {

constexpr std::size_t pages = 64;

// Fresh memory in pages of the smallest size.
class Pages {
 public:
  Pages() {
    size_ = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    at_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at_ != MAP_FAILED) madvise(at_, size_, MADV_NOHUGEPAGE);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (at_ != MAP_FAILED) munmap(at_, size_);
  }

  explicit operator bool() const { return at_ != MAP_FAILED; }

  // Executes the same instructions, whether they fault or not.
  [[gnu::noinline]] void touch() const {
    auto* bytes = static_cast<volatile char*>(at_);
    for (std::size_t i = 0; i < size_; i += size_ / pages) bytes[i] = 1;
  }

 private:
  std::size_t size_ = 0;
  void* at_ = MAP_FAILED;
};

}  // namespace

std::optional<FaultCost> count_page_faults(const PerfEvent& event) {
  const PerfCounter counter = open_counter(event);
  const PerfCounter faults =
      open_counter({perf_type_software, static_cast<std::uint64_t>(KernelEvent::page_faults), true});
  const Pages first, fresh;
  if (!counter || !faults || !first || !fresh) return std::nullopt;
  // Executes the code below once: its own pages may fault, too.
  first.touch();
  (void)counter.read();
  (void)faults.read();
  const auto faults_before = faults.read();
  const auto before = counter.read();
  fresh.touch();
  const auto between = counter.read();
  fresh.touch();
  const auto after = counter.read();
  const auto faults_after = faults.read();
  if (!faults_before || !faults_after || !before || !between || !after) return std::nullopt;
  // Multiplexed meanwhile, or never on a counter.
  if (after->running == Nanoseconds{0} || after->enabled != after->running) return std::nullopt;
  return FaultCost{static_cast<std::int64_t>(between->value - before->value),
                   static_cast<std::int64_t>(after->value - between->value),
                   static_cast<std::int64_t>(faults_after->value - faults_before->value)};
}

}  // namespace tally::linux
