/// Memory protection keys (pkeys(7)): a register of each thread denies it memory of a key, code excepted.
///
/// The engine's own memory has key 0, as all memory has that got no other key. So a program that denies itself key 0
/// goes on natively before it does, and the engine reads code that it cannot read with every key allowed.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Whether processor and kernel have them.
bool has_protection_keys();

/// While it lives the register of the thread has this value: 0 allows memory of every key. Only where there are keys.
class ScopedKeys {
 public:
  explicit ScopedKeys(u32 denied);
  ~ScopedKeys();
  ScopedKeys(const ScopedKeys&) = delete;
  ScopedKeys& operator=(const ScopedKeys&) = delete;

 private:
  u32 before_;
};

/// The instructions that set that register.
enum class KeySetter : u8 { none, wrpkru, xrstor };
KeySetter key_setter(const Instruction& in);
/// Whether it is one of them, where there are keys. Such an instruction is the first one of its trace.
inline bool sets_protection_keys(const Instruction& in) {
  return has_protection_keys() && key_setter(in) != KeySetter::none;
}

/// The beginning of such a trace: asks the engine where memory of key 0 may become denied, without a change of the
/// flags. wrpkru asks where EAX denies key 0, xrstor where EAX has a bit for the register.
void emit_key_check(Builder& b, const Instruction& in);

extern "C" {
/// From there: rcx = the address of the instruction, r11 = where its code goes on; both registers are saved.
void enter_key_check();
/// Called by it; returns where the program may go on in the engine. Defined by who drives the translation.
void keys_may_change(Thread* t);
}

}  // namespace tally::engine::translate
