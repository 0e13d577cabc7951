/// Sizes of memory, in bytes.
#pragma once

namespace tally::memory {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr double gib = 1024 * mib;

}  // namespace tally::memory
