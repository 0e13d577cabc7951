// Reads the code log of one process (tally/engine/channel/code_log_layout.hpp); invalid contents cause no reads outside
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::engine {

/// A mapping of code. `file` is its number in CodeFiles.
struct CodeMapping {
  std::uint64_t start, end, offset;
  std::uint32_t file;
  std::uint32_t number;  ///< channel::CodeMapping::number

  bool has(std::uint64_t pc) const { return pc - start < end - start; }
};

/// A trace of a log, and how many of the log's mappings precede it.
struct LoggedTrace {
  const channel::CodeTrace* record;
  std::uint32_t mappings;
};

/// The files of all logs, each once.
class CodeFiles {
 public:
  std::uint32_t number(const channel::CodeMapping& m);
  const result::CodeFile& at(std::uint32_t number) const { return files_[number]; }
  std::vector<result::CodeFile> take() {
    return {std::make_move_iterator(files_.begin()), std::make_move_iterator(files_.end())};
  }

 private:
  /// Path, inode, device, whether it was overwritten, and what distinguishes contents.
  using Key = std::tuple<std::string, std::uint64_t, std::uint32_t, std::uint32_t, bool, std::uint64_t, std::string>;
  std::map<Key, std::size_t> numbers_;
  std::deque<result::CodeFile> files_;  // a deque, so that references stay valid
};

/// Returns the rows of a table in the channel that are in written pages. Empty for a table without any, as most are,
/// and if it cannot be read.
template <class Row>
std::vector<Row> read_table(int file, std::uint64_t begin, std::uint64_t limit) {
  const std::uint64_t most = (limit - begin) / sizeof(Row);
  std::vector<Row> table;
  for (std::uint64_t next = 0; next < most;) {
    const linux::DataRange data = linux::next_data(file, begin + next * sizeof(Row), limit);
    const std::uint64_t first = std::max(next, (data.begin - begin) / sizeof(Row)),
                        end = std::min(most, (data.end - begin + sizeof(Row) - 1) / sizeof(Row));
    if (first >= end) break;
    const std::size_t known = table.size();
    table.resize(known + end - first);
    if (!linux::read_at(file, begin + first * sizeof(Row), &table[known], (end - first) * sizeof(Row))) return {};
    next = end;
  }
  return table;
}

/// How far a growing log has been read. `at`: the offset of its next record.
struct LogProgress {
  channel::CodeLog head{};
  std::uint64_t at = channel::code_records_at;
};

/// Reads the header of a log again, and calls `each(record, at, place)` for every new record, with its offset in the
/// log and in the file. An incomplete record is read the next time. Returns false if there is no such log.
template <class Each>
bool read_on(int file, std::uint32_t number, LogProgress& log, Each&& each) {
  if (!linux::read_at(file, channel::code_log_offset(number), &log.head, sizeof log.head)) return false;
  log.head.bytes = std::min(log.head.bytes, channel::code_log_bytes);
  while (log.at + sizeof(channel::CodeRecord) <= log.head.bytes) {
    const std::uint64_t at = log.at, place = channel::code_log_offset(number) + at;
    channel::CodeRecord record{};
    if (!linux::read_at(file, place, &record, sizeof record) || record.bytes < sizeof record || record.bytes % 8 != 0 ||
        record.bytes > log.head.bytes - at || record.kind == channel::CodeRecordKind::none)
      break;
    log.at += record.bytes;
    each(record, at, place);
  }
  return true;
}

class CodeLogReader {
 public:
  struct Counts {
    std::uint32_t process, thread, area, part;
  };

  /// Reads the log with this number; empty if it cannot be read or `effort` is spent. `effort` must outlive it.
  CodeLogReader(const Channel& shared, std::uint32_t number, CodeFiles& files, Effort& effort);

  const channel::CodeLog& head() const { return head_; }
  const std::vector<Counts>& counts() const { return counts_; }
  /// Returns areas of CallNodes.
  const std::vector<Counts>& calls() const { return calls_; }
  /// Returns areas of CodeValues.
  const std::vector<Counts>& statistics() const { return values_; }
  /// Returns areas of PythonTables.
  const std::vector<Counts>& python() const { return python_; }
  /// Returns the log's own form with this number; null if it has none.
  const channel::CodeForm* form(std::uint32_t number) const;
  /// Returns processes that run this process's code.
  const std::vector<std::uint32_t>& shared_with() const { return shared_with_; }

  /// Returns the log's own traces.
  const std::vector<LoggedTrace>& traces() const { return traces_; }

  /// Returns the log's own trace with this segment, if its record is below `bytes` of the log; else null.
  const LoggedTrace* trace_of(std::uint32_t segment, std::uint64_t bytes) const;

  /// Returns the log's own jump with this counter, if its record is below `bytes` of the log; else null.
  const channel::CodeJump* jump_of(std::uint32_t segment, std::uint64_t bytes) const;

  /// Returns the mapping of an address among the first `mappings` of the log; null if there is none.
  const CodeMapping* mapping_of(std::uint64_t pc, std::uint32_t mappings) const;
  /// The same, among those with this number.
  const CodeMapping* numbered_mapping(std::uint64_t pc, std::uint32_t number, std::uint32_t mappings) const;
  std::uint32_t mappings_below(std::uint64_t bytes) const;
  std::uint32_t all_mappings() const { return static_cast<std::uint32_t>(mappings_.size()); }

  const std::vector<channel::CodeCorrection>& corrections() const { return corrections_; }

 private:
  const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(memory_.get()); }
  std::uint64_t offset_of(const void* record) const {
    return static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(record) - bytes()) + channel::code_records_at;
  }
  void read(CodeFiles& files);
  void read_corrections(const Channel& shared, std::uint32_t number);
  void add_mapping(const channel::CodeMapping* m, std::uint64_t at, CodeFiles& files);
  void add_trace(const channel::CodeTrace* t);
  void add_counts(const channel::CodeCounts* c);
  void add_form(const channel::CodeForm* f);

  Effort& effort_;
  channel::CodeLog head_{};
  std::unique_ptr<std::uint64_t[]> memory_;  // its records
  std::uint64_t bytes_ = 0;
  std::vector<channel::CodeCorrection> corrections_;
  std::vector<LoggedTrace> traces_;  // by rising numbers
  mutable std::size_t next_ = 0;     // after the one that was found last
  std::vector<CodeMapping> mappings_;
  std::vector<std::uint64_t> mapping_offsets_;
  std::vector<Counts> counts_, calls_, values_, python_;
  std::vector<std::uint32_t> shared_with_;
  std::vector<const channel::CodeForm*> forms_;  // by number
  std::vector<const channel::CodeJump*> jumps_;  // by rising numbers
};

}  // namespace tally::backend::engine
