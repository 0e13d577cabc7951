#pragma once
#include "tests/engine/programs/bare.hpp"

namespace fuzz {

/// Numbers that depend on the seed only (xorshift64*, Vigna 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((next() >> 32) % bound); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

constexpr int rsp = 4;
constexpr int rbp = 5;  ///< points into the data and is never written
constexpr uint32_t data_bytes = 4096;

/// Writes instructions of 64-bit code. The caller chooses the operands; nothing here is random.
class Emitter {
 public:
  explicit Emitter(uint8_t* at) : at_(at) {}

  uint8_t* here() const { return at_; }
  void byte(int value) { *at_++ = static_cast<uint8_t>(value); }
  void word32(uint32_t value) {
    __builtin_memcpy(at_, &value, 4);
    at_ += 4;
  }

  /// Operand size prefix and REX for 1, 2, 4 or 8 bytes. A byte operand always has a REX, so that 4..7 are spl..dil.
  void prefixes(int size, int reg, int rm, int index = 0) {
    if (size == 2) byte(0x66);
    const int rex = (size == 8 ? 8 : 0) | (reg >> 3) << 2 | (index >> 3) << 1 | rm >> 3;
    if (rex != 0 || size == 1) byte(0x40 | rex);
  }
  void registers(int reg, int rm) { byte(0xc0 | (reg & 7) << 3 | (rm & 7)); }
  /// [rbp + displacement]
  void data(int reg, uint32_t displacement) {
    byte(0x80 | (reg & 7) << 3 | rbp);
    word32(displacement);
  }

  /// An instruction of one opcode byte (its even form for size 1) on two registers.
  void two(int size, int opcode, int reg, int rm) {
    prefixes(size, reg, rm);
    byte(size == 1 ? opcode & ~1 : opcode);
    registers(reg, rm);
  }
  void memory(int size, int opcode, int reg, uint32_t displacement) {
    prefixes(size, reg, rbp);
    byte(size == 1 ? opcode & ~1 : opcode);
    data(reg, displacement);
  }
  /// The same with the prefix 0f.
  void two_0f(int size, int opcode, int reg, int rm) {
    prefixes(size, reg, rm);
    byte(0x0f);
    byte(opcode);
    registers(reg, rm);
  }
  void memory_0f(int size, int opcode, int reg, uint32_t displacement) {
    prefixes(size, reg, rbp);
    byte(0x0f);
    byte(opcode);
    data(reg, displacement);
  }
  void load_immediate(int reg, uint32_t value) {
    prefixes(4, 0, reg);
    byte(0xb8 | (reg & 7));
    word32(value);
  }
  void push(int reg) {
    prefixes(4, 0, reg);
    byte(0x50 | (reg & 7));
  }
  void pop(int reg) {
    prefixes(4, 0, reg);
    byte(0x58 | (reg & 7));
  }
  /// lea displacement(rip) to `reg`; patch() sets its target later.
  uint8_t* address_of_label(int reg) {
    prefixes(8, reg, 0);
    byte(0x8d);
    byte((reg & 7) << 3 | 5);
    return hole();
  }
  /// A branch with a 32-bit displacement, whose target is set later.
  uint8_t* branch(int opcode) {
    if (opcode > 0xff) byte(opcode >> 8);
    byte(opcode);
    return hole();
  }
  /// A branch with an 8-bit displacement.
  uint8_t* short_branch(int opcode) {
    byte(opcode);
    byte(0);
    return at_ - 1;
  }
  static void patch(uint8_t* hole, const uint8_t* target) {
    const auto distance = static_cast<uint32_t>(target - (hole + 4));
    __builtin_memcpy(hole, &distance, 4);
  }
  static void patch_short(uint8_t* hole, const uint8_t* target) { *hole = static_cast<uint8_t>(target - (hole + 1)); }

 private:
  uint8_t* hole() {
    word32(0);
    return at_ - 4;
  }

  uint8_t* at_;
};

}  // namespace fuzz
