// Reads the debug information (DWARF) of one file on demand, with libdw.
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
#include <unordered_set>
#include <vector>

#include "tally/counting/profile/code_names.hpp"
#include "tally/counting/profile/kept_lines.hpp"

namespace tally::profile {

class DebugInfo {
 public:
  /// `module` must outlive it; `file`: the state of its file. Reads nothing yet, and never reads anything if `why_not`
  /// has a reason.
  DebugInfo(Dwfl_Module* module, const std::optional<linux::FileState>& file, std::string why_not);
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  /// The functions take addresses in the file, and correspond to those of CodeNames.
  std::optional<SourceLine> line_of(std::uint64_t address);
  std::optional<SourceLine> beginning_of(std::uint64_t address);
  std::optional<SourceLine> declaration_of(std::uint64_t address);
  std::vector<SourceLine> lines_with_code();
  std::uint32_t inlined_at(std::uint64_t address);
  const std::vector<InlinedCode>& inlined() const { return inlined_; }
  /// Returns why a part was not read; empty if all that was needed was read.
  const std::string& over_limit() const { return over_limit_; }
  /// Returns files that were needed and not read, each with the reason.
  const std::set<std::string>& unread() const { return unread_; }
  /// Stores the lines that were found for later runs, if all debug information that was needed was read.
  void keep() const;

 private:
  /// Start address → number of the item there, up to the next address.
  using Spans = std::map<std::uint64_t, std::uint32_t>;
  static constexpr std::uint32_t no_item = ~std::uint32_t{0};

  /// A compilation unit: its functions, by index in `functions_`.
  struct Unit {
    Spans functions;
    bool is_inlining_requested = false;  // inlined functions were requested
  };
  struct Function {
    Dwarf_Die die;
    bool is_read = false;
    Spans inlined;  // indexes in inlined_
  };

  KeptLines& lines();
  std::optional<SourceLine> read_line(std::uint64_t address);
  std::optional<SourceLine> first_row(std::uint64_t address, Dwarf_Die& unit);
  std::optional<SourceLine> declared_line(std::uint64_t address, Dwarf_Die& unit);
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
  KeptLines::Unit extent_of(Dwarf_Die& unit);
  bool is_affordable(const KeptLines::Unit& unit);
  bool may_read_lines(Dwarf_Die& unit);
  bool has_code_at(Dwarf_Die& unit, Dwarf_Addr address);
  std::optional<SourceLine> row_of(Dwarf_Line* line, Dwarf_Die& unit);
  std::string_view path_of(const char* file, const char* folder);
  void assign_spans(Dwarf_Die& die, std::uint32_t number, Spans& spans);
  static std::uint32_t at(const Spans& spans, std::uint64_t address);

  Dwfl_Module* module_;
  std::optional<linux::FileState> file_;
  std::vector<DebugFile> debug_files_;  // that were found
  std::optional<KeptLines> lines_;      // opened on demand
  Dwarf* dwarf_ = nullptr;
  Dwarf_Addr bias_ = 0;                           // from addresses in the debug information to those in the file
  std::uint64_t bytes_read_ = 0;                  // of units that were read to find declarations of functions
  std::unordered_set<std::uint64_t> units_paid_;  // by offset; in bytes_read_
  bool is_opened_ = false, units_indexed_ = false, is_split_ = false;
  struct {
    Dwarf_Off unit = 0;
    Dwarf_Addr begin = 0, end = 0;
  } latest_range_;  // of has_code_at()
  std::vector<Dwarf_Die> unit_dies_;
  Spans units_;                                         // indexes in unit_dies_
  std::unordered_map<std::uint64_t, Unit> units_read_;  // by offset of the unit
  std::vector<Function> functions_;
  std::vector<InlinedCode> inlined_;
  std::set<std::string> unread_;
  std::unordered_map<const char*, std::string> paths_;     // source paths, by their name in the debug information
  std::unordered_map<std::uint64_t, bool> lines_allowed_;  // by offset of the unit
  std::uint64_t passed_ = 0, ranges_ = 0;                  // bytes of entries, and address ranges, that were read
  std::string over_limit_;
};

}  // namespace tally::profile
