#pragma once
#include <cstddef>
#include <cstdint>

/// The file that passes random code from the fuzzer to the program that runs it, and that program's output.
namespace tally::differential {

inline constexpr uint64_t page_bytes = 4096;

/// Offsets from Header::data_base. The code's memory operands stay in this range; the guards cannot be accessed.
enum Layout : uint64_t {
  stack_at = 0,
  stack_bytes = 0x2000,
  stack_pointer_at = 0x1800,
  guard_at = 0x2000,
  data_at = 0x3000,
  data_bytes = 0x2000,
  second_guard_at = 0x5000,
  constants_at = 0x6000,  // can only be read
  private_at = 0x7000,    // loop counters and jump targets: no other operand comes here
  exit_at = 0x7ff8,       // the address to jump to at the end
  sandbox_bytes = 0x8000,
};

/// The source of random memory and vectors.
inline constexpr uint64_t pool_bytes = 0x10000;

/// The FS base while the code runs: a prefix moves an operand by this much.
inline constexpr uint64_t fs_base = 0x180;

/// At the start of the file, which is mapped at `base` to be read and executed.
struct Header {
  uint64_t base, bytes;
  uint64_t data_base;
  uint64_t pool_at, constants_at, descriptors_at;  // offsets in the file
  uint64_t sequences;
};

struct Descriptor {
  uint64_t entry;
  uint64_t code, code_bytes;  // address of the first instruction's page and how far it goes
  uint64_t lengths;  // address of a byte for each byte of code: the length of the instruction that starts there
  uint64_t registers[16];
  uint64_t flags;
  uint64_t memory, vectors;  // offsets in the pool
  uint32_t mxcsr, x87_control, x87_full;
  uint32_t pad;
};

/// In a byte of `lengths`: a signal frame shows the flags exactly.
inline constexpr uint8_t flags_exact = 0x80;

inline constexpr uint64_t arithmetic_flags = 0x8d5;

struct Fault {
  uint64_t signal, code, address, trap, error, ip, flags;
  uint64_t registers[16];
};
inline constexpr uint64_t fault_limit = 16;

/// The instructions that one tick of the timer adds to the counts: `incq ticks; ret`, and `mov; syscall` to return by.
struct Tick {
  static constexpr uint64_t instructions = 4, loads = 2, stores = 1, returns = 1, far = 1;
};

/// The state after a sequence; the memory from stack_at to guard_at and then that from data_at follow in the output.
struct Result {
  uint64_t registers[16];
  uint64_t flags;
  uint64_t faults;  // their number; the first ones are in `fault`
  uint64_t lost;    // jumps to addresses where no instruction starts
  uint64_t pad[13];
  alignas(64) uint8_t x87[512];
  alignas(64) uint64_t vectors[32][8];
  uint64_t masks[8];
  Fault fault[fault_limit];
};

}  // namespace tally::differential
