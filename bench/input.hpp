#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// The same bytes on every machine: six tenths of prose-like text, three of table-like records and, to keep compressors
/// honest, one of noise. By a generator of our own, because the distributions of <random> differ between libraries.
std::string mixed_input(std::size_t size_bytes);

/// An SQL script of inserts, an index, joins and sums, with the same rows on every machine.
std::string sql_script(int rows);

}  // namespace bench
