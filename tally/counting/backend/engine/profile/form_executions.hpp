// Executions by form, for a mix that needs no addresses.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tally/counting/backend/engine/profile/instruction_counts.hpp"

namespace tally::backend::engine {

class FormExecutions {
 public:
  using ByForm = std::unordered_map<FormKey, std::int64_t, FormKey::Hash>;

  /// Those of one log.
  struct Log {
    /// Adds executions of a form by an instruction with these numbers of accesses.
    void add(std::uint32_t form, std::uint8_t loads, std::uint8_t stores, std::int64_t n) {
      if (loads >= few || stores >= few) {  // `enter`
        others[{form, loads, stores}] += n;
        return;
      }
      const std::size_t i = (std::size_t{form} * few + loads) * few + stores;
      if (i >= counts.size()) counts.resize(i + 1);
      counts[i] += n;
    }

    std::vector<std::int64_t> counts;  // by form, loads and stores
    std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint8_t>, std::int64_t> others;
  };

  Log& of(std::uint32_t log) { return counts_[log]; }

  /// Returns the sums. `form_of(log, form)`: the form, null if it is unknown.
  template <class FormOf>
  ByForm by_form(FormOf&& form_of) const {
    ByForm sums;
    for (const auto& [log, of_log] : counts_) {
      for (std::size_t i = 0; i < of_log.counts.size(); ++i)
        if (of_log.counts[i] != 0)
          sums[{form_of(log, static_cast<std::uint32_t>(i / few / few)), static_cast<std::uint8_t>(i / few % few),
                static_cast<std::uint8_t>(i % few)}] += of_log.counts[i];
      for (const auto& [key, n] : of_log.others)
        sums[{form_of(log, std::get<0>(key)), std::get<1>(key), std::get<2>(key)}] += n;
    }
    return sums;
  }

 private:
  static constexpr std::uint8_t few = 4;
  std::unordered_map<std::uint32_t, Log> counts_;
};

}  // namespace tally::backend::engine
