/// What the engine must know of one instruction, from Zydis.
#pragma once
#include <Zydis/Zydis.h>

#include "tally/channel/channel.hpp"
#include "tally/engine/base.hpp"

namespace tally::engine {

enum class Kind : u8 {
  plain,  // copied; the next instruction follows
  jcc,
  loop,  // loop, loope, loopne, jrcxz, jecxz: short only, so they cannot be copied alone
  jump,
  jump_indirect,
  call,
  call_indirect,
  ret,
  syscall,
  trap,         // int3, int n, ud2, hlt …: copied, but nothing is translated beyond
  transaction,  // xbegin: aborts at once
  step,         // executed at its own address, one instruction at a time
  leave,        // needs the GS base: the program goes on natively
  end,          // not an instruction: what comes after the last one
};

/// The arithmetic flags, in the bits of RFLAGS.
enum Flag : u16 { carry = 1, parity = 4, adjust = 16, zero = 64, sign = 128, overflow = 2048 };
/// What `inc` changes: all of them but the carry.
inline constexpr u16 counter_flags = parity | adjust | zero | sign | overflow;

struct Instruction {
  u64 pc;
  u8 length;
  Kind kind;
  u8 loads, stores;  // element accesses known in advance
  u8 dynamic;        // channel::Dynamic: what is counted when it runs, by RCX or by a mask
  bool ends_early;   // repe, repne: RCX tells only afterwards how often it ran
  bool gather;
  u16 reads, writes;  // counter_flags that it needs, that it always overwrites
  u8 bytes[16];       // as they were read; what is behind `length` is of no meaning
  ZydisDecodedInstruction raw;
  ZydisDecoderContext context;

  u64 next() const { return pc + length; }
  u64 target() const { return next() + static_cast<u64>(raw.raw.imm[0].value.s); }
  /// Moves to and from control registers name registers whatever the ModRM byte says: they have no displacement.
  bool rip_relative() const {
    return (raw.attributes & ZYDIS_ATTRIB_HAS_MODRM) && raw.raw.modrm.mod == 0 && raw.raw.modrm.rm == 5 &&
           raw.raw.disp.size != 0;
  }
  u64 rip_operand() const {
    const u64 address = next() + static_cast<u64>(raw.raw.disp.value);
    return raw.address_width == 32 ? static_cast<u32>(address) : address;
  }
};

void decoder_init();

/// Decodes the instruction whose bytes are at `bytes` (at most `available`; 16 can be read) and that stands at `pc` in
/// the program.
/// False when the decoder does not know it. About 0.1 us. Uses vector registers: see DecoderUse.
bool decode(u64 pc, const u8* bytes, u64 available, Instruction& out);

/// Operands of a decoded instruction; returns their number, 0 on failure.
u32 operands(const Instruction& in, ZydisDecodedOperand (&out)[ZYDIS_MAX_OPERAND_COUNT]);

/// What the retirement of `in` counts, its outcome aside: a conditional branch counts as taken.
channel::SegmentVector counts_of(const Instruction& in);
void add_kind(channel::SegmentVector& v, Kind kind);

/// Bit mask of the general registers that the operands name.
u16 registers_of(const Instruction& in);

/// A general register that the instruction overwrites whole, without reading it and without any chance of a fault:
/// free to be used just before it. no_register when there is none.
u8 overwritten_register(const Instruction& in);

/// While it lives the decoder may be called: libZydis reads a stack guard at FS:0x28 and uses xmm0 to xmm15.
class DecoderUse {
 public:
  DecoderUse();
  ~DecoderUse();
  DecoderUse(const DecoderUse&) = delete;
  DecoderUse& operator=(const DecoderUse&) = delete;

 private:
  u64 fs_;
  u8* area_;
};

}  // namespace tally::engine
