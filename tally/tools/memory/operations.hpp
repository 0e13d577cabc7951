// Operations by name: the same name is the same kernel in every task.
#pragma once

#include <string_view>
#include <vector>

#include "tally/tools/memory/kernels/flavours.hpp"

namespace tally::memory {

/// One: either a store or a load.
struct Operation {
  std::string_view name;
  const Store* store = nullptr;
  const Load* load = nullptr;

  void run(const Chain& chain) const { store != nullptr ? store->write(chain) : load->touch(chain); }
};

/// load, nt-load, store, store-clwb (on aarch64 with `dc cvac`), nt-store: the widest of each that this processor has.
std::vector<Operation> operations();

}  // namespace tally::memory
