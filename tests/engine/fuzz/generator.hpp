#pragma once
#include "tests/engine/fuzz/emitter.hpp"

namespace fuzz {

/// Writes a function of random instructions: arithmetic, flags, memory, stack, strings, vectors and branches of every
/// kind. It always ends: jumps go forward, except those of loops that count in memory of their own.
///
/// Flags that the manual leaves undefined are overwritten at once, for only what is defined has to be the same.
class Generator {
 public:
  Generator(uint64_t seed, uint8_t* at, bool vectors_256) : random_(seed), emit_(at), wide_(vectors_256) {}

  void function(int instructions) {
    sequence(instructions);
    emit_.byte(0xc3);
  }

  uint8_t* end() const { return emit_.here(); }

 private:
  int size() {
    static const int sizes[] = {1, 2, 4, 4, 8, 8};
    return sizes[random_.below(6)];
  }
  /// Any register but rsp and rbp.
  int any() {
    const int reg = static_cast<int>(random_.below(14));
    return reg < rsp ? reg : reg + 2;
  }
  /// Room for any access; the first 64 bytes are the loops' counters.
  uint32_t place() { return 64 + random_.below(data_bytes - 256); }

  void sequence(int instructions) {
    while (instructions > 0) {
      const uint32_t kind = random_.below(100);
      if (kind < 62) {
        plain();
        --instructions;
      } else if (kind < 68) {
        vector();
        --instructions;
      } else if (kind < 71) {
        string();
        instructions -= 4;
      } else if (kind < 74) {
        stack();
        instructions -= 3;
      } else {
        const int inside = 1 + static_cast<int>(random_.below(8));
        branch(kind, inside);
        instructions -= inside + 2;
      }
    }
  }

  void plain() {
    const int bytes = size();
    const int a = any();
    const int b = any();
    switch (random_.below(18)) {
      case 0:  // add or adc sbb and sub xor cmp: registers
      case 1:
      case 2: emit_.two(bytes, static_cast<int>(random_.below(8)) << 3 | 1, a, b); break;
      case 3:  // to memory
        emit_.memory(bytes, static_cast<int>(random_.below(8)) << 3 | 1, a, place());
        break;
      case 4:  // from memory
      case 5: emit_.memory(bytes, static_cast<int>(random_.below(8)) << 3 | 3, a, place()); break;
      case 6:  // an immediate byte
        emit_.two(bytes == 1 ? 4 : bytes, 0x83, static_cast<int>(random_.below(8)), b);
        emit_.byte(static_cast<int>(random_.below(256)));
        break;
      case 7:  // mov in both directions
        emit_.memory(bytes, random_.one_in(2) ? 0x89 : 0x8b, a, place());
        break;
      case 8:  // inc dec not neg
        if (random_.one_in(2)) {
          emit_.two(bytes, 0xff, static_cast<int>(random_.below(2)), b);
        } else {
          emit_.two(bytes, 0xf7, 2 + static_cast<int>(random_.below(2)), b);
        }
        break;
      case 9:  // rotate and shift by one: every flag but AF is defined
        emit_.two(bytes, 0xd1, static_cast<int>(random_.below(6)), b);
        break;
      case 10:  // imul, whose other flags are undefined
        emit_.two_0f(bytes == 1 ? 4 : bytes, 0xaf, a, b);
        define_flags();
        break;
      case 11:  // movzx movsx
        emit_.two_0f(random_.one_in(2) ? 4 : 8, random_.one_in(2) ? 0xb7 : 0xbf, a, b);
        break;
      case 12:  // setcc
        emit_.two_0f(1, 0x90 | static_cast<int>(random_.below(16)), 0, b);
        break;
      case 13:  // cmovcc
        emit_.memory_0f(bytes == 1 ? 4 : bytes, 0x40 | static_cast<int>(random_.below(16)), a, place());
        break;
      case 14:  // stc clc cmc
        emit_.byte(random_.one_in(3) ? 0xf9 : random_.one_in(2) ? 0xf8 : 0xf5);
        break;
      case 15:  // xchg xadd cmpxchg
        if (random_.one_in(2)) emit_.byte(0xf0);
        if (random_.one_in(2)) {
          emit_.memory_0f(bytes == 1 ? 4 : bytes, 0xc1, a, place());
        } else {
          emit_.memory_0f(bytes == 1 ? 4 : bytes, 0xb1, a, place());
        }
        break;
      case 16:  // lea
        emit_.memory(bytes < 4 ? 4 : bytes, 0x8d, a, random_.below(1000));
        break;
      default: emit_.load_immediate(a, static_cast<uint32_t>(random_.next()));
    }
  }

  void define_flags() { emit_.two(8, 0x39, any(), any()); }

  void vector() {
    const int a = static_cast<int>(random_.below(16));
    const int b = static_cast<int>(random_.below(16));
    static const int operations[] = {0xfe, 0xfa, 0xef, 0xdb, 0xeb, 0x62, 0x6a, 0xd4, 0xf6, 0x76};
    const int operation = operations[random_.below(10)];
    if (wide_ && random_.one_in(2)) {
      // VEX.256.66.0F, three operands
      const int c = static_cast<int>(random_.below(16));
      emit_.byte(0xc4);
      emit_.byte((a < 8 ? 0x80 : 0) | 0x40 | (b < 8 ? 0x20 : 0) | 1);
      emit_.byte((~c & 15) << 3 | 4 | 1);
      emit_.byte(operation);
      emit_.registers(a, b);
      return;
    }
    switch (random_.below(4)) {
      case 0:  // movdqu from and to memory
        emit_.byte(0xf3);
        emit_.memory_0f(4, random_.one_in(2) ? 0x6f : 0x7f, a, place());
        break;
      case 1:  // movq between the kinds of registers
        emit_.byte(0x66);
        emit_.two_0f(8, random_.one_in(2) ? 0x6e : 0x7e, a, any());
        break;
      default: emit_.byte(0x66); emit_.two_0f(4, operation, a, b);
    }
  }

  void string() {
    constexpr int rcx = 1, rsi = 6, rdi = 7;
    emit_.memory(8, 0x8d, rsi, 1024 + random_.below(512));
    emit_.memory(8, 0x8d, rdi, 2048 + random_.below(512));
    emit_.load_immediate(rcx, random_.below(20));
    const bool down = random_.one_in(4);
    if (down) emit_.byte(0xfd);
    const int form = static_cast<int>(random_.below(4));
    if (form != 0) emit_.byte(form == 1 ? 0xf2 : 0xf3);
    static const int operations[] = {0xa4, 0xa6, 0xaa, 0xac, 0xae};
    const int bytes = size();
    emit_.prefixes(bytes == 1 ? 4 : bytes, 0, 0);
    emit_.byte(operations[random_.below(5)] | (bytes == 1 ? 0 : 1));
    if (down) emit_.byte(0xfc);
  }

  void stack() {
    const int a = any();
    emit_.push(a);
    plain();
    if (random_.one_in(3)) {
      // The flags, without those that are undefined after some instruction.
      emit_.byte(0x9c);
      emit_.pop(a);
      emit_.two(4, 0x81, 4, a);
      emit_.word32(0x8c5);
    }
    emit_.pop(any());
  }

  void branch(uint32_t kind, int inside) {
    if (kind < 84) {  // jcc over a few
      uint8_t* hole = emit_.branch(0x0f80 | static_cast<int>(random_.below(16)));
      sequence(inside);
      Emitter::patch(hole, emit_.here());
    } else if (kind < 86) {
      uint8_t* hole = emit_.short_branch(0x70 | static_cast<int>(random_.below(16)));
      plain();
      Emitter::patch_short(hole, emit_.here());
    } else if (kind < 88) {  // loop, loope, loopne, jrcxz forward
      uint8_t* hole = emit_.short_branch(0xe0 | static_cast<int>(random_.below(4)));
      plain();
      Emitter::patch_short(hole, emit_.here());
    } else if (kind < 92) {  // call of a function that is placed inline
      uint8_t* call = emit_.branch(0xe8);
      sequence(inside / 2);
      uint8_t* over = emit_.branch(0xe9);
      Emitter::patch(call, emit_.here());
      sequence(inside);
      if (random_.one_in(2)) emit_.byte(0xf3);
      emit_.byte(0xc3);
      Emitter::patch(over, emit_.here());
    } else if (kind < 95) {  // jump or call through a register
      const int a = any();
      uint8_t* label = emit_.address_of_label(a);
      emit_.prefixes(4, 0, a);
      emit_.byte(0xff);
      emit_.registers(4, a);
      sequence(inside / 2);
      Emitter::patch(label, emit_.here());
    } else if (depth_ < 3) {  // a loop
      const uint32_t counter = static_cast<uint32_t>(depth_) * 8;
      emit_.memory(4, 0xc7, 0, counter);
      emit_.word32(1 + random_.below(6));
      ++depth_;
      const uint8_t* top = emit_.here();
      sequence(inside);
      --depth_;
      emit_.memory(4, 0xff, 1, counter);
      Emitter::patch(emit_.branch(0x0f85), top);
    }
  }

  Random random_;
  Emitter emit_;
  bool wide_;
  int depth_ = 0;
};

}  // namespace fuzz
