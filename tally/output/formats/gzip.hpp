// Compression in the gzip format.
#pragma once

#include <string>
#include <string_view>

namespace tally::report {

/// Compresses the bytes with zlib to a gzip file (RFC 1952) without name and time in its header, so the result is
/// deterministic. Pure.
std::string gzipped(std::string_view bytes);

}  // namespace tally::report
