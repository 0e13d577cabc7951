/// What the engine must know of one instruction, from Zydis.
#pragma once
#include <Zydis/Zydis.h>

#include "tally/engine/base.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::engine::translate {

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
  transaction,  // xbegin: illegal, or it aborts at once
  far_return,   // iret, far ret: the engine does its work, where the code segment stays the same
  step,         // executed at its own address, one instruction at a time
  leave,        // needs the GS base: the program goes on natively
  end,          // not an instruction: what comes after the last one
};

/// The arithmetic flags, in the bits of RFLAGS.
enum Flag : u16 { carry = 1, parity = 4, adjust = 16, zero = 64, sign = 128, overflow = 2048 };
/// What `inc` changes: all of them but the carry.
inline constexpr u16 counter_flags = parity | adjust | zero | sign | overflow;

/// Where an opcode stands.
enum class Map : u8 { one_byte, two_bytes, other };

struct Instruction {
  u64 pc;
  s64 immediate;  // the first one, sign-extended where the processor does so
  s32 displacement;
  u16 reads, writes;  // counter_flags that it needs, that it always overwrites
  u8 length;
  Kind kind;
  u8 loads, stores;  // element accesses known in advance
  u8 plain_field;    // the channel::Field, from first_plain_field on, that one execution adds 1 to; 0 = none
  u8 dynamic;        // channel::Dynamic: what is counted when it runs, by RCX or by a mask
  bool ends_early;   // repe, repne: RCX tells only afterwards how often it ran
  bool gather;
  bool resolved;  // an indirect branch whose target is known: `immediate` leads there
  bool legacy;    // encoded without VEX, EVEX or XOP
  Map map;
  u8 opcode;
  u8 rex;  // the bits W R X B
  u8 modrm, sib;
  u8 modrm_at, displacement_at;  // offsets, 0 = there is none
  u8 operand_bits, address_bits;
  bool fs;       // an access through FS
  u8 bytes[16];  // as they were read; what is after `length` is of no meaning

  u64 next() const { return pc + length; }
  u64 target() const { return next() + static_cast<u64>(immediate); }
  u8 mod() const { return modrm >> 6; }
  u8 reg() const { return static_cast<u8>((modrm >> 3 & 7) | (rex & 4) << 1); }
  u8 rm() const { return static_cast<u8>((modrm & 7) | (rex & 1) << 3); }
  u8 base() const { return static_cast<u8>((sib & 7) | (rex & 1) << 3); }
  u8 index() const { return static_cast<u8>((sib >> 3 & 7) | (rex & 2) << 2); }
  /// Moves to and from control registers name registers whatever the ModRM byte says: they have no displacement.
  bool rip_relative() const { return modrm_at != 0 && displacement_at != 0 && (modrm & 0xc7) == 5; }
  u64 rip_operand() const {
    const u64 address = next() + static_cast<u64>(static_cast<s64>(displacement));
    return address_bits == 32 ? static_cast<u32>(address) : address;
  }
};

/// It may set the trap flag, which takes effect after the next instruction.
inline constexpr u8 popf_opcode = 0x9d;

void decoder_init();

/// Decodes the instruction whose bytes are at `bytes` (at most `available`; 16 can be read) and that stands at `pc` in
/// the program. False when the decoder does not know it. About 25 ns in a cold program for what compilers write most,
/// else ten times that.
bool decode(u64 pc, const u8* bytes, u64 available, Instruction& out);

/// The two halves of it. `decode_common` knows the forms that make up nearly all of compiled code, all 15 bytes being
/// there; what it says is what `decode_any`, by Zydis, says of the same bytes. The latter uses vector registers, having
/// saved the program's.
bool decode_common(u64 pc, const u8* bytes, Instruction& out);
bool decode_any(u64 pc, const u8* bytes, u64 available, Instruction& out);

/// Where FS leads to: the program's thread-local storage.
u64 fs_base();

/// While it lives libZydis may be called, by one at a time in a thread: it reads a stack guard at FS:0x28 and uses xmm0
/// to xmm15. About 0.15 us.
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

/// Zydis's own view of a decoded instruction, for the few questions that Instruction does not answer.
struct Details {
  explicit Details(const Instruction& in);
  ZydisDecodedInstruction raw;  // of length 0 on failure
  ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
  u32 operands = 0;  // 0 on failure
};

/// What a gather or scatter moves.
struct Gathering {
  u8 elements;
  u32 element_bits, index_bits;
};
Gathering gathering_of(const ZydisDecodedInstruction& raw, u8 opcode);

/// Adds one instruction of this kind; a conditional branch counts as taken.
void add_kind(channel::SegmentVector& v, Kind kind);

/// Adds all that one execution of the instruction counts for certain.
void add_counts(channel::SegmentVector& v, const Instruction& in);

/// Bit mask of the general registers that the operands name.
u16 registers_of(const Instruction& in);

/// The bytes of an instruction with a RIP-relative operand, so that a base register or none at all may stand for RIP:
/// where the prefix extends base and index, which means nothing beside RIP, those bits are as if they were not there.
void without_extensions(const Instruction& in, u8 (&bytes)[16]);

/// A general register that the instruction overwrites whole, without reading it and without any chance of a fault:
/// free to be used just before it. no_register when there is none.
u8 overwritten_register(const Instruction& in);

}  // namespace tally::engine::translate
