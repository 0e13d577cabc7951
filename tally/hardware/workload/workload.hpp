#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Programs with known answers: free-standing assembly, and what each of them does, to the instruction.
namespace tally::workload {

/// What a program was assembled with. Which fields matter is said by Workload::parameters.
struct Parameters {
  uint64_t n = 0;       ///< iterations, or the side of the matrices, or how many threads, children, images
  uint64_t bytes = 0;   ///< size of the array walked
  uint64_t stride = 0;  ///< bytes from one access to the next
  uint64_t k = 0;       ///< iterations within each of the n
  uint64_t seed = 0;    ///< of the generator of random branches

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// What a program does in user mode from its first instruction to its exit, inclusive. A REP string instruction is one
/// instruction and `loop` a conditional branch; loads and stores are element accesses (`cmps` is two loads).
struct Counts {
  uint64_t instructions = 0;
  uint64_t conditional = 0;  ///< conditional branches, taken or not
  uint64_t taken = 0;        ///< conditional branches taken
  uint64_t direct_jumps = 0;
  uint64_t indirect_jumps = 0;
  uint64_t direct_calls = 0;
  uint64_t indirect_calls = 0;
  uint64_t returns = 0;
  uint64_t far = 0;  ///< system calls: the final exit, as a rule
  uint64_t loads = 0;
  uint64_t stores = 0;

  /// Branches of every kind.
  uint64_t branches() const {
    return conditional + direct_jumps + indirect_jumps + direct_calls + indirect_calls + returns + far;
  }

  friend bool operator==(const Counts&, const Counts&) = default;
};

/// The memory of a program: up to three buffers, one behind the other from a page's beginning on; zeroes at the start.
using Buffers = std::array<uint64_t, 3>;

/// One program of the table.
struct Workload {
  std::string_view name;        ///< as the program is called, such as rep_movsb
  std::string_view parameters;  ///< the fields of Parameters that it takes: "n" or "bytes stride"; empty: none
  uint64_t least_n;             ///< below it the program would not end, or the formula not hold
  Counts (*expected)(const Parameters&);
  Buffers (*buffers)(const Parameters&) = nullptr;       ///< null: none
  uint64_t (*page_faults)(const Parameters&) = nullptr;  ///< in user mode with pages of 4 KiB; null: not known
  Parameters usual = {};                                 ///< what `tally verify` takes
  std::string_view what = {};                            ///< in a few words, with the formula of its instructions
};

/// Every program of this architecture, in the order of the documentation. All of them can be written out (image.hpp).
std::span<const Workload> all();

/// The program of that name, or nullptr.
const Workload* find(std::string_view name);

/// "rep_movsb 1000000", "stride 1048576 64": a program and what it was assembled with; with another separator the name
/// of its file.
std::string label(const Workload& workload, const Parameters& parameters, char separator = ' ');

/// The values of these parameters that the program takes, by name: {"n", 1000000}. In the order of
/// Workload::parameters.
struct Named {
  std::string_view name;
  uint64_t Parameters::*field;
};
std::span<const Named> fields();
bool takes(const Workload& workload, std::string_view field);

/// The same parameters with a multiple of the work, where the program takes an n; for the two points of a line.
Parameters with_n(Parameters parameters, uint64_t n);

}  // namespace tally::workload
