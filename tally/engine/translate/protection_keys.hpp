/// Memory protection keys (pkeys(7)): a register of each thread denies it memory of a key, code excepted.
///
/// The engine's own memory has key 0, as all has that got no other one. So a program that denies itself key 0 goes on
/// natively, before it does; and code that it cannot read the engine reads with every key allowed.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Whether processor and kernel have them. Asks CPUID once, which takes tens of microseconds in a virtual machine.
bool has_protection_keys();

/// While it lives the thread may access memory of every key. Only where there are keys.
class EveryKey {
 public:
  EveryKey();
  ~EveryKey();
  EveryKey(const EveryKey&) = delete;
  EveryKey& operator=(const EveryKey&) = delete;

 private:
  u32 before_;
};

/// Whether the instruction sets that register: wrpkru. It is the first one of its trace.
bool sets_protection_keys(const Instruction& in);
/// The beginning of such a trace: leaves it for the engine where memory of key 0 will be denied, without a change of
/// the flags.
void emit_key_check(Builder& b);

extern "C" {
/// From there: rcx = the address of the instruction; rcx and r11 are saved.
void enter_key_denied();
/// Called by it. Defined by who drives the translation.
void own_key_denied(Thread* t);
}

}  // namespace tally::engine::translate
