#include "tally/linux/process/disturbance.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// Columns of a CPU's row in /proc/stat (proc(5)).
constexpr int idle_column = 3;
constexpr int stolen_column = 7;
constexpr int columns = 10;

// Returns a column of the row "cpu3 …", or "cpu …" for all CPUs. 0 if it is missing.
std::int64_t ticks(const std::string& stat, int processor, int column) {
  const std::string key = processor < 0 ? "cpu " : fmt::format("cpu{} ", processor);
  const auto at = stat.starts_with(key) ? 0 : stat.find("\n" + key);
  if (at == std::string::npos) return 0;
  const char* place = std::strchr(stat.c_str() + at, ' ');
  std::int64_t value = 0;
  for (int i = 0; i <= column && i < columns && place != nullptr; ++i) {
    char* end = nullptr;
    value = std::strtoll(place, &end, 10);
    place = end;
  }
  return value;
}

}  // namespace

Watch::Watch() : schedule_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

Disturbance Watch::now() const {
  Disturbance seen;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    seen.switches = usage.ru_nivcsw;
    seen.faults = usage.ru_minflt + usage.ru_majflt;
  }
  std::array<char, 96> text{};
  if (schedule_ && pread(schedule_.get(), text.data(), text.size() - 1, 0) > 0) {
    char* end = nullptr;
    (void)std::strtoll(text.data(), &end, 10);  // time on the CPU
    seen.waited_ns = std::strtoll(end, nullptr, 10);
  }
  return seen;
}

std::int64_t Watch::stolen_ticks(int processor) const { return ticks(content("/proc/stat"), processor, stolen_column); }

int quietest_processor() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return sched_getcpu();
  const std::string before = content("/proc/stat");
  const timespec pause{0, 100'000'000};
  (void)nanosleep(&pause, nullptr);
  const std::string after = content("/proc/stat");
  int best = sched_getcpu();
  std::int64_t most = -1;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed)) continue;
    const std::int64_t idle = ticks(after, processor, idle_column) - ticks(before, processor, idle_column);
    if (idle <= most) continue;
    most = idle;
    best = processor;
  }
  return best;
}

int allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

}  // namespace tally::linux
