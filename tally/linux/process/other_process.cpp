#include "tally/linux/process/other_process.hpp"

#include <sys/uio.h>
#include <time.h>

namespace tally::linux {

bool read_memory(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes) {
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

std::int64_t cpu_time_of(pid_t process) {
  clockid_t clock = 0;
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace tally::linux
