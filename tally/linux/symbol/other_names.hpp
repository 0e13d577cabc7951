// Names of functions of languages that encode them in ways of their own: Fortran, OCaml, Ada.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tally::symbol {

/// Of a procedure in a module, as gfortran writes it: "__m_MOD_fib" → "m::fib". Nothing for any other. Pure.
std::optional<std::string> fortran_name(std::string_view name);

/// As ocamlopt writes it: "camlStdlib__List__map_12" → "Stdlib.List.map". Nothing for any other. Pure.
std::optional<std::string> ocaml_name(std::string_view name);

/// As GNAT writes it: "ada_t__work__2" → "ada_t.work". Names of C may look the same: ask only of programs that hold
/// Ada. Nothing for any other. Pure.
std::optional<std::string> ada_name(std::string_view name);

}  // namespace tally::symbol
