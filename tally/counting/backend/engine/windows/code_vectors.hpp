// Basic-block vectors: computes which blocks a thread executed in a window from the segments that it counted.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tally/counting/backend/engine/profile/read_code_log.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::backend::engine {

/// The blocks of all processes of a run, numbered from 1 in the order in which they are found. A block is a sequence of
/// instructions up to a branch. An instruction belongs to the first block in which it was found.
class CodeBlocks {
 public:
  explicit CodeBlocks(const Channel& shared) : shared_(shared) {}

  /// A trace of a log, and the block of each of its instructions.
  struct Trace {
    std::vector<std::uint64_t> record;  ///< a channel::CodeTrace
    std::uint64_t at = 0;               ///< offset of the record in its log
    std::vector<std::uint32_t> blocks = {};
    const channel::CodeTrace& head() const { return *reinterpret_cast<const channel::CodeTrace*>(record.data()); }
    const channel::CodePlace* places() const { return reinterpret_cast<const channel::CodePlace*>(&head() + 1); }
  };

  /// Returns the trace of a segment in a log (its number); null if there is none. The pointer stays valid.
  const Trace* trace_of(std::uint32_t log, std::uint32_t segment);
  /// Returns the process of a log; nothing if there is none.
  std::optional<std::uint32_t> process_of(std::uint32_t log);
  /// Returns the block of an instruction in this log's process.
  std::uint32_t block_of(std::uint32_t log, std::uint64_t pc);

 private:
  struct Log : LogProgress {
    std::deque<Trace> traces;
    std::vector<const Trace*> by_segment;  // its own traces, and requested ones of other logs; null: not found yet
  };
  const Trace* cached(const Log& log, std::uint32_t segment) const;
  const Trace* find(std::uint32_t log, std::uint32_t segment);
  Log* read_on(std::uint32_t number);
  void add_trace(const channel::CodeRecord& record, std::uint64_t at, std::uint64_t place, Log& log);
  void find_blocks(std::uint32_t process, Trace& trace);

  const Channel& shared_;
  std::map<std::uint32_t, Log> logs_;                                                  // by number
  std::map<std::uint32_t, std::unordered_map<std::uint64_t, std::uint32_t>> numbers_;  // block numbers, by process
  std::uint32_t blocks_ = 0;
};

/// Reads the words of rows in parts: a part may end between a correction and its address.
class WordReader {
 public:
  /// Calls `counted(segment, times)` and `corrected(pc, times)` for the words, in order.
  template <class Counted, class Corrected>
  void read(std::span<const std::uint64_t> words, Counted&& counted, Corrected&& corrected) {
    for (const std::uint64_t word : words) {
      const auto segment = static_cast<std::uint32_t>(word), times = static_cast<std::uint32_t>(word >> 32);
      if (is_address_) {
        corrected(word, correction_);
        is_address_ = false;
      } else if (segment == channel::word_corrects) {
        correction_ = static_cast<std::int32_t>(times);
        is_address_ = true;
      } else {
        counted(segment, times);
      }
    }
  }

 private:
  std::int32_t correction_ = 0;
  bool is_address_ = false;  // the next word is the address of a correction
};

/// The vector of one thread, added up from its rows.
class CodeVector {
 public:
  /// Adds the words of a row.
  void add(CodeBlocks& blocks, std::uint32_t log, std::span<const std::uint64_t> words);
  /// Returns the window's vector: instructions executed by block, by rising numbers. Then starts the next window.
  std::vector<result::BlockCount> take();

 private:
  void end_trace();
  void add(const CodeBlocks::Trace& trace, const std::vector<std::uint64_t>& counters);
  void add(std::uint32_t block, std::int64_t instructions);

  std::vector<std::int64_t> counts_;          // by block
  std::vector<std::uint32_t> touched_;        // blocks that have been added to
  const CodeBlocks::Trace* trace_ = nullptr;  // the trace of `counters_`
  std::vector<std::uint64_t> counters_;
  WordReader reader_;
};

}  // namespace tally::backend::engine
