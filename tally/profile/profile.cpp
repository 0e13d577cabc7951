#include "tally/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/profile/code_names.hpp"

namespace tally::profile {
namespace {

/// One file of code, and its names.
struct Object {
  std::unique_ptr<CodeNames> names;                            // null: it has none
  std::unordered_map<std::uint64_t, std::uint32_t> functions;  // by their addresses
  std::map<std::string_view, std::uint32_t> sources;
};

class Resolver {
 public:
  Resolver(result::CodeCounts code, result::Stat stat) : code_(std::move(code)) {
    made_.stat = std::move(stat);
    made_.owners = code_.owners;
    made_.repeated = code_.repeated;
    made_.unplaced = code_.unplaced;
    made_.sources.emplace_back();
    for (const result::CodeFile& file : code_.files) open(file);
  }

  result::Profile resolve() {
    for (const result::CodeRow& row : code_.rows) add(row);
    sort_rows();
    return std::move(made_);
  }

 private:
  void open(const result::CodeFile& file) {
    result::ProfileObject object;
    Object& opened = objects_.emplace_back();
    object.name = file.path.empty() ? "[memory without a file]" : printable(file.path);
    if (file.inode == 0) {
      object.why_nameless = file.path.empty() ? "code that was made while the program ran" : "it is no file";
    } else if (const std::string why = why_another(file); !why.empty()) {
      object.why_nameless = why;
    } else if (auto names = CodeNames::open(file.path); names) {
      opened.names = *std::move(names);
      object.has_lines = opened.names->has_lines();
    } else {
      object.why_nameless = names.error().message;
    }
    made_.objects.push_back(std::move(object));
  }

  /// Why what lies there now is not what ran.
  static std::string why_another(const result::CodeFile& file) {
    // A file system made of several shows other device numbers in the list of mappings: the number of the file will do.
    const auto now = linux::inode_of(file.path);
    if (!now) return "the file is not there any more";
    if (*now != file.inode) return "the file was replaced since";
    return "";
  }

  void add(const result::CodeRow& row) {
    Object& object = objects_[row.file];
    result::ProfileRow made;
    made.owner = row.owner;
    made.executions = row.executions;
    made.taken = row.taken;
    made.address = row.address;
    if (object.names != nullptr) {
      if (const auto address = object.names->address_of(row.address)) {
        made.address = *address;
        if (const auto line = object.names->line_of(*address)) {
          made.source = source(object, line->file);
          made.line = line->line;
        }
      }
    }
    made.function = function(row.file, object, made.address);
    result::ProfileFunction& of = made_.functions[made.function];
    if (of.address == made.address) {
      of.entered += row.executions;
      of.source = made.source;
      of.line = made.line;
    }
    made_.rows.push_back(made);
  }

  std::uint32_t source(Object& object, std::string_view file) {
    const auto [place, is_new] = object.sources.try_emplace(file, 0);
    if (is_new) {
      std::string name(file);
      const auto [known, unknown] = sources_.try_emplace(name, made_.sources.size());
      if (unknown) made_.sources.push_back(std::move(name));
      place->second = static_cast<std::uint32_t>(known->second);
    }
    return place->second;
  }

  std::uint32_t function(std::uint32_t file, Object& object, std::uint64_t address) {
    NamedCode code{"[no name]", 0, 0, true};
    if (object.names != nullptr) {
      const NamedCode* const found = function_of(*object.names, address);
      code = found != nullptr ? *found : object.names->section_of(address);
    }
    const auto [place, is_new] = object.functions.try_emplace(code.address, made_.functions.size());
    if (is_new) made_.functions.push_back({code.name, file, code.address, 0, 0, 0});
    return place->second;
  }

  void sort_rows() {
    std::vector<std::size_t> order(made_.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      const result::ProfileRow& row = made_.rows[i];
      return std::tuple(row.owner, row.function, row.address);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<result::ProfileRow> rows;
    const std::size_t events = code_.events.size();
    rows.reserve(order.size());
    made_.counts.reserve(code_.counts.size());
    for (const std::size_t i : order) {
      rows.push_back(made_.rows[i]);
      for (std::size_t e = 0; e < events; ++e) made_.counts.push_back(code_.counts[i * events + e]);
    }
    made_.rows = std::move(rows);
  }

  result::CodeCounts code_;
  std::vector<Object> objects_;
  std::map<std::string, std::size_t> sources_;
  result::Profile made_;
};

}  // namespace

result::Profile resolve(result::CodeCounts code, result::Stat stat) {
  return Resolver(std::move(code), std::move(stat)).resolve();
}

}  // namespace tally::profile
