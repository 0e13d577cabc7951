// What tests need to know of the machine that they run on.
#pragma once

#include <filesystem>

namespace tally::test {

/// Whether the kernel describes the caches of this machine, so that there is a model of it (`--model host`). Some
/// virtual machines have none.
inline bool kernel_describes_caches() { return std::filesystem::exists("/sys/devices/system/cpu/cpu0/cache/index0"); }

}  // namespace tally::test
