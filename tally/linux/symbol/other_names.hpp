// Demangles function names of Fortran, OCaml and Ada.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tally::symbol {

/// Demangles a procedure of a gfortran module: "__m_MOD_fib" → "m::fib". No name if it is not one. Pure.
std::optional<std::string> fortran_name(std::string_view name);

/// Demangles a name of ocamlopt: "camlStdlib__List__map_12" → "Stdlib.List.map". No name if it is not one. Pure.
std::optional<std::string> ocaml_name(std::string_view name);

/// Demangles a name of GNAT: "ada_t__work__2" → "ada_t.work". Names of C may look the same, so call it only for
/// programs that contain Ada. No name if it is not one. Pure.
std::optional<std::string> ada_name(std::string_view name);

}  // namespace tally::symbol
