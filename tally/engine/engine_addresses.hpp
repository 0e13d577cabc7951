/// Addresses of the engine and its own mappings in the program.
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/channel/image_layout.hpp"

namespace tally::engine {

using channel::image_base;
using channel::image_magic;
using channel::ImageHeader;

/// The channel's records, followed by everything that the engine maps for itself.
inline constexpr u64 records_at = channel::own_addresses;
inline constexpr u64 own_space = 0x7ea100000000;

inline const ImageHeader& image_header() { return *reinterpret_cast<const ImageHeader*>(image_base); }

}  // namespace tally::engine
