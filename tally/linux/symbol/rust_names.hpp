// Names of Rust's functions, as its source has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tally::symbol {

/// A name of either kind that rustc writes ("_RNvCs1_1a1f", "_ZN1a1f17h0123456789abcdefE") without the hash codes of
/// crates and instances; nothing for any other. Pure; about 1 us. Names of other alphabets stay in Punycode.
std::optional<std::string> rust_name(std::string_view name);

}  // namespace tally::symbol
