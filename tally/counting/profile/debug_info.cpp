#include "tally/counting/profile/debug_info.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/profile/debug_files.hpp"
#include "tally/counting/profile/debug_servers.hpp"
#include "tally/counting/profile/file_bounds.hpp"
#include "tally/counting/profile/unread_debug.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::profile {
namespace {

// Limits on what is read of one file: a malicious program may have endless debug information. Compilers nest inlined
// functions and blocks some tens deep.
constexpr int most_depth = 128;
// To skip an entry, libdw reads everything that is nested in it, each time again: a unit of nested entries is read as
// many times as it is deep. The limit is a second's work.
constexpr std::uint64_t most_passed = 256 << 20;
constexpr std::uint64_t most_ranges = 4'000'000;
constexpr std::size_t most_inlined = 500'000;
// Longer names are cut, because each of many thousand functions may have the same one.
constexpr std::size_t most_debug_name = 4096;

constexpr unsigned int discriminator_attribute = 0x2136;  // DW_AT_GNU_discriminator, which libdw 0.188 does not define

const char* folder_of(Dwarf_Die& unit) {
  Dwarf_Attribute folder;
  return dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &folder));
}

/// Returns the function's linker name, or its source name if it has none.
std::string linker_name_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (const unsigned int kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (const char* const name = dwarf_formstring(dwarf_attr_integrate(&die, kind, &attribute)); name != nullptr)
      return {name, strnlen(name, most_debug_name)};
  const char* const name = dwarf_diename(&die);
  return name == nullptr ? "[function without a name]" : std::string(name, strnlen(name, most_debug_name));
}

/// Returns the path of the file with the debug information.
std::string debug_path(Dwfl_Module* module) {
  const char *file = nullptr, *debug_file = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, &debug_file);
  return debug_file != nullptr ? debug_file : file == nullptr ? "" : file;
}

std::string text_of(const linux::FileState& file) {
  return fmt::format("{}:{}:{}:{}.{:09}", file.device, file.inode, file.bytes, file.modified_s, file.modified_ns);
}

/// Returns the file whose number is in an attribute; null if there is none. The number belongs to the unit that
/// contains the attribute. libdw's dwarf_decl_file() treats 0 as none, but clang uses it in DWARF 5.
const char* file_of(Dwarf_Die& die, unsigned int kind) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr_integrate(&die, kind, &attribute), &number) != 0) return nullptr;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  Dwarf_Half version = 0;
  if (dwarf_cu_die(attribute.cu, &unit, &version, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0)
    return nullptr;
  constexpr Dwarf_Half numbers_from_zero = 5;
  if (number >= count || (number == 0 && version < numbers_from_zero)) return nullptr;
  return dwarf_filesrc(files, number, nullptr, nullptr);
}

}  // namespace

DebugInfo::DebugInfo(Dwfl_Module* module, const std::optional<linux::FileState>& file, std::string why_not)
    : module_(module), file_(file), is_opened_(!why_not.empty()), over_limit_(std::move(why_not)) {
  void** data = nullptr;
  dwfl_module_info(module_, &data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *data = &debug_files_;
}

/// Returns the lines that earlier runs of this tally found, if they read the same files.
KeptLines& DebugInfo::lines() {
  if (lines_) return *lines_;
  lines_.emplace();
  const std::string build_id = build_id_of(module_);
  const auto reader = linux::file_state("/proc/self/exe");
  // With servers, the search may take long, and what it finds may change.
  if (build_id.empty() || !file_ || !reader || !over_limit_.empty() || are_debug_servers_asked()) return *lines_;
  if (debug_files_.empty()) note_debug_file(module_);
  std::string identity = fmt::format("{} {} {}", build_id, text_of(*reader), text_of(*file_));
  if (!debug_files_.empty()) identity += " " + text_of(debug_files_.front().state);
  return lines_.emplace(std::move(identity));
}

void DebugInfo::keep() const {
  if (lines_ && dwarf_ != nullptr && over_limit_.empty() && unread_.empty() && !is_split_) lines_->keep(debug_files_);
}

void DebugInfo::assign_spans(Dwarf_Die& die, std::uint32_t number, Spans& spans) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&die, next, &base, &begin, &end)) > 0;) {
    if (++ranges_ > most_ranges) {
      over_limit_ = "it has more address ranges than are read";
      return;
    }
    if (begin >= end) continue;
    // The previous item continues after this range.
    const std::uint32_t following = at(spans, end);
    spans.erase(spans.lower_bound(begin), spans.lower_bound(end));
    spans[begin] = number;
    spans[end] = following;
  }
}

std::uint32_t DebugInfo::at(const Spans& spans, std::uint64_t address) {
  const auto after = spans.upper_bound(address);
  return after == spans.begin() ? no_item : std::prev(after)->second;
}

bool DebugInfo::any() {
  if (!is_opened_) {
    dwarf_ = dwfl_module_getdwarf(module_, &bias_);
    note_unread();
  }
  is_opened_ = true;
  return dwarf_ != nullptr;
}

void DebugInfo::note_unread() {
  const char* const why = dwarf_ == nullptr ? dwfl_errmsg(-1) : nullptr;
  Dwarf_Addr bias = 0;
  ::Elf* const elf = dwarf_ != nullptr ? dwarf_getelf(dwarf_) : dwfl_module_getelf(module_, &bias);
  if (elf != nullptr)
    if (auto unread = unread_sections(debug_path(module_), elf, why)) unread_.insert(*std::move(unread));
  if (dwarf_ != nullptr)
    if (auto unread = unread_shared_file(dwarf_)) unread_.insert(*std::move(unread));
}

/// Only gcc writes a table of addresses (.debug_aranges): for other compilers, reads the ranges of each unit.
void DebugInfo::index_units() {
  units_indexed_ = true;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die unit, inner;
  std::uint8_t type = 0;
  int read = 0;
  while ((read = dwarf_get_units(dwarf_, cu, &cu, nullptr, &type, &unit, &inner)) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    if (dwarf_tag(&unit) == DW_TAG_invalid)
      unread_.insert(debug_path(module_) + ": it is damaged: the entry of a compilation unit has no abbreviation");
    unit_dies_.push_back(unit);
    assign_spans(unit, static_cast<std::uint32_t>(unit_dies_.size() - 1), units_);
  }
  if (read < 0) unread_.insert(fmt::format("{}: it is damaged: {}", debug_path(module_), dwarf_errmsg(-1)));
}

/// libdwfl also returns the unit whose code ends before the address. A unit without ranges may have code anywhere.
bool DebugInfo::has_code_at(Dwarf_Die& unit, Dwarf_Addr address) {
  const Dwarf_Off number = dwarf_dieoffset(&unit);
  if (latest_range_.unit == number && address >= latest_range_.begin && address < latest_range_.end) return true;
  bool has_ranges = false;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&unit, next, &base, &begin, &end)) > 0;) {
    has_ranges = true;
    if (address < begin || address >= end) continue;
    latest_range_ = {number, begin, end};
    return true;
  }
  return !has_ranges;
}

bool DebugInfo::unit_of(std::uint64_t address, Dwarf_Die& unit) {
  if (!any()) return false;
  Dwarf_Addr bias = 0;
  // It returns a neighbour where a unit is not in .debug_aranges, which only gcc writes.
  if (Dwarf_Die* const found = dwfl_module_addrdie(module_, address, &bias);
      found != nullptr && has_code_at(*found, address - bias)) {
    unit = *found;
    return true;
  }
  if (!units_indexed_) index_units();
  const std::uint32_t number = at(units_, address - bias_);
  if (number == no_item) return false;
  unit = unit_dies_[number];
  return true;
}

std::optional<SourceLine> DebugInfo::row_of(Dwarf_Line* line, Dwarf_Die& unit) {
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return std::nullopt;
  const char* const file = dwarf_linesrc(line, nullptr, nullptr);
  if (file == nullptr) return std::nullopt;
  unsigned int discriminator = 0;
  dwarf_linediscriminator(line, &discriminator);
  return SourceLine{path_of(file, folder_of(unit)), static_cast<std::uint32_t>(number), discriminator};
}

/// Whether the unit's part of the line table may be read: libdw may need 90 bytes for each byte of it.
bool DebugInfo::may_read_lines(Dwarf_Die& unit) {
  constexpr std::uint64_t most_bytes = 5 << 20;
  const auto [known, is_new] = lines_allowed_.try_emplace(dwarf_dieoffset(&unit), true);
  if (!is_new) return known->second;
  known->second = line_table_bytes(dwarf_getelf(dwarf_), unit) <= most_bytes;
  if (!known->second)
    over_limit_ = fmt::format("a unit's table of lines is longer than {}", bytes_text(most_bytes));
  else if (auto unread = unread_lines(debug_path(module_), unit))
    unread_.insert(*std::move(unread));
  return known->second;
}

std::optional<SourceLine> DebugInfo::line_of(std::uint64_t address) {
  constexpr auto query = KeptLines::Query::instruction;
  if (const auto known = lines().find(query, address)) return known->line;
  const auto line = read_line(address);
  lines().add(query, address, {line, {}});
  return line;
}

std::optional<SourceLine> DebugInfo::read_line(std::uint64_t address) {
  Dwarf_Die unit;
  if (!unit_of(address, unit) || !may_read_lines(unit)) return std::nullopt;
  return row_of(dwarf_getsrc_die(&unit, address - bias_), unit);
}

std::vector<SourceLine> DebugInfo::lines_with_code() {
  if (!any()) return {};
  if (!units_indexed_) index_units();
  std::set<std::pair<std::string_view, std::uint32_t>> lines;
  for (Dwarf_Die& unit : unit_dies_) {
    Dwarf_Lines* rows = nullptr;
    std::size_t count = 0;
    if (!may_read_lines(unit) || dwarf_getsrclines(&unit, &rows, &count) != 0) continue;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      Dwarf_Line* const row = dwarf_onesrcline(rows, i);
      bool is_end = false;
      Dwarf_Addr begin = 0, end = 0;
      dwarf_lineendsequence(row, &is_end);
      dwarf_lineaddr(row, &begin);
      dwarf_lineaddr(dwarf_onesrcline(rows, i + 1), &end);
      // Of several rows with one address only the last has an instruction. The linker sets the addresses of functions
      // that it removed to 0.
      if (is_end || begin == end || begin + bias_ == 0) continue;
      if (const auto line = row_of(row, unit)) lines.emplace(line->file, line->line);
    }
  }
  std::vector<SourceLine> result;
  for (const auto& [file, line] : lines) result.push_back({file, line, 0});
  return result;
}

KeptLines::Unit DebugInfo::extent_of(Dwarf_Die& unit) {
  const Dwarf_Off begin = dwarf_dieoffset(&unit) - dwarf_cuoffset(&unit);
  Dwarf_Off end = begin;
  const bool is_known = dwarf_nextcu(dwarf_, begin, &end, nullptr, nullptr, nullptr, nullptr) == 0;
  return {begin, is_known && end > begin ? end - begin : ~std::uint64_t{0}};
}

/// Whether the declarations of a unit may be read: this many bytes take a quarter of a second. Kept lines count, too,
/// so that the result does not depend on them.
bool DebugInfo::is_affordable(const KeptLines::Unit& unit) {
  constexpr std::uint64_t most_bytes = 64 << 20;
  if (units_paid_.count(unit.offset) != 0) return true;
  if (unit.bytes > most_bytes - bytes_read_) return false;
  bytes_read_ += unit.bytes;
  units_paid_.insert(unit.offset);
  return true;
}

std::optional<SourceLine> DebugInfo::beginning_of(std::uint64_t address) {
  using Query = KeptLines::Query;
  const auto declaration = lines().find(Query::declaration, address), row = lines().find(Query::first_row, address);
  if (const auto& known = declaration ? declaration : row) {
    if (known->unit.bytes == 0) return std::nullopt;
    if (const auto& wanted = is_affordable(known->unit) ? declaration : row) return wanted->line;
  }
  Dwarf_Die die;
  if (!unit_of(address, die) || !may_read_lines(die)) {
    lines().add(Query::declaration, address, {});
    return std::nullopt;
  }
  const KeptLines::Unit unit = extent_of(die);
  const bool reads_all = is_affordable(unit);
  const auto line = reads_all ? declared_line(address, die) : first_row(address, die);
  lines().add(reads_all ? Query::declaration : Query::first_row, address, {line, unit});
  return line;
}

std::optional<SourceLine> DebugInfo::declaration_of(std::uint64_t address) {
  constexpr auto query = KeptLines::Query::declaration;
  if (const auto known = lines().find(query, address)) return known->line;
  KeptLines::Answer answer;
  Dwarf_Die unit;
  if (unit_of(address, unit) && may_read_lines(unit)) answer = {declared_line(address, unit), extent_of(unit)};
  lines().add(query, address, answer);
  return answer.line;
}

/// If several rows have one address, the last is the instruction's; a function's first row is usually its opening line.
std::optional<SourceLine> DebugInfo::first_row(std::uint64_t address, Dwarf_Die& unit) {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0) return std::nullopt;
  const auto address_of = [&](std::size_t i) {
    Dwarf_Addr at = 0;
    dwarf_lineaddr(dwarf_onesrcline(lines, i), &at);
    return at + bias_;
  };
  std::size_t first = 0;
  for (std::size_t left = count; left > 0;) {
    const std::size_t half = left / 2;
    if (address_of(first + half) < address) {
      first += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  for (; first < count && address_of(first) == address; ++first) {
    Dwarf_Line* const line = dwarf_onesrcline(lines, first);
    bool is_end = false;
    if (dwarf_lineendsequence(line, &is_end) == 0 && !is_end) return row_of(line, unit);
  }
  return read_line(address);
}

std::optional<SourceLine> DebugInfo::declared_line(std::uint64_t address, Dwarf_Die& unit) {
  const std::uint32_t number = at(functions_of(unit).functions, address - bias_);
  if (number == no_item) return read_line(address);
  Dwarf_Die& die = functions_[number].die;
  int line = 0;
  const char* const file = dwarf_decl_line(&die, &line) == 0 && line > 0 ? file_of(die, DW_AT_decl_file) : nullptr;
  if (file == nullptr) return read_line(address);
  return SourceLine{path_of(file, folder_of(unit)), static_cast<std::uint32_t>(line)};
}

DebugInfo::Unit& DebugInfo::functions_of(Dwarf_Die& unit) {
  const auto [place, is_new] = units_read_.try_emplace(dwarf_dieoffset(&unit));
  if (!is_new) return place->second;
  // With -gsplit-dwarf the functions are in another file, and this unit has only the lines.
  Dwarf_Die split{};
  std::uint8_t type = 0;
  const bool is_known = dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0;
  is_split_ = is_split_ || type == DW_UT_skeleton;
  index_functions(is_known && split.addr != nullptr ? split : unit, place->second, 0);
  return place->second;
}

/// Finds the first entry in `scope`, nested `depth` deep. Returns false if there is none, or at a limit.
bool DebugInfo::first_child(Dwarf_Die& scope, Dwarf_Die& child, int depth) {
  if (depth > most_depth) {
    over_limit_ = fmt::format("it is nested more than {} deep", most_depth);
    return false;
  }
  return dwarf_child(&scope, &child) == 0;
}

/// Moves to the next entry on the same level. An entry may contain its address: never go back, to avoid cycles.
bool DebugInfo::next_sibling(Dwarf_Die& die) {
  const Dwarf_Off from = dwarf_dieoffset(&die);
  if (passed_ > most_passed) {
    over_limit_ = "reading it takes too long";
    return false;
  }
  if (dwarf_siblingof(&die, &die) != 0) return false;
  const Dwarf_Off to = dwarf_dieoffset(&die);
  if (to <= from) {
    over_limit_ = "its entries form a cycle";
    return false;
  }
  passed_ += to - from;
  return true;
}

/// Functions are in units and, with some compilers, in their namespaces and types.
void DebugInfo::index_functions(Dwarf_Die& scope, Unit& unit, int depth) {
  Dwarf_Die die;
  if (!first_child(scope, die, depth)) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
        if (dwarf_hasattr(&die, DW_AT_low_pc) || dwarf_hasattr(&die, DW_AT_ranges)) {
          functions_.push_back({die, false, {}});
          assign_spans(die, static_cast<std::uint32_t>(functions_.size() - 1), unit.functions);
        }
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type: index_functions(die, unit, depth + 1); break;
      default: break;
    }
  } while (next_sibling(die));
}

std::uint32_t DebugInfo::inlined_at(std::uint64_t address) {
  Dwarf_Die unit;
  if (!unit_of(address, unit)) return InlinedCode::none;
  if (!may_read_lines(unit)) return InlinedCode::none;
  Unit& read = functions_of(unit);
  if (!read.is_inlining_requested) {
    read.is_inlining_requested = true;
    const char* file = nullptr;
    dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
    if (auto unread = unread_split_unit(unit, file == nullptr ? "" : file)) unread_.insert(*std::move(unread));
  }
  const std::uint32_t number = at(read.functions, address - bias_);
  if (number == no_item) return InlinedCode::none;
  Function& function = functions_[number];
  if (!function.is_read) {
    function.is_read = true;
    read_inlined(function.die, InlinedCode::none, function, folder_of(unit), 0);
  }
  return at(function.inlined, address - bias_);
}

void DebugInfo::read_inlined(Dwarf_Die& scope, std::uint32_t parent, Function& function, const char* folder,
                             int depth) {
  Dwarf_Die die;
  if (!first_child(scope, die, depth)) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_inlined_subroutine: {
        if (inlined_.size() >= most_inlined) {
          over_limit_ = fmt::format("it has more than {} inlined functions", thousands(most_inlined));
          return;
        }
        const std::uint32_t number = add_inlined(die, parent, folder);
        // Nested functions overwrite parts of its range.
        assign_spans(die, number, function.inlined);
        read_inlined(die, number, function, folder, depth + 1);
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block: read_inlined(die, parent, function, folder, depth + 1); break;
      default: break;
    }
  } while (next_sibling(die));
}

std::uint32_t DebugInfo::add_inlined(Dwarf_Die& die, std::uint32_t parent, const char* folder) {
  InlinedCode inlined;
  inlined.parent = parent;
  std::string linker_name = linker_name_of(die);
  inlined.name = symbol::demangled(linker_name);
  if (inlined.name != linker_name) inlined.linker_name = std::move(linker_name);
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  if (dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &origin) != nullptr) {
    int line = 0;
    const char* const file =
        dwarf_decl_line(&origin, &line) == 0 && line > 0 ? file_of(origin, DW_AT_decl_file) : nullptr;
    if (file != nullptr) inlined.declared = {path_of(file, folder), static_cast<std::uint32_t>(line)};
  }
  Dwarf_Word line = 0;
  if (dwarf_formudata(dwarf_attr(&die, DW_AT_call_line, &attribute), &line) == 0) {
    if (const char* const path = file_of(die, DW_AT_call_file); path != nullptr)
      inlined.called = {path_of(path, folder), static_cast<std::uint32_t>(line)};
  }
  Dwarf_Word discriminator = 0;
  if (dwarf_formudata(dwarf_attr(&die, discriminator_attribute, &attribute), &discriminator) == 0)
    inlined.called.discriminator = static_cast<std::uint32_t>(discriminator);
  inlined_.push_back(std::move(inlined));
  return static_cast<std::uint32_t>(inlined_.size() - 1);
}

std::string_view DebugInfo::path_of(const char* file, const char* folder) {
  std::string& path = paths_[file];
  if (!path.empty()) return path;
  path = file;
  if (path.starts_with("./")) path.erase(0, 2);
  // Relative to the directory in which the compiler ran.
  if (!path.starts_with('/') && folder != nullptr) path = std::string(folder) + "/" + path;
  return path;
}

}  // namespace tally::profile
