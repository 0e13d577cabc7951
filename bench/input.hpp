#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// Returns the same bytes on every machine: 60 % prose-like text, 30 % table-like records and 10 % noise that does
/// not compress. Has its own generator, because the distributions of <random> differ between libraries.
std::string mixed_input(std::size_t size_bytes);

/// An SQL script of inserts, an index, joins and sums, with the same rows on every machine.
std::string sql_script(int rows);

}  // namespace bench
