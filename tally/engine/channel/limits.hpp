/// Limits on address space and data that a program sets for itself. The engine's memory must not count towards them, so
/// the kernel's limit is far higher: two bits mark it. Programs and processes inherit it like any limit.
#pragma once
#include <cstdint>

namespace tally::channel {

inline constexpr uint64_t no_limit = ~0ull, lifted_bits = 3ull << 62;

/// Whether a limit of the kernel is that of a program, with the bits added.
constexpr bool is_lifted(uint64_t limit) { return limit >= lifted_bits && limit != no_limit; }
constexpr uint64_t lifted(uint64_t limit) { return limit < 1ull << 62 ? limit | lifted_bits : limit; }
/// The limit as the program set it.
constexpr uint64_t limit_of_program(uint64_t limit) { return is_lifted(limit) ? limit & ~lifted_bits : limit; }

}  // namespace tally::channel
