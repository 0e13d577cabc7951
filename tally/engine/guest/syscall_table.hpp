/// The treatment of each system call: syscall_table.inc as data.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

enum class Verdict : u8 { unknown, passes, looked_at, natively, refused };

/// The arguments that are descriptors, one bit each. `makes`: the result of the call may be a new descriptor.
enum class Descriptors : u8 {
  none = 0,
  first = 1,
  first_two = 3,
  first_third = 5,
  fourth = 8,
  fifth = 16,
  makes = 32,
  first_makes = first | makes,
  first_two_makes = first_two | makes,
  fourth_makes = fourth | makes,
};

struct SystemCall {
  Verdict verdict = Verdict::unknown;  // for a number that Linux 6.18 does not have; a later kernel may
  Descriptors descriptors = Descriptors::none;
  s16 error = 0;                      // of a refused call
  s64 (*handler)(Thread*) = nullptr;  // of looked_at and natively
};

/// All current system call numbers are below this limit.
inline constexpr u32 system_call_limit = 470;

/// Returns the rule for a number below system_call_limit.
const SystemCall& system_call_of(u32 number);
/// Whether the result of a call with this number may be a new descriptor; false for an unknown call.
bool makes_descriptor(u64 number);

}  // namespace tally::engine::guest
