// A program for the lab: its bytes, where it begins, and which line of its source each instruction came from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::lab {

/// Bytes at an address.
struct Piece {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

/// A line of the source that became bytes.
struct Line {
  std::uint64_t address = 0;
  int number = 0;            ///< in its file; 0: in no file of the user's
  bool is_included = false;  ///< from an include file or a macro
  std::string text;
};

struct Image {
  std::string name;  ///< the file's, or that of the statements
  int bits = 32;     ///< 16, 32 or 64: the mode it starts in
  std::uint64_t entry = 0;
  std::vector<Piece> pieces;
  std::vector<Line> lines;                          ///< by address; empty where there is no source
  std::map<std::string, std::uint64_t> symbols;     ///< labels
  std::string line_word = "line";                   ///< what a line is called: statements have none
  std::vector<std::string> warnings = {};           ///< of the assembler
  bool is_multiboot = false;                        ///< begins as a boot loader of that name leaves it: 32 bits
  bool is_arm = false;                              ///< for a 64-bit Arm core, not for x86
  std::map<std::uint64_t, std::string> texts = {};  ///< instructions as text, where somebody disassembled them

  /// The line that an address came from; null where none did.
  const Line* line_at(std::uint64_t address) const;
  /// An address as people know it: "line 12", "puts", "100020H".
  std::string place(std::uint64_t address) const;
  /// The address of a label, a line's number, or a number; nothing where it is none of them.
  std::optional<std::uint64_t> address_of(const std::string& word) const;
};

/// Reads a file: assembly (.asm, .s, .nasm) is assembled by nasm, an ELF image is loaded, anything else is a flat
/// image. `bits` 0: as the file says, else 32. `defines`: NAME=VALUE for nasm. Errors: not_found; bad_usage with what
/// the assembler says of which line.
Result<Image> load(const std::string& path, int bits, const std::vector<std::string>& defines = {});

/// Assembles a text as if it were that file; what it includes is looked for in `folder`.
Result<Image> assemble(const std::string& name, const std::string& text, int bits, const std::string& folder,
                       const std::vector<std::string>& defines = {});

/// An ELF image. Errors: bad_usage.
Result<Image> load_elf(const std::string& name, const std::vector<std::uint8_t>& file);

}  // namespace tally::lab
