// The code logs of a run: where each recorded address of code is, in a log or in one that it continues (a process that
// was forked).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tally/counting/backend/engine/profile/read_code_log.hpp"

namespace tally::backend::engine {

/// An address in a file, or in memory without one.
struct CodeLocation {
  std::uint32_t file;
  std::uint64_t address;
};

class CodeLogs {
 public:
  explicit CodeLogs(Effort& effort) : effort_(effort) {}

  /// Reads the logs from number 1 to `last`.
  void read(const Channel& shared, std::uint32_t last);
  const std::vector<std::unique_ptr<CodeLogReader>>& all() const { return logs_; }
  const CodeLogReader& log(std::uint32_t number) const { return *logs_[number - 1]; }
  CodeFiles& files() { return files_; }

  /// Returns the trace of a segment, and the log that contains it: this log, or one that it continues.
  std::pair<std::uint32_t, const LoggedTrace*> find(std::uint32_t number, std::uint32_t segment) const;

  /// Returns what `in_log` finds in a log or in one that it continues, and the number of that log; null if nothing.
  template <class InLog>
  auto find_in_logs(std::uint32_t number, InLog&& in_log) const
      -> std::pair<std::uint32_t, decltype(in_log(log(number), std::uint64_t{0}))> {
    std::uint64_t bytes = channel::code_log_bytes;
    while (number != 0 && number <= logs_.size()) {
      if (const auto match = in_log(log(number), bytes); match != nullptr) return {number, match};
      const channel::CodeLog& head = log(number).head();
      if (head.inherited >= number) break;
      bytes = head.inherited_bytes;
      number = head.inherited;
    }
    return {0, nullptr};
  }

  CodeLocation locate(std::uint32_t number, std::uint32_t mappings, std::uint64_t pc);
  /// The same in the mapping with this number if a log has it, because others may have been at this address.
  CodeLocation locate_in_mapping(std::uint32_t number, std::uint32_t mapping, std::uint32_t mappings, std::uint64_t pc);
  CodeLocation locate_site(std::uint32_t number, std::uint64_t site);

  using Branches = std::unordered_map<std::uint64_t, CodeLocation>;
  /// Returns the locations of a log's branches by models::site_of_branch(), which leaves out the upper bits of their
  /// addresses. Leaves out branches that it does not distinguish.
  const Branches& branches_of(std::uint32_t number);

  /// Returns the form with this number in a log, or in one that it continues; null if there is none.
  const channel::CodeForm* form_of(std::uint32_t number, std::uint32_t form) const;

  bool is_file(std::uint32_t file);

 private:
  std::uint32_t file_without_name();
  void add_branches(std::uint32_t number, const LoggedTrace& trace, Branches& all,
                    std::unordered_set<std::uint64_t>& equal);

  Effort& effort_;
  CodeFiles files_;
  std::vector<char> is_file_;
  std::vector<std::unique_ptr<CodeLogReader>> logs_;
  std::unordered_map<std::uint32_t, Branches> branches_;  // by log
};

}  // namespace tally::backend::engine
