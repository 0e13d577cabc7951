// Names of functions: as the compiler writes them, as people do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/symbol/elf.hpp"

namespace tally::symbol {

/// A name of C++ as its source has it, with parameters, one of Rust without its hash, those of Fortran's and OCaml's
/// modules; any other, and what cannot be read, as it is. About 1 us.
std::string demangled(std::string_view name);

/// `name`, demangled, without its parameters and, of a template, its result: "ns::f(int)" → "ns::f". Pure.
std::string without_parameters(std::string_view demangled);

/// A place in a program as people name it: "[FILE:]SYMBOL[+OFFSET]" or "[FILE:]0xADDRESS".
struct Place {
  std::string file = {};     ///< the program or library that is meant, by the beginning of its name; empty: any
  std::string symbol = {};   ///< empty: the address
  std::uint64_t offset = 0;  ///< from the symbol; without one the address as the file, or its disassembly, has it
  bool operator==(const Place&) const = default;
};

/// Errors: bad_usage.
Result<Place> parse_place(std::string_view text);

/// Whether a file of this name (without folders) is the one that a place names: "libz", "libz.so.1" for
/// "libz.so.1.2.13".
bool is_file(const Place& place, std::string_view file_name);

/// The functions of a file that a symbol may mean. More than one with the same full name are one function in several
/// forms (constructors), or several static ones.
struct Found {
  std::string name;       ///< demangled, with parameters
  std::uint64_t address;  ///< as the file has it
  bool chosen_late, local;
  std::string_view symbol;
};
std::vector<Found> find(const Elf& elf, std::string_view symbol);

/// Why these are no single function, with the candidates and how to name one; nothing where they are.
std::optional<Error> ambiguity(const std::vector<Found>& found, std::string_view symbol, std::string_view file_name);

}  // namespace tally::symbol
