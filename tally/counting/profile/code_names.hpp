// What people call the code of an executable file: functions, and lines of source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::profile {

/// A function; or, where no function is known, the section of the file that the code lies in, such as "[.plt]".
struct NamedCode {
  std::string name;  ///< demangled, with parameters
  std::uint64_t address = 0, bytes = 0;
  bool is_section = false;
  std::string linker_name = {};  ///< where it is another than `name`
  bool operator==(const NamedCode&) const = default;
};

/// A line of source.
struct SourceLine {
  std::string_view file;  ///< as the compiler was told; valid as long as the CodeNames
  std::uint32_t line = 0;
  std::uint32_t discriminator = 0;  ///< which of the line's blocks, as the compiler numbers them
  bool operator==(const SourceLine&) const = default;
};

/// A function that the compiler laid into another one, at one of the places where it is called.
struct InlinedCode {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::string linker_name;      ///< where it is another than `name`
  std::string name;             ///< demangled, with parameters
  std::uint32_t parent = none;  ///< the one that it lies in, in the same list; none: the function itself
  SourceLine declared, called;  ///< where the function stands, and where it is called; line 0: not known
};

/// The names of one file. Addresses are as the file has them. Threads: one call at a time.
class CodeNames {
 public:
  virtual ~CodeNames() = default;
  CodeNames() = default;
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;

  /// Names of the file and, where it is installed, of its debug file, which is found by its build id or its debug link.
  /// Cost: 1 us a symbol; of debug information only what is asked for is read. Errors: bad_usage where it is no ELF
  /// file or cannot be read.
  /// `fd`: a descriptor of what is read, unless negative; the path tells then what it is called, and where debug files
  /// are searched.
  static Result<std::unique_ptr<CodeNames>> open(const std::string& path, int fd = -1);

  /// The address of what stands there in the file; nothing where it is never loaded.
  virtual std::optional<std::uint64_t> address_of(std::uint64_t offset) const = 0;

  /// In hexadecimal; empty where it has none.
  virtual std::string build_id() const { return ""; }
  /// The first executable part of the file, and where it stands in it.
  struct Part {
    std::uint64_t address = 0, bytes = 0, offset = 0;
  };
  virtual Part executable() const { return {}; }

  /// All functions, by rising address; each address once, under the name that others see.
  virtual const std::vector<NamedCode>& functions() const = 0;

  /// The section of code without a function.
  virtual NamedCode section_of(std::uint64_t address) const = 0;

  /// The line that the code was made of; nothing without debug information.
  virtual std::optional<SourceLine> line_of(std::uint64_t address) const = 0;

  /// The line where the function that begins there is declared, or, where much would be read for it, that of its first
  /// row in the table of lines.
  virtual std::optional<SourceLine> beginning_of(std::uint64_t address) const { return line_of(address); }

  /// The line where the function that begins there is declared; that of its first instruction where nothing says it.
  virtual std::optional<SourceLine> declaration_of(std::uint64_t address) const { return line_of(address); }

  /// The innermost of the inlined functions that the instruction is of: its place in inlined(), or InlinedCode::none.
  virtual std::uint32_t inlined_at(std::uint64_t) const { return InlinedCode::none; }
  /// What of the debug information was not read so far, and why ("it is nested more than 128 deep"); empty: nothing.
  virtual std::string over_limit() const { return ""; }

  /// Files with debug information that was wanted until now and not read, each with the reason: "a.dwo: it is missing".
  virtual std::vector<std::string> unread() const { return {}; }

  /// Those that were asked for, and others. The list grows.
  virtual const std::vector<InlinedCode>& inlined() const {
    static const std::vector<InlinedCode> empty;
    return empty;
  }
};

/// The function with this address inside, or null.
const NamedCode* function_of(const CodeNames& names, std::uint64_t address);

}  // namespace tally::profile
