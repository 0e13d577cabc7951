// Demangles function names of Rust.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tally::symbol {

/// Demangles a name of either scheme of rustc ("_RNvCs1_1a1f", "_ZN1a1f17h0123456789abcdefE"), without the hashes of
/// crates and instances. No name if it is not one. Pure; about 1 µs. Non-ASCII names stay in Punycode.
std::optional<std::string> rust_name(std::string_view name);

}  // namespace tally::symbol
