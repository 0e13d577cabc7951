/// The properties of an instruction that the engine needs, decoded by Zydis.
#pragma once
#include <Zydis/Zydis.h>

#include "tally/engine/base.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::engine::translate {

enum class Kind : u8 {
  plain,  // copied; the next instruction follows
  jcc,
  loop,  // loop, loope, loopne, jrcxz, jecxz: short only, so a plain copy cannot reach the target
  jump,
  jump_indirect,
  call,
  call_indirect,
  ret,
  syscall,
  trap,         // int3, int n, ud2, hlt …: copied, but ends the trace
  transaction,  // xbegin: illegal, or it aborts at once
  far_return,   // iret, far ret: executed by the engine, if the code segment stays the same
  emulated,     // rdpmc; cpuid and xgetbv, if programs see another processor: executed by the engine
  step,         // executed at its own address, one instruction at a time
  leave,        // needs the GS base: the program continues natively
  end,          // not an instruction: the position after the last one
};

/// The arithmetic flags, in the bits of RFLAGS.
enum Flag : u16 { carry = 1, parity = 4, adjust = 16, zero = 64, sign = 128, overflow = 2048 };
/// The flags that `inc` changes: all but the carry.
inline constexpr u16 counter_flags = parity | adjust | zero | sign | overflow;

/// The opcode map.
enum class Map : u8 { one_byte, two_bytes, other };

struct Instruction {
  u64 pc;
  s64 immediate;  // the first one, sign-extended if the processor does so
  s32 displacement;
  u16 reads, writes;  // the counter_flags that it needs, and those that it always overwrites
  u8 length;
  Kind kind;
  u8 loads, stores;  // element accesses that are known in advance
  u8 plain_field;    // the channel::Field, from first_plain_field on, that one execution increments; 0 = none
  u8 dynamic;        // channel::Dynamic: what is counted at run time, by RCX or by a mask
  bool ends_early;   // repe, repne: the number of iterations is only known afterwards, from RCX
  bool gather;
  bool resolved;     // an indirect branch with a known target, to which `immediate` leads
  bool legacy;       // encoded without VEX, EVEX or XOP
  bool moves_state;  // xsave, xrstor and their variants: EDX:EAX selects components of the extended state
  Map map;
  u8 opcode;
  u8 rex;  // the bits W R X B
  u8 modrm, sib;
  u8 modrm_at, displacement_at;  // offsets, 0 = none
  u8 operand_bits, address_bits;
  bool fs;       // an access through FS
  u8 unasked;    // the channel::Feature that it needs and that the presented processor lacks; 0 = none
  u8 bytes[16];  // as read from memory; bytes after `length` have no meaning

  u64 next() const { return pc + length; }
  u64 target() const { return next() + static_cast<u64>(immediate); }
  u8 mod() const { return modrm >> 6; }
  u8 reg() const { return static_cast<u8>((modrm >> 3 & 7) | (rex & 4) << 1); }
  u8 rm() const { return static_cast<u8>((modrm & 7) | (rex & 1) << 3); }
  u8 base() const { return static_cast<u8>((sib & 7) | (rex & 1) << 3); }
  u8 index() const { return static_cast<u8>((sib >> 3 & 7) | (rex & 2) << 2); }
  /// Whether it has a RIP-relative operand. Moves of control registers have none, whatever the ModRM byte says.
  bool rip_relative() const { return modrm_at != 0 && displacement_at != 0 && (modrm & 0xc7) == 5; }
  u64 rip_operand() const {
    const u64 address = next() + static_cast<u64>(static_cast<s64>(displacement));
    return address_bits == 32 ? static_cast<u32>(address) : address;
  }
};

/// Whether the instruction is a popf. It may set the trap flag, which takes effect after the next instruction. In its
/// copy that is a `nop`.
inline bool is_popf(const Instruction& in) { return in.legacy && in.map == Map::one_byte && in.opcode == 0x9d; }
/// Whether the instruction is an iret.
inline bool is_iret(const Instruction& in) { return in.legacy && in.map == Map::one_byte && in.opcode == 0xcf; }

void decoder_init();
/// Whether programs see another processor than the real one (channel::PresentedCpu).
extern bool presents_cpu;
/// Whether the program executes instructions that use state which that processor lacks.
extern bool exceeds_presented_cpu;
/// The features of the processor that programs see; all of them if that is the real one.
extern channel::FeatureSet presented_features;
/// Returns the feature that an instruction needs; none if every x86-64 processor executes it, or if it does not say.
channel::Feature feature_of(const ZydisDecodedInstruction& raw);

/// Decodes the instruction at `bytes` (at most `available` bytes; 16 can be read), whose program address is `pc`.
/// Returns false if the decoder does not know it. Takes about 25 ns in a cold program for the most common forms, and
/// ten times that for others.
bool decode(u64 pc, const u8* bytes, u64 available, Instruction& out);

/// The two halves of decode(). `decode_common` knows the forms of nearly all compiled code; all 15 bytes must be
/// readable. For these forms, `decode_any` returns the same result by Zydis. It saves and uses vector registers.
bool decode_common(u64 pc, const u8* bytes, Instruction& out);
bool decode_any(u64 pc, const u8* bytes, u64 available, Instruction& out);

/// Returns the FS base: the program's thread-local storage.
u64 fs_base();

/// Of the last x87 instruction's address in what fxsave64 stores.
inline constexpr u32 fxsave_pointer_at = 8;
/// Saves the vector and x87 registers. The pointer is 0 if the processor stores none.
inline void save_vectors(u8* area) {
  constexpr u64 none = 0;
  __builtin_memcpy(area + fxsave_pointer_at, &none, sizeof none);
  asm volatile("fxsave64 (%0)" ::"r"(area) : "memory");
}
/// What fnstenv stores in 64-bit mode.
struct X87Environment {
  u32 control, status, tag, pointer, selector_and_opcode, data, data_selector;
};

/// Allows calls of libZydis during its lifetime; at most one exists in a thread. Necessary because libZydis reads a
/// stack guard at FS:0x28 and uses xmm0 to xmm15. Takes about 0.15 us.
class DecoderUse {
 public:
  DecoderUse();
  ~DecoderUse();
  DecoderUse(const DecoderUse&) = delete;
  DecoderUse& operator=(const DecoderUse&) = delete;

 private:
  u64 fs_;
  u8* area_;
  X87Environment x87_;  // AMD's processors lose its pointers by fxsave and fxrstor unless an exception is pending
};

/// Zydis's description of a decoded instruction, for details that Instruction lacks.
struct Details {
  explicit Details(const Instruction& in);
  ZydisDecodedInstruction raw;  // of length 0 on failure
  ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
  u32 operands = 0;  // 0 on failure
};

/// Whether the memory operands of an instruction are no data accesses.
bool accesses_no_memory(const ZydisDecodedInstruction& i);

/// The mask of an instruction that processes some elements.
struct ElementMask {
  u8 elements;      // 0: there is no mask
  u8 element_bits;  // of an element of a vector mask, whose highest bit counts; 0: an opmask register
  u8 number;        // of the register
};

/// The elements of a gather or scatter.
struct Gathering {
  u8 elements;
  u32 element_bits, index_bits;
};
Gathering gathering_of(const ZydisDecodedInstruction& raw, u8 opcode);

/// Adds one instruction of this kind; a conditional branch counts as taken.
void add_kind(channel::SegmentVector& v, Kind kind);

/// Adds everything that one execution of the instruction counts for certain.
void add_counts(channel::SegmentVector& v, const Instruction& in);

/// Bit mask of the general registers that the operands use.
u16 registers_of(const Instruction& in);

/// Returns the bytes of an instruction with a RIP-relative operand, prepared for another base register or none. Clears
/// the prefix bits that extend base and index, which have no meaning with RIP.
void without_extensions(const Instruction& in, u8 (&bytes)[16]);

/// Returns a general register that the instruction overwrites completely, without reading it and without a possible
/// fault. It is free for use just before the instruction. Returns no_register if there is none.
u8 overwritten_register(const Instruction& in);

}  // namespace tally::engine::translate
