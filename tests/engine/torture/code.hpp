#pragma once
#include <cstdint>
#include <cstring>

/// Small random functions as machine code, and their results.
namespace torture {

/// xorshift64*: every thread has one of its own.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint32_t operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>(state_ * 0x2545F4914F6CDD1Du >> 32);
  }
  uint32_t below(uint32_t n) { return (*this)() % n; }

 private:
  uint64_t state_;
};

/// unsigned f(unsigned): a few steps on EAX.
class Function {
 public:
  static constexpr int most_steps = 12;
  static constexpr int room = 16 * most_steps;  ///< bytes that it takes at most

  static Function random(Random& next) {
    Function made;
    made.count_ = 1 + static_cast<int>(next.below(most_steps - 1));
    for (int i = 0; i < made.count_; ++i) made.steps_[i] = {static_cast<Kind>(next.below(kinds)), next()};
    return made;
  }

  /// Writes it to `at`; returns its size in bytes.
  int write(unsigned char* at) const {
    unsigned char text[room];
    unsigned char* p = text;
    p = put(p, {0x89, 0xf8});  // mov %edi, %eax
    for (int i = 0; i < count_; ++i) p = write(p, steps_[i]);
    p = put(p, {0xc3});
    memcpy(at, text, static_cast<size_t>(p - text));
    return static_cast<int>(p - text);
  }

  uint32_t operator()(uint32_t x) const {
    for (int i = 0; i < count_; ++i) x = apply(x, steps_[i]);
    return x;
  }

 private:
  enum Kind : uint32_t { add, exclusive, multiply, rotate, add_if_odd, count_down, jump, kinds };
  struct Step {
    Kind kind;
    uint32_t value;
  };

  template <size_t N>
  static unsigned char* put(unsigned char* p, const unsigned char (&bytes)[N]) {
    memcpy(p, bytes, N);
    return p + N;
  }
  static unsigned char* put_value(unsigned char* p, uint32_t value) {
    memcpy(p, &value, 4);
    return p + 4;
  }

  static unsigned char* write(unsigned char* p, const Step& step) {
    switch (step.kind) {
      case add: return put_value(put(p, {0x05}), step.value);
      case exclusive: return put_value(put(p, {0x35}), step.value);
      case multiply: return put_value(put(p, {0x69, 0xc0}), step.value);
      case rotate: return put(p, {0xc1, 0xc0, static_cast<unsigned char>(step.value & 31)});
      case add_if_odd: return put_value(put(p, {0xa8, 0x01, 0x74, 0x05, 0x05}), step.value);  // test $1, %al; jz; add
      case count_down:  // mov $n, %ecx; add %ecx, %eax; loop back
        return put(put_value(put(p, {0xb9}), 1 + (step.value & 15)), {0x01, 0xc8, 0xe2, 0xfc});
      default: return put(p, {0xeb, 0x02, 0x0f, 0x0b});  // jmp over ud2
    }
  }

  static uint32_t apply(uint32_t x, const Step& step) {
    switch (step.kind) {
      case add: return x + step.value;
      case exclusive: return x ^ step.value;
      case multiply: return x * step.value;
      case rotate: {
        const uint32_t n = step.value & 31;
        return n == 0 ? x : x << n | x >> (32 - n);
      }
      case add_if_odd: return x & 1 ? x + step.value : x;
      case count_down: {
        const uint32_t n = 1 + (step.value & 15);
        return x + n * (n + 1) / 2;
      }
      default: return x;
    }
  }

  Step steps_[most_steps] = {};
  int count_ = 0;
};

inline uint32_t call(const unsigned char* at, uint32_t x) {
  return reinterpret_cast<uint32_t (*)(uint32_t)>(reinterpret_cast<uintptr_t>(at))(x);
}

}  // namespace torture
