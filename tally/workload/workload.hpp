#pragma once
#include <cstdint>
#include <span>
#include <string_view>

/// Programs with known answers: free-standing assembly, and what each of them does, to the instruction.
namespace tally::workload {

/// What a program was assembled with. Which fields matter is said by Workload::parameters.
struct Parameters {
  uint64_t n = 0;       ///< iterations, or the side of the matrices
  uint64_t bytes = 0;   ///< size of the array walked
  uint64_t stride = 0;  ///< bytes from one access to the next

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// What a program does in user mode from its first instruction to its exit, inclusive. A REP string instruction is one
/// instruction and `loop` a conditional branch; loads and stores are element accesses (`cmps` is two loads).
struct Counts {
  uint64_t instructions = 0;
  uint64_t conditional = 0;  ///< conditional branches, taken or not
  uint64_t taken = 0;        ///< conditional branches taken
  uint64_t direct_jumps = 0;
  uint64_t far = 0;  ///< system calls: the final exit, as a rule
  uint64_t loads = 0;
  uint64_t stores = 0;

  /// Branches of every kind; the programs have no indirect jumps, calls or returns.
  uint64_t branches() const { return conditional + direct_jumps + far; }

  friend bool operator==(const Counts&, const Counts&) = default;
};

/// One program of the table.
struct Workload {
  std::string_view name;        ///< as the program is called, such as rep_movsb
  std::string_view parameters;  ///< the fields of Parameters that it takes: "n" or "bytes stride"
  uint64_t least_n;             ///< below it the program would not end, or the formula not hold
  Counts (*expected)(const Parameters&);
};

/// Every program that only x86-64 has, in the order of the documentation.
std::span<const Workload> all();

/// Every program that x86-64 and aarch64 have, with the same counts on both. Their `far` are the system calls.
std::span<const Workload> all_common();

/// The program of that name, or nullptr.
const Workload* find(std::string_view name);

}  // namespace tally::workload
