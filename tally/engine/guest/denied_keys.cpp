#include "tally/engine/guest/denied_keys.hpp"

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/old_calls.hpp"
#include "tally/engine/instrument/extended_state.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/protection_keys.hpp"

namespace tally::engine::guest {
namespace {

using namespace translate;

constexpr u32 register_component = 9;  // of the extended state
constexpr u64 header_at = 512;

bool has_register(u64 components) { return (components >> register_component & 1) != 0; }
bool denies_own_key(u32 denied) { return (denied & 3) != 0; }

/// Whether XRSTOR of the components `requested` from the area at `address` denies key 0. False if the instruction
/// faults.
bool restore_denies_own_key(u64 address, u64 requested) {
  u64 header[2] = {};  // XSTATE_BV, XCOMP_BV
  if (!has_register(requested & instrument::movable_components()) || address % 64 != 0 ||
      get(header, address + header_at, sizeof header) != 0)
    return false;
  if (!has_register(header[0])) return false;  // the initial value denies nothing
  const u64 form = header[1] & models::compacted ? header[1] : 0;
  const u64 offset = models::place_of_component(instrument::extended_state().layout, form, register_component);
  u32 denied = 0;
  return offset != 0 && get(&denied, address + offset, sizeof denied) == 0 && denies_own_key(denied);
}

u64 operand_address(const Instruction& in, const u64 (&registers)[16]) {
  constexpr u8 by_sib = 4, no_base = 5, no_index = rsp;
  if (in.rip_relative()) return in.rip_operand();
  u64 address = static_cast<u64>(static_cast<s64>(in.displacement));
  if ((in.rm() & 7) != by_sib) {
    address += registers[in.rm()];
  } else {
    if ((in.base() & 7) != no_base || in.mod() != 0) address += registers[in.base()];
    if (in.index() != no_index) address += registers[in.index()] << (in.sib >> 6);
  }
  if (in.address_bits == 32) address = static_cast<u32>(address);
  return in.fs ? address + fs_base() : address;
}

/// Whether the instruction at `pc` denies key 0 when executed with these registers.
bool instruction_denies_own_key(u64 pc, const u64 (&registers)[16]) {
  u8 bytes[16] = {};
  Instruction in;
  if (!decode(pc, bytes, read_code(pc, bytes, 15), in)) return false;
  switch (key_setter(in)) {
    case KeySetter::none: return false;
    case KeySetter::wrpkru:
      // It faults if rcx or rdx is not 0.
      return static_cast<u32>(registers[rcx]) == 0 && static_cast<u32>(registers[rdx]) == 0 &&
             denies_own_key(static_cast<u32>(registers[rax]));
    case KeySetter::xrstor:
      return restore_denies_own_key(operand_address(in, registers),
                                    static_cast<u32>(registers[rax]) | registers[rdx] << 32);
  }
  return false;
}

/// Returns the components that the kernel loads from a frame's vector registers.
u64 components_of_frame(u64 vectors) {
  constexpr u64 description_at = 464;
  constexpr u32 first_magic = 0x46505853, second_magic = 0x46505845, least_bytes = 576;
  struct {
    u32 magic, bytes_with_end;
    u64 components;
    u32 bytes;
  } described;
  u32 end = 0;
  const bool is_extended = vectors != 0 && get(&described, vectors + description_at, sizeof described) == 0 &&
                           described.magic == first_magic && described.bytes >= least_bytes &&
                           described.bytes <= described.bytes_with_end &&
                           get(&end, vectors + described.bytes, sizeof end) == 0 && end == second_magic;
  return is_extended ? described.components : 0;
}

}  // namespace

bool frame_denies_own_key(const Context& c) {
  if (!has_protection_keys()) return false;
  if (restore_denies_own_key(c.fpstate, components_of_frame(c.fpstate))) return true;
  u64 registers[16];
  Context copy_of = c;
  for (u8 i = 0; i < 16; i++) registers[i] = copy_of.reg(i);
  return (c.flags & trap_flag) != 0 && instruction_denies_own_key(c.ip, registers);
}

u32 keys_of_program(const Context& c) {
  u32 denied = 0;
  u64 components = 0;
  if (c.fpstate == 0) return denied;
  __builtin_memcpy(&components, reinterpret_cast<const u8*>(c.fpstate) + header_at, sizeof components);
  if (!has_register(components)) return denied;
  const u64 offset = models::place_of_component(instrument::extended_state().layout, 0, register_component);
  __builtin_memcpy(&denied, reinterpret_cast<const u8*>(c.fpstate) + offset, sizeof denied);
  return denied;
}

bool own_key_is_allocated() {
  if (!has_protection_keys()) return true;              // and no other key can be
  constexpr u64 after_user_addresses = 0x7ffffffff000;  // the kernel never maps anything there
  return kernel(SYS_pkey_mprotect, after_user_addresses, page_bytes, 0, 0) != -EINVAL;
}

}  // namespace tally::engine::guest

namespace tally::engine::translate {

extern "C" void keys_may_change(Thread* t) {
  if (guest::prepare_old_call(t)) return;
  if (guest::instruction_denies_own_key(t->pc, t->gpr)) guest::leave(t, channel::partial_protection_keys);
}

}  // namespace tally::engine::translate
