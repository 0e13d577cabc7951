#include "tally/engine/guest/frame_state.hpp"

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/records.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 legacy_bytes = 512, header_at = 512, header_bytes = 64, description_at = 464;
constexpr u32 extended_magic = 0x46505853, end_magic = 0x46505845;

/// What the kernel writes to the reserved end of the legacy area (struct _fpx_sw_bytes).
struct Description {
  u32 magic, bytes_with_end;
  u64 components;
  u32 bytes;
  u32 reserved[7];
};
static_assert(sizeof(Description) == legacy_bytes - description_at);

bool has_extended_state() { return settings().cpu.features.has(channel::Feature::xsave); }

/// Whether frames have the form of the presented processor. If the program executed instructions that this processor
/// lacks, its frames are whole: they would otherwise lose registers that the program uses.
bool limits_frames() { return presents_cpu && !exceeds_presented_cpu; }

/// Writes the components that the presented processor has.
bool write_limited(u64 to, u64 kernel_state) {
  const channel::PresentedCpu& cpu = settings().cpu;
  u8 start[header_at + header_bytes];
  copy(start, reinterpret_cast<const void*>(kernel_state), sizeof start);
  Description described;
  __builtin_memcpy(&described, start + description_at, sizeof described);
  if (!has_extended_state() || described.magic != extended_magic) {
    clear(start + description_at, sizeof described);
    return put(to, start, legacy_bytes) == 0;
  }
  // The kernel accepts no more than it writes itself.
  const u32 bytes = cpu.state_bytes < described.bytes ? static_cast<u32>(cpu.state_bytes) : described.bytes;
  described.components &= cpu.components;
  described.bytes = bytes;
  described.bytes_with_end = static_cast<u32>(presented_frame_bytes());
  __builtin_memcpy(start + description_at, &described, sizeof described);
  u64 in_use;
  __builtin_memcpy(&in_use, start + header_at, sizeof in_use);
  in_use &= cpu.components;
  __builtin_memcpy(start + header_at, &in_use, sizeof in_use);
  return put(to, start, sizeof start) == 0 &&
         put(to + sizeof start, reinterpret_cast<const u8*>(kernel_state) + sizeof start, bytes - sizeof start) == 0 &&
         put(to + bytes, &end_magic, sizeof end_magic) == 0;
}

}  // namespace

u64 presented_frame_bytes() {
  return has_extended_state() ? settings().cpu.state_bytes + sizeof end_magic : legacy_bytes;
}

u64 frame_bytes_of_state(u64 kernel_state) {
  if (kernel_state == 0) return 0;
  if (limits_frames()) return presented_frame_bytes();
  const bool extended = at<u32>(kernel_state + description_at) == extended_magic;
  return extended ? at<u32>(kernel_state + description_at + offsetof(Description, bytes_with_end)) : legacy_bytes;
}

bool write_frame_state(u64 to, u64 kernel_state) {
  if (kernel_state == 0) return true;
  if (limits_frames()) return write_limited(to, kernel_state);
  return put(to, reinterpret_cast<const void*>(kernel_state), frame_bytes_of_state(kernel_state)) == 0;
}

u64 loadable_frame_state(u64 state, FrameState& copy) {
  if (!presents_cpu || state == 0) return state;
  Description described;
  if (get(&described, state + description_at, sizeof described) != 0) return state;
  const u64 bytes = described.magic == extended_magic ? described.bytes_with_end : legacy_bytes;
  if (bytes > sizeof copy.bytes || get(copy.bytes, state, bytes) != 0) return state;
  return reinterpret_cast<u64>(copy.bytes);
}

}  // namespace tally::engine::guest
