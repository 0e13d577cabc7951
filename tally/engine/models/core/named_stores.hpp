// The last stores from which loads read by other registers, during a run.
#pragma once

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

class NamedStores {
 public:
  explicit NamedStores(const CoreState& state) {
    for (unsigned i = 0; i < recent_stores; ++i) stores_[i] = {state.named[i].ready, state.named[i].name};
  }

  void add(std::int32_t ready, std::uint8_t name) {
    for (unsigned i = recent_stores - 1; i > 0; --i) stores_[i] = stores_[i - 1];
    stores_[0] = {ready, name};
  }

  /// Returns when the data of the store is ready that a load reads; null if it is too old.
  const std::int32_t* find(const Forwarding& load) const {
    if (load.from == 0) return nullptr;
    unsigned left = load.distance > 1 ? load.distance : 1;
    for (const Store& store : stores_)
      if (store.name == load.from && --left == 0) return &store.ready;
    return nullptr;
  }

  /// `at_end(time)`: a time as a state has it.
  template <class AtEnd>
  void finish(CoreState& state, const AtEnd& at_end) const {
    for (unsigned i = 0; i < recent_stores; ++i)
      if (stores_[i].name != 0) state.named[i] = {at_end(stores_[i].ready), stores_[i].name};
  }

 private:
  struct Store {
    std::int32_t ready;
    std::uint8_t name;  ///< as in NamedStore
  };
  Store stores_[recent_stores];
};

}  // namespace tally::models
