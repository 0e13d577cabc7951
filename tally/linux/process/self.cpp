#include "tally/linux/process/self.hpp"

#include <elf.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cstring>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::linux {

std::int32_t thread_number() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

std::int32_t process_number() { return getpid(); }

std::vector<std::string> own_command() {
  // Read with a limit: content() then keeps white space at the ends, which belongs to the arguments.
  constexpr std::size_t most_bytes = 1 << 21;  // ARG_MAX
  std::string words = content("/proc/self/cmdline", most_bytes);
  if (words.empty()) return {};
  words.pop_back();
  return split(words, '\0');
}

Nanoseconds own_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + Nanoseconds(used.tv_nsec);
}

std::string own_vdso() {
  const auto* const begin = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  if (begin == nullptr) return {};
  Elf64_Ehdr head;
  std::memcpy(&head, begin, sizeof head);
  // The section table is at the end.
  return {begin, head.e_shoff + std::size_t{head.e_shnum} * head.e_shentsize};
}

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  (void)pthread_atfork(before, in_parent, in_child);
}

}  // namespace tally::linux
