#include "programs/memory/operations.hpp"

#include <span>

namespace tally::memory {
namespace {

// The last supported flavour whose name begins with `begins`; tables are sorted from the plainest to the widest.
template <class Flavour>
const Flavour* widest(std::span<const Flavour> all, std::string_view begins) {
  const Flavour* found = nullptr;
  for (const Flavour& one : all) {
    const bool pure = one.name.find('+') == std::string_view::npos || begins.find('+') != std::string_view::npos;
    if (one.name.starts_with(begins) && pure && one.present()) found = &one;
  }
  return found;
}

}  // namespace

std::vector<Operation> operations() {
  std::vector<Operation> all;
  const auto add = [&](Operation one) {
    if (one.store != nullptr || one.load != nullptr) all.push_back(one);
  };
  add({.name = "load", .load = widest(loads(), "plain")});
  add({.name = "nt-load", .load = widest(loads(), "nt")});
  add({.name = "store", .store = widest(stores(), "plain")});
  const Store* const clwb = widest(stores(), "plain+clwb");
  add({.name = "store-clwb", .store = clwb != nullptr ? clwb : widest(stores(), "plain+cvac")});
  add({.name = "nt-store", .store = widest(stores(), "nt")});
  return all;
}

}  // namespace tally::memory
