#include "tally/engine/translate/code_reading.hpp"

#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/past_code.hpp"

namespace tally::engine::translate {

const u8* Code::at(u64 pc, u32& available) {
  if (pc < start_ || pc + 15 > start_ + valid_) {
    if (valid_ == 0 && pc / page_bytes == start_ / page_bytes) return nullptr;  // to ask the kernel takes long
    start_ = pc;
    // Not beyond the page of the last byte that an instruction at pc can have: later pages are not watched yet.
    const u64 end = page_down(pc + 14) + page_bytes;
    valid_ = read_past_or_present_code(pc, bytes_,
                                       end - pc < sizeof bytes_ - 16 ? static_cast<u32>(end - pc) : sizeof bytes_ - 16);
    if (valid_ == 0) return nullptr;
  }
  available = static_cast<u32>(start_ + valid_ - pc);
  if (available > 15) available = 15;
  return bytes_ + (pc - start_);
}

void Code::register_instruction(const Instruction& in) {
  recorder.note(in);
  register_code(trace_, in.pc, in.length);
}

bool read_instruction(Code& code, u64 pc, Instruction& out, bool& readable) {
  u32 n = 0;
  const u8* bytes = code.at(pc, n);
  readable = bytes != nullptr;
  if (!readable) return false;
  if (!decode(pc, bytes, n, out)) {
    out.kind = Kind::step;
    out.length = 0;
    return false;
  }
  out.resolved = false;
  return true;
}

bool serializes(const Instruction& in) {
  const bool cpuid = in.opcode == 0xa2, serialize = in.opcode == 0x01 && in.modrm == 0xe8;
  return in.legacy && in.map == Map::two_bytes && (cpuid || serialize);
}

bool is_resolved(const Instruction& in, const Arena& arena, u64& target) {
  return (in.kind == Kind::jump_indirect || in.kind == Kind::call_indirect) && in.rip_relative() && !in.fs &&
         in.address_bits == 64 && read_pointer(in.rip_operand(), target) && serves(arena, target);
}

void resolve(Code& code, Instruction& in, const Arena& arena) {
  u64 target = 0;
  if (!is_resolved(in, arena, target)) return;
  in.resolved = true;
  in.immediate = static_cast<s64>(target - in.next());
  code.rely_on_pointer(in.rip_operand());
}

namespace {

bool is_increment(const Instruction& in) {
  return in.legacy && in.map == Map::one_byte && (in.opcode & 0xfe) == 0xfe && (in.modrm >> 3 & 7) < 2;
}

bool reads_carry(const Instruction& in) {
  if (!in.legacy) return false;
  const u8 o = in.opcode, digit = in.modrm >> 3 & 7;
  const bool by_condition = (o & 0x0f) == 2 || (o & 0x0f) == 3 || (o & 0x0f) == 6 || (o & 0x0f) == 7;
  if (in.map == Map::two_bytes) return ((o & 0xf0) == 0x40 || (o & 0xf0) == 0x80 || (o & 0xf0) == 0x90) && by_condition;
  if (in.map == Map::other) return o == 0xf6 || o == 0xf5;
  if ((o >= 0x10 && o <= 0x15) || (o >= 0x18 && o <= 0x1d)) return true;
  if ((o & 0xf0) == 0x70) return by_condition;
  if (o >= 0x80 && o <= 0x83) return digit == 2 || digit == 3;
  if (o == 0xc0 || o == 0xc1 || (o >= 0xd0 && o <= 0xd3)) return digit == 2 || digit == 3;
  return o == 0xd6 || (o >= 0xd8 && o <= 0xdf) || o == 0xf5 || o == 0x9c || o == 0x9f;
}

}  // namespace

u16 flags_read(const Instruction& in) {
  return static_cast<u16>(in.reads | (in.reads == counter_flags || reads_carry(in) ? u16{carry} : u16{0}));
}

u16 flags_written(const Instruction& in) {
  return static_cast<u16>(in.writes | (in.writes == counter_flags && !is_increment(in) ? u16{carry} : u16{0}));
}

bool flags_dead(Code& code, u64 pc, u16 mask, int branches) {
  const bool by_carry = mask & carry;
  for (int i = 0; i < 6; i++) {
    Instruction in;
    bool readable = false;
    if (!read_instruction(code, pc, in, readable) || may_change(pc)) return false;
    code.rely_on(in);
    if ((by_carry ? flags_read(in) : in.reads) & mask) return false;
    mask &= static_cast<u16>(~(by_carry ? flags_written(in) : in.writes));
    if (mask == 0) return true;
    switch (in.kind) {
      case Kind::plain: pc = in.next(); break;
      case Kind::jump:
      case Kind::call: pc = in.target(); break;
      case Kind::jcc:
      case Kind::loop:
        return branches > 0 && flags_dead(code, in.next(), mask, branches - 1) &&
               flags_dead(code, in.target(), mask, branches - 1);
      default: return false;
    }
  }
  return false;
}

namespace {

bool accesses_memory(const Instruction& in) { return in.loads + in.stores + in.dynamic > 0; }

bool borrows(Kind k) {
  return k == Kind::jump_indirect || k == Kind::call_indirect || k == Kind::ret || k == Kind::syscall ||
         k == Kind::far_return || k == Kind::emulated;
}

bool find_dead_flags(const Instruction* in, u32 n, u16 live, bool by_carry, u32& at) {
  bool found = false;
  for (u32 i = n; i-- > 0;) {
    live = by_carry ? static_cast<u16>((live & ~flags_written(in[i])) | flags_read(in[i]))
                    : static_cast<u16>((live & ~in[i].writes) | in[i].reads);
    if (live != 0 || (by_carry && i > countdown_reach)) continue;
    // Best directly before an instruction that sets the flags and cannot fault: then this change is never visible.
    const bool best = in[i].writes == counter_flags && !accesses_memory(in[i]);
    if (!found || best) at = i;
    found = true;
  }
  return found;
}

}  // namespace

Increment choose_increment(Code& code, const Instruction* in, u32 n, u64 next) {
  u32 at = 0;
  // An increment preserves the carry; code that counts down or sums events does not.
  const bool by_carry = counts_down() || settings().follows_calls != 0 || summed_events.count != 0;
  const u16 wanted = by_carry ? every_flag : counter_flags;
  if (find_dead_flags(in, n, wanted, by_carry, at)) return {Increment::inc, at, 0};
  const Kind last = n == 0 ? Kind::plain : in[n - 1].resolved ? Kind::end : in[n - 1].kind;
  if (!by_carry) {
    for (u32 i = 0; i < n; i++)
      if (const u8 reg = overwritten_register(in[i]); reg != no_register) return {Increment::scratch, i, reg};
    if (borrows(last)) return {Increment::late, n - 1, r11};
  }
  bool dead = false;
  if (last == Kind::jcc || last == Kind::loop)
    dead = flags_dead(code, next, wanted) && flags_dead(code, in[n - 1].target(), wanted);
  else if (last == Kind::jump || last == Kind::call)
    dead = flags_dead(code, in[n - 1].target(), wanted);
  else if (last == Kind::plain)
    dead = flags_dead(code, next, wanted);
  if (dead && n == 0) return {Increment::inc, 0, 0};
  if (dead && find_dead_flags(in, n, 0, by_carry, at)) return {Increment::inc, at, 0};
  return {Increment::spill, 0, r11};
}

}  // namespace tally::engine::translate
