/// Memory protection keys (pkeys(7)): a per-thread register denies access to memory by key, except for execution.
///
/// The engine's memory has key 0, like all memory without another key. A program that denies itself key 0 therefore
/// continues natively before it does so. To read code that the program cannot read, the engine allows all keys.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Whether the processor and the kernel support them.
bool has_protection_keys();

/// Sets the thread's register to this value during its lifetime; 0 allows all keys. Only if keys are supported.
class ScopedKeys {
 public:
  explicit ScopedKeys(u32 denied);
  ~ScopedKeys();
  ScopedKeys(const ScopedKeys&) = delete;
  ScopedKeys& operator=(const ScopedKeys&) = delete;

 private:
  u32 before_;
};

/// The instructions that set this register.
enum class KeySetter : u8 { none, wrpkru, xrstor };
KeySetter key_setter(const Instruction& in);
/// Whether it is one of these, and keys are supported. Such an instruction is the first one of its trace.
inline bool sets_protection_keys(const Instruction& in) {
  return has_protection_keys() && key_setter(in) != KeySetter::none;
}

/// Whether the instruction is a 32-bit system call, which 64-bit programs may also make.
inline bool is_old_call(const Instruction& in) {
  return in.legacy && in.map == Map::one_byte && in.opcode == 0xcd && static_cast<u8>(in.immediate) == 0x80;
}

/// Emits the start of such a trace: enters the engine if key 0 may become denied, and preserves the flags. For wrpkru
/// it checks whether EAX denies key 0, for xrstor whether EAX selects the register. A trace of a 32-bit system call
/// (is_old_call) always enters.
void emit_key_check(Builder& b, const Instruction& in);

extern "C" {
/// Entered from there: rcx = the address of the instruction, r11 = the cache address at which its code continues; both
/// registers are saved.
void enter_key_check();
/// Called by enter_key_check(), also before a 32-bit system call. Returns if the program may continue in the engine.
/// Defined in the guest layer.
void keys_may_change(Thread* t);
}

}  // namespace tally::engine::translate
