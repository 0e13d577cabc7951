#include "tally/counting/backend/engine/regions/resolved_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "tally/core/base/clone_name.hpp"
#include "tally/core/base/pattern.hpp"
#include "tally/core/base/text.hpp"
#include "tally/engine/channel/python_layout.hpp"
#include "tally/linux/files/code_files.hpp"

namespace tally::backend::engine {
namespace {

// Functions of C libraries and the unwinder that leave their callers without a return of these.
constexpr const char* leaving_functions[] = {"longjmp",
                                             "_longjmp",
                                             "__longjmp",
                                             "siglongjmp",
                                             "__libc_longjmp",
                                             "__libc_siglongjmp",
                                             "__longjmp_chk",
                                             "____longjmp_chk",
                                             "_Unwind_RaiseException",
                                             "_Unwind_Resume",
                                             "_Unwind_Resume_or_Rethrow",
                                             "_Unwind_ForcedUnwind"};

constexpr const char* too_many_toggles =
    "--toggle-collect matches more than 255 functions: the file does not have the calls of the others";
constexpr const char* too_many_entered =
    "--toggle-collect, --fn-skip and --obj-skip match more than 255 functions: tally does not see when a jump enters "
    "the others";

/// Whether a pattern matches a function's name. Copies that the compiler made have the names of their function, too.
bool is_matched(const std::string& pattern, std::string_view symbol) {
  if (matches_pattern(pattern, symbol) || matches_pattern(pattern, symbol::demangled(symbol))) return true;
  const CloneName clone = clone_name(symbol);
  return clone.kind != CloneKind::none && clone.kind != CloneKind::fragment &&
         (matches_pattern(pattern, clone.function) || matches_pattern(pattern, symbol::demangled(clone.function)));
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// It runs before the libraries are mapped, and has functions of the same names as the C library. So the names of those
/// need the file's: "ld-linux-x86-64.so.2:strcmp".
bool is_dynamic_linker(const std::string& file) { return file.starts_with("ld-"); }

/// The C library of a dynamic linker is next to it.
std::string c_library_of(const std::string& linker) { return linker.substr(0, linker.rfind('/') + 1) + "libc.so.6"; }

std::string stripped_hint(const std::string& file) {
  return fmt::format("install the debug symbols of {0}, or name the function as `tally profile` does: {0}+0xADDRESS",
                     printable(file));
}

}  // namespace

Marker::Python Marker::python_of(std::string_view file) {
  const auto version = symbol::find_exported(file, "Py_Version");
  const auto evaluate = symbol::find_exported(file, "_PyEval_EvalFrameDefault");
  Python python;
  if (!version || version->content.size() != sizeof(std::uint64_t) || !evaluate) return python;
  std::uint64_t number = 0;
  std::memcpy(&number, version->content.data(), sizeof number);
  python.version = static_cast<std::uint32_t>(number);
  const auto* const layout =
      std::ranges::find(channel::python::layouts, python.version >> 16, &channel::python::Layout::version);
  if (layout == std::end(channel::python::layouts) || evaluate->bytes > (1u << 20)) return python;
  python.layout = static_cast<std::uint32_t>(layout - std::begin(channel::python::layouts));
  python.address = evaluate->address;
  python.bytes = static_cast<std::uint32_t>(evaluate->bytes);
  return python;
}

Marker::Marker(const Order& order) : find_functions_(order.find_functions), has_python_(order.has_python()) {
  for (std::uint32_t i = 0; i < order.code_regions().size(); ++i) {
    const CodeRegion& mark = order.code_regions()[i];
    if (mark.trap != CodeRegion::Trap::none) continue;
    any_function_ = any_function_ || !mark.to;
    targets_.push_back({mark.from.place, mark.from.text, i,
                        static_cast<std::uint32_t>(mark.to ? channel::mark_from : channel::mark_function)});
    if (mark.to) targets_.push_back({mark.to->place, mark.to->text, i, channel::mark_to});
  }
  if (order.parts() != nullptr) {
    any_function_ = !order.parts()->toggles.empty();
    for (const std::string& pattern : order.parts()->toggles)
      targets_.push_back({.place = {.symbol = pattern}, .text = pattern, .mark = 0, .role = channel::mark_toggles});
  }
  if (order.has_calls()) {
    for (const std::string& pattern : order.profile()->entered)
      targets_.push_back({.place = {.symbol = pattern}, .text = pattern, .mark = 0, .role = channel::mark_entered});
    for (const std::string& path : order.profile()->entered_files)
      targets_.push_back({.place = {.file = file_name(path)}, .text = "*", .mark = 0, .role = channel::mark_entered});
  }
  if (!order.has_window_bounds()) return;
  const WindowBounds& bounds = order.windows()->bounds;
  if (bounds.start) targets_.push_back({bounds.start->place, bounds.start->text, 0, channel::mark_starts});
  if (bounds.stop) targets_.push_back({bounds.stop->place, bounds.stop->text, 0, channel::mark_stops});
}

void Marker::find_marks(const symbol::Elf& elf, const std::string& file, const Target& target, std::size_t place,
                        Module& in) const {
  if (!symbol::is_file(target.place, in.name)) {
    // What looks like a file may be part of a name, as in Go's "type:.eq.main.T".
    for (const symbol::Function& function : elf.functions)
      if (!function.chosen_late && function.name == target.text) in.addresses[place] = {function.address};
    return;
  }
  if (target.is_pattern()) {
    for (const bool local : {false, true})
      for (const symbol::Function& function : elf.functions)
        if (function.local == local && !function.chosen_late && is_matched(target.text, function.name))
          in.addresses[place].push_back(function.address);
    return;
  }
  if (target.place.symbol.empty()) {
    const auto has_address = [&](const symbol::Segment& segment) {
      return target.place.offset - segment.address < segment.bytes;
    };
    if (std::any_of(elf.executable.begin(), elf.executable.end(), has_address))
      in.addresses[place] = {target.place.offset};
    else
      in.problems[place] =
          Error{Code::bad_usage,
                fmt::format("'{}' is not an address of code in {}", printable(target.text), printable(in.name)),
                "use an address as `objdump -d` prints it", 0};
    return;
  }
  auto found = symbol::find(elf, target.place.symbol);
  if (found.empty() && symbol::is_address_in(target.place, in.name, elf)) in.addresses[place] = {target.place.offset};
  if (found.empty() && in.addresses[place].empty() && find_functions_ && !target.found) {
    const bool is_of_c_library = is_dynamic_linker(in.name) && target.place.file.empty() &&
                                 !find_functions_(c_library_of(file), target.place.symbol).empty();
    if (!is_of_c_library) found = find_functions_(file, target.place.symbol);
  }
  // An older version of the same name may be an ordinary function (memcpy of glibc), which no program calls.
  if (std::any_of(found.begin(), found.end(), [](const symbol::SymbolMatch& match) { return match.chosen_late; })) {
    in.problems[place] =
        Error{Code::bad_usage,
              fmt::format("'{}' in {} is not one function: the library chooses among several at startup (ifunc)",
                          printable(target.text), printable(in.name)),
              "name the function that calls it", 0};
    return;
  }
  in.problems[place] = symbol::ambiguity(found, target.place.symbol, in.name);
  if (in.problems[place]) return;
  // An offset is of the function itself: its copies have other instructions.
  for (const symbol::SymbolMatch& symbol_match : found)
    if (symbol_match.clone_of == 0 || target.place.offset == 0)
      in.addresses[place].push_back(symbol_match.address + target.place.offset);
}

const Marker::Module& Marker::module(const std::string& path, pid_t process) {
  // Programs of one run may have different files at one path: after a rebuild, or with another root directory.
  const std::string root = process == 0 ? "" : fmt::format("/proc/{}/root", process);
  ModuleKey key{path, linux::file_state(root + path)};
  const auto known = modules_.find(key);
  if (known != modules_.end()) return known->second;
  Module made;
  made.path = path;
  made.name = file_name(path);
  made.order = modules_.size();
  made.addresses.resize(targets_.size());
  made.problems.resize(targets_.size());
  const auto file = linux::FileBytes::of(path, process);
  const auto elf = file ? symbol::read_elf(file->bytes()) : fail(file.error());
  if (elf) {
    made.executable = elf->executable;
    made.functions = elf->functions.size();
    made.stripped = elf->stripped;
    made.dynamic = elf->dynamic;
    for (std::size_t i = 0; i < targets_.size(); ++i) find_marks(*elf, root + path, targets_[i], i, made);
    for (const symbol::Function& function : elf->functions) {
      const auto is = [&](const char* name) { return function.name == name; };
      if (any_function_ && std::any_of(std::begin(leaving_functions), std::end(leaving_functions), is))
        made.leave.push_back(function.address);
    }
    if (has_python_) made.python = python_of(file->bytes());
    std::sort(made.leave.begin(), made.leave.end());
    made.leave.erase(std::unique(made.leave.begin(), made.leave.end()), made.leave.end());
  } else {
    made.trouble = elf.error().message;
    made.is_code = !file;
  }
  return modules_.emplace(std::move(key), std::move(made)).first->second;
}

/// An address without a file is in the program itself.
bool Marker::is_in(const Target& target, const Module& in, const std::string& program) const {
  return !target.place.symbol.empty() || !target.place.file.empty() || in.path == program;
}

Result<void> Marker::check_program(const std::string& path) {
  const Module& program = module(linux::whole_path(path), 0);
  if (!program.trouble.empty()) return {};  // a script, or a file that the kernel will refuse
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    if (program.problems[i]) return fail(*program.problems[i]);
    if (target.is_pattern() || program.dynamic || !program.addresses[i].empty()) continue;
    const auto near = similar_names(target);
    return fail(
        Code::bad_usage,
        fmt::format("no function '{}' in {}, which loads no libraries", printable(target.text), searched_files()),
        !near.empty()      ? "did you mean " + join(near, " or ") + "?"
        : program.stripped ? stripped_hint(program.name)
                           : "`nm -C` lists the functions of a program");
  }
  return {};
}

void Marker::note(const std::string& text) {
  if (std::find(notices_.begin(), notices_.end(), text) == notices_.end()) notices_.push_back(text);
}

channel::MarkPoints Marker::points_of(pid_t process) {
  channel::MarkPoints points{};
  const auto add = [&](std::uint64_t address, std::uint32_t mark, std::uint32_t role) {
    if (points.count < std::size(points.point)) points.point[points.count++] = {address, mark, role};
  };
  const auto add_matching = [&](std::uint64_t address, std::uint32_t role) {
    const auto end = points.point + points.count;
    if (std::any_of(points.point, end, [&](const channel::MarkPoint& point) { return point.address == address; }))
      return;
    if (points.count == std::size(points.point))
      note(role == channel::mark_toggles ? too_many_toggles : too_many_entered);
    add(address, 0, role);
  };
  struct Mapped {
    const Module* module;
    std::uint64_t bias;
  };
  const std::string program = linux::program_of(process);
  std::vector<Mapped> mapped;
  for (const linux::CodeMapping& mapping : linux::code_mappings(process)) {
    if (mapping.inode == 0) continue;
    const Module& file = module(mapping.path, process);
    const auto bias = symbol::bias_of({.functions = {}, .executable = file.executable}, mapping.offset, mapping.start);
    const auto same = [&](const Mapped& one) { return one.module == &file && one.bias == *bias; };
    if (bias && std::none_of(mapped.begin(), mapped.end(), same)) mapped.push_back({&file, *bias});
  }
  // Functions of the program have priority over those of libraries; libraries are in the order of their appearance.
  std::sort(mapped.begin(), mapped.end(), [&](const Mapped& a, const Mapped& b) {
    const bool a_is_program = a.module->path == program, b_is_program = b.module->path == program;
    return a_is_program != b_is_program ? a_is_program : a.module->order < b.module->order;
  });
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    Target& target = targets_[i];
    const Module* taken = nullptr;
    for (const Mapped& one : mapped) {
      if (!is_in(target, *one.module, program)) continue;
      if (!target.problem) target.problem = one.module->problems[i];
      const auto& addresses = one.module->addresses[i];
      if (addresses.empty() || taken == one.module) continue;
      if (target.is_pattern()) {
        for (const std::uint64_t address : addresses) add_matching(address + one.bias, target.role);
        continue;
      }
      if (taken != nullptr) {
        // The dynamic linker has copies of many functions.
        if (is_dynamic_linker(one.module->name)) continue;
        note(fmt::format("'{}' is a function of {} and of {}: tally counts the first one ({}:{} names the other)",
                         printable(target.text), printable(taken->name), printable(one.module->name),
                         printable(one.module->name), printable(target.text)));
        continue;
      }
      taken = one.module;
      target.found = true;
      for (const std::uint64_t address : addresses) add(address + one.bias, target.mark, target.role);
    }
  }
  note_aliases(points);
  for (const Mapped& one : mapped) {
    if (one.module->python.version == 0) continue;
    python_versions_.insert(one.module->python.version);
    if (one.module->python.bytes != 0)
      add(one.module->python.address + one.bias,
          one.module->python.bytes | one.module->python.layout << channel::python_size_bits, channel::mark_python);
  }
  for (const Mapped& one : mapped) {
    for (const std::uint64_t address : one.module->leave) add(address + one.bias, 0, channel::mark_leaves);
  }
  return points;
}

/// Two names of one address are one function, which counts for both.
void Marker::note_aliases(const channel::MarkPoints& points) {
  for (std::uint32_t i = 0; i < points.count; ++i)
    for (std::uint32_t k = i + 1; k < points.count; ++k) {
      const channel::MarkPoint &one = points.point[i], &other = points.point[k];
      if (one.address != other.address || one.mark == other.mark || one.role != channel::mark_function ||
          other.role != channel::mark_function)
        continue;
      const auto text_of = [&](std::uint32_t mark) {
        const auto of_mark = [&](const Target& target) { return target.mark == mark; };
        const auto found = std::find_if(targets_.begin(), targets_.end(), of_mark);
        return printable(found == targets_.end() ? "" : found->text);
      };
      note(fmt::format("'{}' and '{}' are names of one address: they count the same calls", text_of(one.mark),
                       text_of(other.mark)));
    }
}

std::vector<const Marker::Module*> Marker::by_order() const {
  std::vector<const Module*> files;
  for (const auto& [key, module] : modules_) {
    if (module.is_code) files.push_back(&module);
  }
  std::sort(files.begin(), files.end(), [](const Module* a, const Module* b) { return a->order < b->order; });
  return files;
}

std::string Marker::searched_files() const {
  // The program, and files that could not be read; the number of the others.
  std::vector<std::string> parts;
  std::size_t others = 0;
  for (const Module* one : by_order()) {
    if (!parts.empty() && one->trouble.empty()) {
      ++others;
      continue;
    }
    const std::string state =
        !one->trouble.empty() ? one->trouble
        : one->stripped       ? fmt::format("stripped: {} names are left", thousands(static_cast<long>(one->functions)))
                              : plural(static_cast<long>(one->functions), "function", "functions");
    parts.push_back(fmt::format("{} ({})", printable(one->path), state));
  }
  if (others > 0) parts.push_back(plural(static_cast<long>(others), "other file", "other files"));
  return join(parts, ", ");
}

std::vector<std::string> Marker::similar_names(const Target& target) const {
  constexpr std::size_t most = 100'000;
  // Compared without scopes, unless the user gave one; the program's names come first.
  const std::string word = symbol::without_parameters(target.place.symbol);
  const bool scoped = word.find("::") != std::string::npos;
  std::vector<std::string> candidates;
  std::map<std::string, std::string> whole;
  for (const Module* module : by_order()) {
    if (!symbol::is_file(target.place, module->name)) continue;
    const auto file = linux::FileBytes::of(module->path);
    const auto elf = file ? symbol::read_elf(file->bytes()) : fail(file.error());
    if (!elf) continue;
    for (const symbol::Function& function : elf->functions) {
      if (candidates.size() == most) break;
      std::string name = symbol::without_parameters(symbol::demangled(function.name));
      const std::size_t scope = scoped || name.find('<') != std::string::npos ? std::string::npos : name.rfind("::");
      std::string key = scope == std::string::npos ? name : name.substr(scope + 2);
      if (whole.try_emplace(key, std::move(name)).second) candidates.push_back(std::move(key));
    }
  }
  std::vector<std::string> names;
  for (const std::string& key : nearest(word, candidates)) names.push_back(whole.at(key));
  return names;
}

std::vector<std::string> Marker::missing() const {
  std::vector<std::string> notes;
  for (const Target& target : targets_) {
    if (target.found || target.is_pattern()) continue;
    if (target.problem) {
      const auto lines = split(target.problem->message, '\n');
      std::vector<std::string> parts;
      for (const std::string& line : lines) parts.push_back(trimmed(line));
      notes.push_back(fmt::format("{} ({})", join(parts, "; "), target.problem->hint));
      continue;
    }
    if (modules_.empty()) {
      notes.push_back(
          fmt::format("no program ran under the engine, so '{}' was not searched for", printable(target.text)));
      continue;
    }
    if (const std::string& name = target.place.symbol; name.starts_with('[') && name.ends_with(']')) {
      notes.push_back(
          fmt::format("'{}' is code outside of known functions, which has no entry: --from and --to accept addresses",
                      printable(target.text)));
      continue;
    }
    const auto files = by_order();
    const auto linker = std::find_if(files.begin(), files.end(), [&](const Module* one) {
      return is_dynamic_linker(one->name) && target.place.file.empty() && find_functions_ &&
             !target.place.symbol.empty() && !find_functions_(one->path, target.place.symbol).empty();
    });
    if (linker != files.end()) {
      notes.push_back(fmt::format("'{}' is only a function of the dynamic linker: name it '{}:{}'",
                                  printable(target.text), printable((*linker)->name), printable(target.text)));
      continue;
    }
    const auto near = similar_names(target);
    notes.push_back(
        fmt::format("no function '{}' in the code that was mapped: {}{}", printable(target.text), searched_files(),
                    !near.empty()                               ? "; did you mean " + join(near, " or ") + "?"
                    : !files.empty() && files.front()->stripped ? "; " + stripped_hint(files.front()->name)
                    : target.text.find(',') != std::string::npos && target.text.find('(') == std::string::npos
                        ? "; name one function with each --function"
                        : "; it may be inlined: `tally profile --inlines` lists inlined functions"));
  }
  return notes;
}

}  // namespace tally::backend::engine
