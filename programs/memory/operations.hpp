// Operations by name, so that a name means the same kernel in every task.
#pragma once

#include <string_view>
#include <vector>

#include "programs/memory/kernels/flavours.hpp"

namespace tally::memory {

/// A store or a load.
struct Operation {
  std::string_view name;
  const Store* store = nullptr;
  const Load* load = nullptr;

  void run(const Chain& chain) const { store != nullptr ? store->write(chain) : load->touch(chain); }
};

/// load, nt-load, store, store-clwb (`dc cvac` on aarch64) and nt-store, each in the widest form that this processor
/// supports.
std::vector<Operation> operations();

}  // namespace tally::memory
