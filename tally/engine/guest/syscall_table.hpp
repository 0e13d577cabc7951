/// What becomes of a system call: syscall_table.inc as data.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

enum class Verdict : u8 { unknown, passes, looked_at, natively, refused };

/// Arguments that are descriptors, a bit each; and `makes`: what the call returns may be a new one.
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
  Verdict verdict = Verdict::unknown;  // of a number that Linux 6.18 has not: a later kernel may
  Descriptors descriptors = Descriptors::none;
  s16 error = 0;                      // with refused: the answer
  s64 (*handler)(Thread*) = nullptr;  // with looked_at, natively
};

/// Numbers of today's calls are below it.
inline constexpr u32 system_call_limit = 470;

/// The rule for a number below system_call_limit.
const SystemCall& system_call_of(u32 number);
/// Whether what a call of this number returns may be a new descriptor; an unknown one makes none.
bool makes_descriptor(u64 number);

}  // namespace tally::engine::guest
