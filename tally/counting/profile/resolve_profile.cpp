#include "tally/counting/profile/resolve_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/profile/code_names.hpp"
#include "tally/counting/profile/divide_among_calls.hpp"
#include "tally/counting/profile/executed_branches.hpp"
#include "tally/counting/profile/fold_calls.hpp"
#include "tally/counting/profile/function_of.hpp"
#include "tally/counting/profile/kernel_names.hpp"
#include "tally/counting/profile/made_code.hpp"
#include "tally/counting/profile/mapped_names.hpp"
#include "tally/counting/profile/vdso.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/symbol/names.hpp"
#include "tally/output/analysis/sort_rows.hpp"

namespace tally::profile {
namespace {

/// A file of code, and its names.
struct Object {
  std::unique_ptr<CodeNames> names;                            // null: it has none
  std::unordered_map<std::uint64_t, std::uint32_t> functions;  // by address
  std::map<std::string_view, std::uint32_t> sources;
  std::vector<std::uint32_t> inlines;  // for each of its inlined functions, the index in the profile
  std::map<std::tuple<std::string, std::string_view, std::uint32_t>, std::uint32_t>
      inlined_functions;  // by name and declaration
  // Of all functions, if inlined ones are requested: by name, and by name without scope and parameters.
  std::unordered_map<std::string, std::vector<std::uint64_t>> addresses;
};

/// "ns::f(int)" → "f".
std::string unqualified(const std::string& name) {
  const std::string bare = symbol::without_parameters(name);
  const std::size_t scope = bare.rfind("::", bare.find('<'));
  return scope == std::string::npos ? bare : bare.substr(scope + 2);
}

class Resolver {
 public:
  Resolver(result::CodeCounts code, result::Stat stat, Lines lines, Inlines inlines, Additions additions)
      : code_(std::move(code)), lines_(std::move(lines)), inlines_(inlines), additions_(additions) {
    result_.stat = std::move(stat);
    result_.owners = code_.owners;
    result_.parts = code_.parts;
    for (std::size_t e = 0; e < code_.events.size() && e < result_.stat.events.size(); ++e)
      result_.stat.events[e].total.count = code_.events[e].count;
    result_.repeated = code_.repeated;
    result_.unplaced = code_.unplaced;
    result_.sources.emplace_back();
    for (const result::CodeFile& file : code_.files) open(file);
    find_vdso();
  }

  result::Profile resolve() {
    for (const result::CodeRow& row : code_.rows) add(row);
    for (const result::CodeCall& call : code_.calls) add(call);
    result_.inclusive = std::move(code_.inclusive);
    result_.self = std::move(code_.self);
    result_.calls_cut = code_.calls_cut;
    result_.calls_too_deep = code_.calls_too_deep;
    result_.python = std::move(code_.python);
    result_.python_cut = code_.python_cut;
    result_.python_samples = code_.python_samples;
    result_.sampling = std::move(code_.sampling);
    if (result_.is_sampled()) fold_recursion(result_);
    result_.counts = std::move(code_.counts);
    divide_among_calls(result_, code_.by_instructions);
    result_.forms = std::move(code_.forms);
    result_.samples = std::move(code_.samples);
    output::sort_rows(result_);
    for (const result::CodeJump& jump : code_.jumps) add(jump);
    for (std::uint32_t i = 0; i < objects_.size() && additions_ != Additions::none; ++i)
      if (objects_[i].names != nullptr) find_branches(result_, i, *objects_[i].names);
    if (additions_ == Additions::coverage)
      for (std::uint32_t i = 0; i < objects_.size() && !linux::is_interrupted(); ++i)
        if (objects_[i].names != nullptr) add_code_with_lines(i);
    if (lines_.chosen)
      for (const std::uint32_t chosen : lines_.chosen(result_)) add_line(chosen);
    for (std::size_t i = 0; i < objects_.size(); ++i)
      if (objects_[i].names != nullptr)
        for (const std::string& one : objects_[i].names->unread()) result_.objects[i].unread.push_back(printable(one));
    if (!linux::is_interrupted())
      for (const Object& object : objects_)
        if (object.names != nullptr) object.names->keep();
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      const std::string unread = objects_[i].names == nullptr ? "" : objects_[i].names->over_limit();
      if (!unread.empty())
        result_.stat.notices.push_back(fmt::format(
            "{}: part of its debug information was not read because {}: some lines and inlined functions have no name",
            result_.objects[i].name, unread));
    }
    return std::move(result_);
  }

 private:
  void open(const result::CodeFile& file) {
    result::ProfileObject object;
    Object& opened = objects_.emplace_back();
    object.name = file.path.empty() || file.overwritten ? "[memory without a file]" : printable(file.path);
    object.identity = file.identity;
    if (file.path == result::kernel_code && file.inode == 0) {
      opened.names = names_of_kernel();
      if (opened.names == nullptr)
        object.why_nameless = "/proc/kallsyms shows no addresses to this user (kernel.kptr_restrict)";
    } else if (is_vdso(file)) {
      opened.names = names_of_vdso();
      if (opened.names == nullptr) object.why_nameless = "not a file";
    } else if (!file.is_file()) {
      object.why_nameless = file.overwritten
                                ? fmt::format("the program replaced the code of {} in memory", printable(file.path))
                            : file.path.empty() ? "code that was generated at run time"
                                                : "not a file";
    } else if (linux::is_interrupted()) {
      object.why_nameless = "tally was interrupted before it read them";
    } else if (auto mapped = names_of_mapped(file); mapped) {
      opened.names = std::move(mapped->names);
      object.build_id = opened.names->build_id();
      const CodeNames::Part part = opened.names->executable();
      object.address = part.address;
      object.bytes = part.bytes;
      object.offset = part.offset;
      if (mapped->are_kept) object.kept = file.kept;
    } else {
      object.why_nameless = mapped.error().message;
    }
    result_.objects.push_back(std::move(object));
  }

  static bool is_vdso(const result::CodeFile& file) { return file.inode == 0 && file.path == "[vdso]"; }

  /// Finds the base of the vDSO in each process.
  void find_vdso() {
    std::map<std::uint32_t, std::set<std::uint64_t>> executed;  // by owner
    for (const result::CodeRow& row : code_.rows)
      if (is_vdso(code_.files[row.file]) && !code_.files[row.file].by_offset && objects_[row.file].names != nullptr) {
        executed[row.owner].insert(row.address);
        vdso_ = objects_[row.file].names.get();
      }
    for (const auto& [owner, addresses] : executed) vdso_bases_[owner] = vdso_base(*vdso_, addresses);
  }

  /// Returns the address in the file; nothing if the file has no names.
  std::optional<std::uint64_t> address_in(std::uint32_t file, std::uint64_t address, std::uint32_t owner) const {
    const CodeNames* const names = objects_[file].names.get();
    if (names == nullptr) return std::nullopt;
    if (code_.files[file].has_addresses) return address;
    if (names != vdso_) return names->address_of(address);
    const auto base = vdso_bases_.find(owner);
    if (base == vdso_bases_.end() || !base->second) return std::nullopt;
    return address - *base->second;
  }

  void add(const result::CodeRow& row) {
    Object& object = objects_[row.file];
    result::ProfileRow made;
    made.owner = row.owner;
    made.executions = row.executions;
    made.taken = row.taken;
    made.form = row.form;
    made.address = row.address;
    if (const auto address = address_in(row.file, row.address, row.owner)) {
      made.address = *address;
      if (lines_.of_rows) std::tie(made.source, made.line, made.discriminator) = line_of(object, *address);
      made.inlined = inlined_at(row.file, object, *address);
    }
    made.function = function(row.file, object, made.address, row.owner);
    result::ProfileFunction& of = result_.functions[made.function];
    if (of.address == made.address) of.entered += row.executions;
    of.first = std::min(of.first, row.first);
    result_.rows.push_back(made);
  }

  void add(const result::CodeJump& jump) {
    const auto site = address_in(jump.file, jump.site, 0), target = address_in(jump.file, jump.target, 0);
    if (site && target) result_.jumps.push_back({jump.file, *site, *target, jump.executions});
  }

  void add(const result::CodeCall& call) {
    result::ProfileCall made;
    made.owner = call.owner;
    made.parent = call.parent;
    made.recursive = call.recursive;
    made.calls = call.calls;
    made.target = address_in(call.target_file, call.target, call.owner).value_or(call.target);
    made.callee = function(call.target_file, objects_[call.target_file], made.target, call.owner);
    if (call.site_file == result::CodeCall::no_file) {
      made.caller = stack_root();
      result_.calls.push_back(made);
      return;
    }
    made.site = address_in(call.site_file, call.site, call.owner).value_or(call.site);
    made.caller = function(call.site_file, objects_[call.site_file], made.site, call.owner);
    if (lines_.of_rows)
      std::tie(made.source, made.line, made.discriminator) = line_of(objects_[call.site_file], made.site);
    made.inlined = inlined_at(call.site_file, objects_[call.site_file], made.site);
    result_.calls.push_back(made);
  }

  /// Adds the lines of an object, and its functions that have lines.
  void add_code_with_lines(std::uint32_t file) {
    Object& object = objects_[file];
    const std::vector<SourceLine> lines = object.names->lines_with_code();
    if (lines.empty()) return;
    for (const SourceLine& line : lines)
      result_.lines_with_code.push_back({file, source(object, line.file), line.line});
    std::sort(result_.lines_with_code.begin(), result_.lines_with_code.end());
    for (const NamedCode& code : object.names->functions())
      if (object.names->line_of(code.address)) function(file, object, code.address, 0);
  }

  /// Returns the function that serves as the caller at the root of a stack, or where a stack is cut.
  std::uint32_t stack_root() {
    if (!stack_root_) {
      stack_root_ = static_cast<std::uint32_t>(result_.functions.size());
      result_.functions.push_back({"[where stacks begin]", static_cast<std::uint32_t>(result_.objects.size())});
      result_.objects.push_back({"[none]"});
    }
    return *stack_root_;
  }

  std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> line_of(Object& object, std::uint64_t address) {
    const bool is_known = object.names != nullptr && !linux::is_interrupted();
    const auto line = is_known ? object.names->line_of(address) : std::nullopt;
    return line ? std::tuple{source(object, line->file), line->line, line->discriminator} : std::tuple{0u, 0u, 0u};
  }

  std::uint32_t inlined_at(std::uint32_t file, Object& object, std::uint64_t address) {
    if (inlines_ == Inlines::no || object.names == nullptr || linux::is_interrupted())
      return result::ProfileInline::none;
    const std::uint32_t number = object.names->inlined_at(address);
    const std::vector<InlinedCode>& known = object.names->inlined();
    // Each entry comes after its parent, in both lists.
    while (object.inlines.size() < known.size()) {
      const InlinedCode& code = known[object.inlines.size()];
      result::ProfileInline made;
      made.function = inlined_function(file, object, code);
      if (code.parent != InlinedCode::none) made.parent = object.inlines[code.parent];
      if (code.called.line != 0) {
        made.source = source(object, code.called.file);
        made.line = code.called.line;
        made.discriminator = code.called.discriminator;
      }
      object.inlines.push_back(static_cast<std::uint32_t>(result_.inlines.size()));
      result_.inlines.push_back(made);
    }
    return number == InlinedCode::none ? result::ProfileInline::none : object.inlines[number];
  }

  /// Returns the function for an inlined one: that of the same name and declaration in the file, else a new one. Static
  /// functions of several sources may have the same name.
  std::uint32_t inlined_function(std::uint32_t file, Object& object, const InlinedCode& code) {
    const SourceLine& declared = code.declared;
    const auto [place, is_new] = object.inlined_functions.try_emplace({code.name, declared.file, declared.line}, 0);
    if (!is_new) return place->second;
    if (object.addresses.empty())
      for (const NamedCode& named_code : object.names->functions()) {
        object.addresses[named_code.name].push_back(named_code.address);
        // gcc describes inlined static functions of C++ without their linker names.
        if (named_code.linker_name.starts_with("_ZL") ||
            named_code.linker_name.find("_GLOBAL__N_") != std::string::npos)
          object.addresses[unqualified(named_code.name)].push_back(named_code.address);
      }
    if (const auto named = object.addresses.find(code.name); named != object.addresses.end())
      for (const std::uint64_t own : named->second)
        if (declared.line == 0 || object.names->declaration_of(own) == declared)
          return place->second = function(file, object, own, 0);
    result_.functions.push_back({code.name, file, 0, 0, 0, 0, code.linker_name});
    if (declared.line != 0) {
      result_.functions.back().source = source(object, declared.file);
      result_.functions.back().line = declared.line;
    }
    return place->second = static_cast<std::uint32_t>(result_.functions.size() - 1);
  }

  std::uint32_t source(Object& object, std::string_view file) {
    const auto [place, is_new] = object.sources.try_emplace(file, 0);
    if (is_new) {
      std::string name(file);
      const auto [known, unknown] = sources_.try_emplace(name, result_.sources.size());
      if (unknown) result_.sources.push_back(std::move(name));
      place->second = static_cast<std::uint32_t>(known->second);
    }
    return place->second;
  }

  std::uint32_t function(std::uint32_t file, Object& object, std::uint64_t address, std::uint32_t owner) {
    // Rows are sorted by address: most are in the function of the previous row.
    if (last_.file == file && address > last_.begin && address < last_.end) return last_.function;
    NamedCode code{"[no name]", 0, 0, true};
    std::uint64_t key_of_process = 0;
    if (!code_.files[file].is_file() && object.names == nullptr) {
      const result::CodeOwner& of = code_.owners[owner];
      const MadeCode& map = generated_code_of(of);
      if (const NamedCode* const made = map.at(address); made != nullptr) {
        code = *made;
        key_of_process = static_cast<std::uint64_t>(of.pid) << 48;  // above all addresses
      }
      add_refusal(result_.objects[file].why_nameless, map.refused());
    }
    last_ = {file, 0, 0, 0};
    if (object.names != nullptr) {
      const NamedCode* const found = function_of(*object.names, address);
      code = found != nullptr ? *found : object.names->section_of(address);
      if (found != nullptr) last_ = {file, found->address, end_of(*object.names, found), 0};
    }
    const auto [place, is_new] = object.functions.try_emplace(code.address ^ key_of_process, result_.functions.size());
    if (is_new) {
      result_.functions.push_back({code.name, file, code.address, 0, 0, 0, code.linker_name, code.clone_of});
      // Skips sections, and linkage table entries, which have no source: the search would read all units.
      if (!code.is_section && !code.name.ends_with("@plt") && object.names != nullptr)
        with_source_.insert(place->second);
      if (!lines_.chosen) add_line(place->second);
    }
    return last_.function = place->second;
  }

  /// Finds the line of a function.
  void add_line(std::uint32_t function) {
    if (with_source_.count(function) == 0 || linux::is_interrupted()) return;
    result::ProfileFunction& of = result_.functions[function];
    Object& object = objects_[of.object];
    // Reads the declaration at any cost only if its unit is read anyway: for large programs it takes a second.
    if (const auto line = inlines_ == Inlines::yes ? object.names->declaration_of(of.address)
                                                   : object.names->beginning_of(of.address)) {
      of.source = source(object, line->file);
      of.line = line->line;
    }
  }

  const MadeCode& generated_code_of(const result::CodeOwner& of) {
    const auto known = generated_code_.find(of.pid);
    if (known != generated_code_.end()) return known->second;
    const auto started = code_.started.find(of.pid);
    const Nanoseconds not_before = started == code_.started.end() ? code_.began : started->second;
    return generated_code_.emplace(of.pid, MadeCode({of.pid, of.other_pids, not_before})).first->second;
  }

  static void add_refusal(std::string& why, const std::string& refused) {
    if (refused.empty() || why.find(refused) != std::string::npos) return;
    why += (why.empty() ? "" : "; ") + refused;
  }

  /// Returns where another function may start, inside or after this one.
  static std::uint64_t end_of(const CodeNames& names, const NamedCode* function) {
    const NamedCode* const next = function + 1;
    const bool is_last = next == names.functions().data() + names.functions().size();
    const std::uint64_t end = function->address + function->bytes;
    return is_last ? end : std::min(end, next->address);
  }

  result::CodeCounts code_;
  Lines lines_;
  Inlines inlines_;
  Additions additions_;
  std::vector<Object> objects_;
  std::map<std::string, std::size_t> sources_;
  std::map<std::int64_t, MadeCode> generated_code_;
  std::optional<std::uint32_t> stack_root_;
  const CodeNames* vdso_ = nullptr;
  std::map<std::uint32_t, std::optional<std::uint64_t>> vdso_bases_;  // by owner
  std::unordered_set<std::uint32_t> with_source_;                     // functions that may have a line
  struct {
    std::uint32_t file = ~0u;
    std::uint64_t begin = 0, end = 0;
    std::uint32_t function = 0;
  } last_;
  result::Profile result_;
};

}  // namespace

result::Profile resolve(result::CodeCounts code, result::Stat stat, Lines lines, Inlines inlines, Additions additions) {
  return Resolver(std::move(code), std::move(stat), std::move(lines), inlines, additions).resolve();
}

}  // namespace tally::profile
