/// Creates bundles from the templates that a process used.
#pragma once
#include "tally/engine/persist/bundle.hpp"

namespace tally::engine::persist {

/// Adds a bundle of all used code of this mapping to the store. Returns false if there is nothing to add, or no room.
bool make_bundle(const Module& m);

}  // namespace tally::engine::persist
