#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tally/counting/backend/stepper/retired_counts.hpp"

/// Programs with known counts: free-standing assembly programs, with the exact number of events that each causes.
namespace tally::workload {

/// The parameters of a program. Workload::parameters lists those that it uses.
struct Parameters {
  uint64_t n = 0;       ///< iterations, side of the matrices, or number of threads, children, images
  uint64_t bytes = 0;   ///< size of the traversed array
  uint64_t stride = 0;  ///< bytes between accesses
  uint64_t k = 0;       ///< iterations within each of the n
  uint64_t seed = 0;    ///< seed of the generator of random branches

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

using Counts = backend::stepper::RetiredCounts;

/// A program's memory: up to three consecutive buffers from the start of a page, initially zero.
using Buffers = std::array<uint64_t, 3>;

/// A row of the workload table.
struct Workload {
  std::string_view name;        ///< the program's name, such as rep_movsb
  std::string_view parameters;  ///< the fields of Parameters that it uses: "n" or "bytes stride"; empty: none
  uint64_t least_n;             ///< with a smaller n, the program would not end or the formula not hold
  Counts (*expected)(const Parameters&);
  Buffers (*buffers)(const Parameters&) = nullptr;       ///< null: none
  uint64_t (*page_faults)(const Parameters&) = nullptr;  ///< in user mode with 4 KiB pages; null: not known
  Parameters usual = {};                                 ///< the defaults of `tally verify`
  std::string_view what = {};                            ///< a short description, with the formula of its instructions
};

/// All programs of this architecture, in the order of the documentation. image.hpp can create each of them.
std::span<const Workload> all();

/// Finds a program by name; nullptr if unknown.
const Workload* find(std::string_view name);

/// A program with its parameters: "rep_movsb 1000000", "stride 1048576 64". With another separator, the name of its
/// file.
std::string label(const Workload& workload, const Parameters& parameters, char separator = ' ');

/// The names of the parameters and their fields, in the order of Workload::parameters. takes() reports whether a
/// program uses one.
struct Named {
  std::string_view name;
  uint64_t Parameters::*field;
};
std::span<const Named> fields();
bool takes(const Workload& workload, std::string_view field);

/// The same parameters with another n, if the program uses n; for the two points of a line.
Parameters with_n(Parameters parameters, uint64_t n);

}  // namespace tally::workload
