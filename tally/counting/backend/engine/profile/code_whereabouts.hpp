// Finds the file of an address from the code logs, while programs run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tally/counting/backend/engine/profile/read_code_log.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// A location in a file, or in memory without one.
struct CodePlaceInFile {
  const result::CodeFile* file;  ///< valid until the next call
  std::uint64_t offset;
};

/// Reads each log once, as far as it is written.
class CodeLocator {
 public:
  explicit CodeLocator(const Channel& shared) : shared_(shared) {}

  /// Returns where an address of a process (the index of its record) is mapped from. Returns nothing if the logs do not
  /// have it, or have two files for it: it is then unknown which was mapped at that moment.
  std::optional<CodePlaceInFile> find(std::uint32_t process, std::uint64_t address);

  /// Reads new records of a process's logs: find() uses everything that its engine has logged before.
  void refresh(std::uint32_t process);

 private:
  struct Log : LogProgress {
    std::vector<std::pair<std::uint64_t, CodeMapping>> mappings;  // with the offset of the record
  };
  void read_on(std::uint32_t number, Log& log);
  void add_sharing(std::uint32_t number, const channel::CodeRecord& record, std::uint64_t place);
  void add_mapping(const channel::CodeRecord& record, std::uint64_t at, std::uint64_t place, Log& log);

  const Channel& shared_;
  CodeFiles files_;
  std::map<std::uint32_t, Log> logs_;                               // by number
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_process_;  // numbers of its logs
  std::uint32_t last_ = 0;
};

}  // namespace tally::backend::engine
