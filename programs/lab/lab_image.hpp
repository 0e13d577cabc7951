// A program for the lab: its bytes, its entry, and the source line of each instruction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::lab {

/// Bytes at an address.
struct MemoryBlock {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

/// A source line that produced bytes.
struct Line {
  std::uint64_t address = 0;
  int number = 0;            ///< in its file; 0: not in a file of the user
  bool is_included = false;  ///< from an include file or a macro
  std::string text;
};

struct Image {
  std::string name;  ///< of the file or of the statements
  int bits = 32;     ///< the initial mode: 16, 32 or 64
  std::uint64_t entry = 0;
  std::vector<MemoryBlock> memory_blocks;
  std::vector<Line> lines;                          ///< by address; empty without source
  std::map<std::string, std::uint64_t> symbols;     ///< labels
  std::string line_word = "line";                   ///< the word for a line; statements use another one
  std::vector<std::string> warnings = {};           ///< from the assembler
  bool is_multiboot = false;                        ///< starts as after a multiboot loader: 32 bits
  bool is_arm = false;                              ///< for a 64-bit Arm core, not for x86
  std::uint64_t text_end = 0;                       ///< address after .text of assembly; 0: after the last byte
  std::map<std::uint64_t, std::string> texts = {};  ///< disassembled instructions, if available

  /// Whether this is a program of statements (-e), which has no handlers of the user.
  bool is_of_statements() const { return line_word == "statement"; }
  /// Returns the address after the last byte.
  std::uint64_t end() const;
  /// Returns the source line of an address; null if there is none, and after the last byte.
  const Line* line_at(std::uint64_t address) const;
  /// Returns an address for display: "line 12", "puts", "100020H".
  std::string place(std::uint64_t address) const;
  /// Returns the address of a label, a line number, or a number; no value for other words.
  std::optional<std::uint64_t> address_of(const std::string& word) const;
};

/// Reads a file: assembles assembly (.asm, .s, .nasm) with nasm, loads an ELF image, and takes anything else as a flat
/// image. `bits` 0: as the file says, otherwise 32. `defines`: NAME=VALUE for nasm. Errors: not_found; bad_usage with
/// the assembler's message for a line.
Result<Image> load(const std::string& path, int bits, const std::vector<std::string>& defines = {});

/// Assembles a text as if it were that file; searches included files in `folder`.
Result<Image> assemble(const std::string& name, const std::string& text, int bits, const std::string& folder,
                       const std::vector<std::string>& defines = {});

/// Loads an ELF image. Errors: bad_usage.
Result<Image> load_elf(const std::string& name, const std::vector<std::uint8_t>& file);

}  // namespace tally::lab
