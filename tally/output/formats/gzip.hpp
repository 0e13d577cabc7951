// Compression in the gzip format.
#pragma once

#include <string>
#include <string_view>

namespace tally::report {

/// Compresses the bytes with zlib to a gzip file (RFC 1952) that has no name and no time in its header: the same bytes
/// always give the same file. Pure.
std::string gzipped(std::string_view bytes);

}  // namespace tally::report
