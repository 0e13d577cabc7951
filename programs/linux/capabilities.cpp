#include "programs/linux/capabilities.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<void> keep_only_perfmon() {
  constexpr int perfmon = 38;  // CAP_PERFMON, missing in older headers
  constexpr int most = 64;
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Requires CAP_SETPCAP; without it, the process has nothing to drop here.
  for (int one = 0; one < most; ++one)
    if (one != perfmon) (void)prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0)
    return system_failure(Code::cannot_measure, "cannot read the capabilities of this process");
  for (int word = 0; word < 2; ++word) {
    const std::uint32_t kept = word == perfmon / 32 ? 1u << (perfmon % 32) : 0;
    data[word].permitted &= kept;
    data[word].effective = data[word].permitted;
    data[word].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, data) != 0)
    return system_failure(Code::cannot_measure, "cannot drop the capabilities of root");
  return {};
}

}  // namespace tally::linux
