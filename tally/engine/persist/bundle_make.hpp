/// Creates bundles from the templates that a process used.
#pragma once
#include "tally/engine/persist/bundle.hpp"

namespace tally::engine::persist {

/// Adds a bundle of the executed code of this mapping to the store. False if there is no such code, or no space.
bool make_bundle(const Module& m);

}  // namespace tally::engine::persist
