// Where code lies, read from the logs of code while programs run: of which file an address is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tally/counting/backend/engine/profile/code_log.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// A place in a file, or in memory without one.
struct CodePlaceInFile {
  const result::CodeFile* file;  ///< valid until the next call
  std::uint64_t offset;
};

/// Reads each log once, as far as it is written.
class CodeWhereabouts {
 public:
  explicit CodeWhereabouts(const Channel& shared) : shared_(shared) {}

  /// Where an address of a process (number of its record) is mapped from. Nothing where the logs do not say, and where
  /// they say two things: which of them was there at that moment is not known.
  std::optional<CodePlaceInFile> find(std::uint32_t process, std::uint64_t address);

  /// Reads on in the logs of a process: what its engine has logged before this is found after it.
  void refresh(std::uint32_t process);

 private:
  struct Log : LogProgress {
    std::vector<std::pair<std::uint64_t, CodeMapping>> mappings;  // with the place of the record
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
