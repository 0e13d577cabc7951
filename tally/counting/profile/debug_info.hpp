// Debug information of one file (DWARF), read by libdw as far as it is asked for.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

class DebugInfo {
 public:
  /// `module` must outlive it. Nothing is read yet; nothing ever is where there is a reason against it.
  explicit DebugInfo(Dwfl_Module* module, std::string why_not) : module_(module), over_limit_(std::move(why_not)) {
    looked_ = !over_limit_.empty();
  }
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  /// Addresses are as the file has them.
  std::optional<SourceLine> line_of(std::uint64_t address);
  std::optional<SourceLine> beginning_of(std::uint64_t address);
  std::optional<SourceLine> declaration_of(std::uint64_t address);
  std::uint32_t inlined_at(std::uint64_t address);
  const std::vector<InlinedCode>& inlined() const { return inlined_; }
  /// What of it was not read, and why; empty where all was that was asked for.
  const std::string& over_limit() const { return over_limit_; }
  /// Files that were wanted for this and not read, each with the reason.
  const std::set<std::string>& unread() const { return unread_; }

 private:
  /// From an address up to the next one: what number of something lies there.
  using Spans = std::map<std::uint64_t, std::uint32_t>;
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  /// A unit of compilation: where its functions are, each known by its number in `functions_`.
  struct Unit {
    Spans functions;
    bool is_asked = false;  // for inlined functions
  };
  struct Function {
    Dwarf_Die die;
    bool is_read = false;
    Spans inlined;  // numbers in inlined_
  };

  bool any();
  void note_unread();
  bool unit_of(std::uint64_t address, Dwarf_Die& unit);
  void index_units();
  Unit& functions_of(Dwarf_Die& unit);
  void index_functions(Dwarf_Die& scope, Unit& unit, int depth);
  void read_inlined(Dwarf_Die& scope, std::uint32_t parent, Function& function, const char* folder, int depth);
  bool first_child(Dwarf_Die& scope, Dwarf_Die& child, int depth);
  bool next_sibling(Dwarf_Die& die);
  std::uint32_t add_inlined(Dwarf_Die& die, std::uint32_t parent, const char* folder);
  bool is_affordable(Dwarf_Die& unit);
  const Elf_Data* line_table();
  bool may_read_lines(Dwarf_Die& unit);
  std::optional<SourceLine> row_of(Dwarf_Line* line, Dwarf_Die& unit);
  std::string_view path_of(const char* file, const char* folder);
  void paint(Dwarf_Die& die, std::uint32_t number, Spans& spans);
  static std::uint32_t at(const Spans& spans, std::uint64_t address);

  Dwfl_Module* module_;
  Dwarf* dwarf_ = nullptr;
  Dwarf_Addr bias_ = 0;           // from addresses in the debug information to the file's
  std::uint64_t bytes_read_ = 0;  // of units whose declarations were read for the beginnings of functions
  bool looked_ = false, units_indexed_ = false;
  std::vector<Dwarf_Die> unit_dies_;
  Spans units_;                                         // numbers in unit_dies_
  std::unordered_map<std::uint64_t, Unit> units_read_;  // by the place of the unit
  std::vector<Function> functions_;
  std::vector<InlinedCode> inlined_;
  std::set<std::string> unread_;
  std::unordered_map<const char*, std::string> paths_;  // of sources, by what the debug information calls them
  const Elf_Data* line_table_ = nullptr;
  bool looked_for_lines_ = false;
  std::unordered_map<std::uint64_t, bool> lines_allowed_;  // by the place of the unit
  std::uint64_t passed_ = 0, ranges_ = 0;                  // bytes of entries, and address ranges, that were read
  std::string over_limit_;
};

}  // namespace tally::profile
