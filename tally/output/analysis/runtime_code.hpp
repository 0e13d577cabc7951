// Which code belongs to the runtime of a language: programs do not change it.
#pragma once

#include <string>
#include <string_view>

namespace tally::output {

/// Whether a function belongs to the C or C++ library, the dynamic linker, or the runtime of Go, Java or V8. `object`:
/// the path of the file that contains it.
bool is_runtime_code(std::string_view object, std::string_view function);

/// Whether a source file belongs to Rust's libraries, whose functions are inlined into programs.
bool is_rust_source(const std::string& path);

}  // namespace tally::output
