// Records in memory that outlives their process: the command that runs the program reads them if the program ends
// without C's exit handlers (_exit, a signal, execve).
//
// The memory is a file of the command's directory (linux/process/region_handoff.hpp), mapped in blocks that are never
// moved. A block begins with a BlockHead, and items follow. An item is complete before the block's size includes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/records/record_counts.hpp"
#include "tally/counting/records/region_record.hpp"
#include "tally/linux/process/region_handoff.hpp"
#include "tally/output/result/regions_result.hpp"

namespace tally::detail {

/// Records of one process. All threads may call all functions.
class RecordsMemory {
 public:
  /// Creates the file in the command's directory. Null if that is impossible; then records are in private memory.
  static std::unique_ptr<RecordsMemory> create(const std::filesystem::path& folder);

  /// The thread that a record belongs to, and its Counters object.
  struct Owner {
    std::uint64_t counters = 0;  ///< number of the Counters object
    std::uint64_t thread = 0;    ///< distinguishes its threads
    std::int32_t thread_number = 0;
    std::optional<std::int32_t> openmp_number = {};
  };
  struct NewRecord {
    Record* record = nullptr;          ///< null without memory
    Histograms* histograms = nullptr;  ///< of this record, if requested
  };
  /// `number`: Record::name.
  NewRecord add_record(const Owner& owner, std::string_view name, std::uint32_t number, bool with_histograms);

  /// Stores what the records of a Counters object mean, in place of what was stored before.
  void describe(std::uint64_t counters, const CountedEvents& counted, const result::ProgramRegions& program);

  /// Detaches a forked child from its parent's file: the memory keeps its content.
  void become_private();

  /// Call these around fork(2).
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

  /// Hands over the results that the command then uses in place of the records. Errors: cannot_write.
  Result<void> hand_over(std::string_view results) const { return shared_.hand_over(results); }

 private:
  struct Block {
    std::uint8_t* memory;
    std::size_t bytes, used;
  };
  explicit RecordsMemory(linux::SharedMemory shared) : shared_(std::move(shared)) {}
  std::uint8_t* reserve(std::size_t bytes);
  void publish(std::size_t bytes);

  linux::SharedMemory shared_;
  std::mutex lock_;
  std::vector<Block> blocks_;
};

/// Whether a text is the content of such a file.
bool are_records(std::string_view content);

/// Returns the regions of a process that ended without writing them. Errors: cannot_measure if the content is damaged,
/// or of another version of libtally.
Result<result::ProgramRegions> read_records(std::string_view content);

}  // namespace tally::detail
