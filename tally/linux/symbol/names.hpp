// Demangles function names and parses those that users type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/symbol/elf_functions.hpp"

namespace tally::symbol {

/// Demangles a name: C++ with parameters, Rust without its hash, modules of Fortran and OCaml. Returns any other name,
/// and one that cannot be parsed, unchanged. About 1 µs.
std::string demangled(std::string_view name);

/// Returns a demangled name without its parameters and, of a template, its result: "ns::f(int)" → "ns::f". Pure.
std::string without_parameters(std::string_view demangled);

/// A code address as users write it: "[FILE:]SYMBOL[+OFFSET]" or "[FILE:]0xADDRESS".
struct CodeAddress {
  std::string file = {};     ///< beginning of the name of the program or library; empty: any
  std::string symbol = {};   ///< empty: the address
  std::uint64_t offset = 0;  ///< from the symbol; without one, the address in the file or its disassembly
  bool operator==(const CodeAddress&) const = default;
};

/// Parses such a text. Errors: bad_usage.
Result<CodeAddress> parse_code_address(std::string_view text);

/// Whether a file of this name (without directories) matches: "libz" and "libz.so.1" match "libz.so.1.2.13".
bool is_file(const CodeAddress& place, std::string_view file_name);

/// Whether this is a name that tally prints for a function without a symbol: the file's name, "+0x", and an address in
/// its code. Symbols have priority over such names.
bool is_address_in(const CodeAddress& place, std::string_view file_name, const Elf& elf);

/// A function of a file that a symbol may refer to. Several with the same full name are forms of one function
/// (constructors), or several static functions.
struct SymbolMatch {
  std::string name;       ///< demangled, with parameters
  std::uint64_t address;  ///< as in the file
  bool chosen_late, local;
  std::string symbol;  ///< as in the file
  /// Of a copy or part that the compiler made (core/base/clone_name.hpp), whose names are then those of its function:
  /// the function's address, or that of its first copy.
  std::uint64_t clone_of = 0;
};

/// Returns the functions of this name, with or without parameters, and their copies; a copy alone by its own name.
std::vector<SymbolMatch> find(const Elf& elf, std::string_view symbol);

/// Returns an error if these are not one function, with the candidates and how to select one; else nothing, also for a
/// name that "…" shortens.
std::optional<Error> ambiguity(const std::vector<SymbolMatch>& found, std::string_view symbol,
                               std::string_view file_name);

}  // namespace tally::symbol
