#include "tally/engine/guest/syscall_table.hpp"

#include <array>

#include "tally/engine/guest/syscalls.hpp"

namespace tally::engine::guest {
namespace {

using Rules = std::array<SystemCall, system_call_limit>;

constexpr Rules rules = [] {
  Rules all{};
#define PASSES(number, name, descriptors, why) all[number] = {Verdict::passes, Descriptors::descriptors, 0, nullptr};
#define LOOKED_AT(number, name, descriptors, handler, why) \
  all[number] = {Verdict::looked_at, Descriptors::descriptors, 0, calls::handler};
#define NATIVELY(number, name, descriptors, handler, why) \
  all[number] = {Verdict::natively, Descriptors::descriptors, 0, calls::handler};
#define REFUSED(number, name, descriptors, error, why) \
  all[number] = {Verdict::refused, Descriptors::descriptors, error, nullptr};
#include "tally/engine/guest/syscall_table.inc"
#undef PASSES
#undef LOOKED_AT
#undef NATIVELY
#undef REFUSED
  return all;
}();

}  // namespace

const SystemCall& system_call_of(u32 number) { return rules[number]; }

bool makes_descriptor(u64 number) {
  constexpr u8 makes = static_cast<u8>(Descriptors::makes);
  return number < system_call_limit && (static_cast<u8>(rules[number].descriptors) & makes) != 0;
}

}  // namespace tally::engine::guest
