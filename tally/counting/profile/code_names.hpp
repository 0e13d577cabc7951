// Names for the code of an executable file: functions and source lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::profile {

/// Ends the names of functions that choose one of several implementations at startup: "memcpy@ifunc".
inline constexpr std::string_view ifunc_suffix = "@ifunc";

/// A function; or, if no function is known, the section that contains the code, such as "[.plt]".
struct NamedCode {
  std::string name;  ///< demangled, with parameters
  std::uint64_t address = 0, bytes = 0;
  bool is_section = false;
  std::string linker_name = {};  ///< empty if it equals `name`
  /// Of a copy or part that the compiler made: the address of its function (symbol::functions_of_clones); else 0.
  std::uint64_t clone_of = 0;
  bool operator==(const NamedCode&) const = default;
};

/// A source line.
struct SourceLine {
  std::string_view file;  ///< as the compiler got it; valid as long as the CodeNames
  std::uint32_t line = 0;
  std::uint32_t discriminator = 0;  ///< the block of the line, as the compiler numbers it
  bool operator==(const SourceLine&) const = default;
};

/// A function that the compiler inlined into another one at one of its calls.
struct InlinedCode {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::string linker_name;      ///< empty if it equals `name`
  std::string name;             ///< demangled, with parameters
  std::uint32_t parent = none;  ///< index in the same list of the one that contains it; none: the function itself
  SourceLine declared, called;  ///< declaration of the function, and its call; line 0: unknown
};

/// The names of one file. Addresses are those in the file. Threads: one call at a time.
class CodeNames {
 public:
  virtual ~CodeNames() = default;
  CodeNames() = default;
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  /// Opens a file and, if it is installed, its debug file, which is found by build ID or debug link. Cost: 1 us for
  /// each symbol; debug information is read on demand. Errors: bad_usage if it is not an ELF file or cannot be read.
  /// `fd`: a descriptor of the contents, unless negative; the path is then only its name, and determines where to
  /// search for debug files.
  static Result<std::unique_ptr<CodeNames>> open(const std::string& path, int fd = -1);

  /// Returns the address of an offset in the file; nothing if it is never loaded.
  virtual std::optional<std::uint64_t> address_of(std::uint64_t offset) const = 0;

  /// Returns the bytes of the file; empty if they were not kept in memory.
  virtual std::string_view bytes() const { return {}; }
  /// Returns the build ID in hexadecimal; empty if there is none.
  virtual std::string build_id() const { return ""; }
  /// The first executable segment, with its offset in the file.
  struct Part {
    std::uint64_t address = 0, bytes = 0, offset = 0;
  };
  virtual Part executable() const { return {}; }

  /// Returns all functions by rising address; one for each address, with its most visible name.
  virtual const std::vector<NamedCode>& functions() const = 0;

  /// Returns the section that contains an address without a function.
  virtual NamedCode section_of(std::uint64_t address) const = 0;

  /// Returns the source line of an instruction; nothing without debug information.
  virtual std::optional<SourceLine> line_of(std::uint64_t address) const = 0;

  /// Returns the line of the declaration of the function that starts there, or, if that requires much reading, the line
  /// of its first row in the line table.
  virtual std::optional<SourceLine> beginning_of(std::uint64_t address) const { return line_of(address); }

  /// Returns the declaration's line of the function that starts there; else the line of its first instruction.
  virtual std::optional<SourceLine> declaration_of(std::uint64_t address) const { return line_of(address); }

  /// Returns all lines that have code, executed or not, each once; empty without debug information. Cost: reads all
  /// line tables, 0.1 us for each row.
  virtual std::vector<SourceLine> lines_with_code() const { return {}; }

  /// Stores the lines that were found, so that later runs need not read debug information for them. Does nothing if
  /// there is no cache directory.
  virtual void keep() const {}

  /// Returns the innermost inlined function of an instruction: its index in inlined(), or InlinedCode::none.
  virtual std::uint32_t inlined_at(std::uint64_t) const { return InlinedCode::none; }
  /// Returns why debug information was not read completely ("it is nested more than 128 deep"); else empty.
  virtual std::string over_limit() const { return ""; }

  /// Returns files with debug information that were needed and not read, each with the reason: "a.dwo: it is missing".
  virtual std::vector<std::string> unread() const { return {}; }

  /// Returns the inlined functions that were found so far. The list grows.
  virtual const std::vector<InlinedCode>& inlined() const {
    static const std::vector<InlinedCode> empty;
    return empty;
  }
};

}  // namespace tally::profile
