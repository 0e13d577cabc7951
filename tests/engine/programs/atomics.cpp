// xchg, xadd, cmpxchg of 1 to 16 bytes, hit and missed, locked and not, aligned and across a cache line.
#include "tests/engine/programs/bare.hpp"

namespace {

template <typename T>
void each_width(uint8_t* at) {
  using bare::check;
  auto* cell = reinterpret_cast<T*>(at);
  *cell = 5;
  T value = 9;
  asm volatile("xchg %0, %1" : "+r"(value), "+m"(*cell));
  check(value == 5 && *cell == 9);
  asm volatile("lock xadd %0, %1" : "+r"(value), "+m"(*cell)::"cc");
  check(value == 9 && *cell == 14);
  asm volatile("xadd %0, %1" : "+r"(value), "+m"(*cell)::"cc");
  check(value == 14 && *cell == 23);
  T expected = 23;
  bool hit = false;
  asm volatile("lock cmpxchg %3, %1; sete %2" : "+a"(expected), "+m"(*cell), "=q"(hit) : "r"(value) : "cc");
  check(hit && *cell == 14 && expected == 23);
  asm volatile("lock cmpxchg %3, %1; sete %2" : "+a"(expected), "+m"(*cell), "=q"(hit) : "r"(value) : "cc");
  check(!hit && *cell == 14 && expected == 14);
  asm volatile("cmpxchg %3, %1; sete %2" : "+a"(expected), "+m"(*cell), "=q"(hit) : "r"(T{77}) : "cc");
  check(hit && *cell == 77);
  __atomic_fetch_or(cell, T{2}, __ATOMIC_SEQ_CST);
  __atomic_fetch_sub(cell, T{1}, __ATOMIC_SEQ_CST);
  check(*cell == 78);
}

void sixteen(uint64_t* cell) {
  using bare::check;
  cell[0] = 1;
  cell[1] = 2;
  uint64_t low = 1;
  uint64_t high = 2;
  bool hit = false;
  asm volatile("lock cmpxchg16b %3; sete %2"
               : "+a"(low), "+d"(high), "=q"(hit), "+m"(*cell)
               : "b"(3ull), "c"(4ull)
               : "cc", "memory");
  check(hit && cell[0] == 3 && cell[1] == 4);
  asm volatile("cmpxchg16b %3; sete %2"
               : "+a"(low), "+d"(high), "=q"(hit), "+m"(*cell)
               : "b"(5ull), "c"(6ull)
               : "cc", "memory");
  check(!hit && low == 3 && high == 4 && cell[0] == 3);
  low = 3;
  asm volatile("lock cmpxchg8b %3; sete %2"
               : "+a"(low), "+d"(high), "=q"(hit), "+m"(*cell)
               : "b"(5ull), "c"(6ull)
               : "cc", "memory");
  check(!hit);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  alignas(64) static uint8_t room[256];
  for (int i = 0; i < 20; ++i) {
    for (const int offset : (const int[]){0, 62}) {
      each_width<uint8_t>(room + offset);
      each_width<uint16_t>(room + offset + 1);
      each_width<uint32_t>(room + offset);
      each_width<uint64_t>(room + offset);
    }
    sixteen(reinterpret_cast<uint64_t*>(room));
  }
  return 0;
}
