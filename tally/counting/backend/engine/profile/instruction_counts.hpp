// What instructions counted, as the code log has it.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "tally/engine/channel/value_table.hpp"

namespace tally::backend::engine {

/// What an instruction counted in one trace. Several traces may contain the same instruction.
struct InstructionCount {
  std::uint64_t address;
  std::uint32_t file;
  // What `executions` is: the number of executions, or an index in the corrections or in the models' values.
  enum Source : std::uint8_t { by_executions, by_correction, by_models };
  std::uint8_t field, loads, stores;  // as in its CodePlace
  Source source = by_executions;
  std::int64_t executions, taken;
  const channel::CodeForm* form = nullptr;
  std::uint64_t first = ~std::uint64_t{0};  // see CodeRow

  auto key() const { return std::tie(file, address, source); }
};

/// A form, and the accesses of an instruction that has it.
struct FormKey {
  const channel::CodeForm* form;  // null: unknown
  std::uint8_t loads, stores;
  bool operator==(const FormKey&) const = default;
  struct Hash {
    std::size_t operator()(const FormKey& key) const {
      return reinterpret_cast<std::uintptr_t>(key.form) / alignof(channel::CodeForm) * 31 + key.loads * 7u + key.stores;
    }
  };
};

/// The engine has the core's cycles of a process in one of its threads. Divides those of each instruction among the
/// threads by its executions, as if an execution cost the same in each. `counted`: by owner; `threads`: the owners of
/// one process; `values`: of the counts by models, one for each of `selected`.
void divide_cycles(std::vector<std::vector<InstructionCount>>& counted, std::span<const std::uint32_t> threads,
                   std::vector<channel::ValueRow>& values, const channel::LocatedValues& selected);

}  // namespace tally::backend::engine
