// Where a result comes from: what was started, when, where, and at which commit.
#pragma once

#include <string>
#include <vector>

namespace tally::result {

/// Empty values are unknown.
struct Provenance {
  std::string date;                       ///< when tally started: RFC 3339, in UTC
  std::string host;                       ///< name of the machine
  std::string label;                      ///< chosen by the user
  std::vector<std::string> command_line;  ///< of tally itself
  std::string commit;                     ///< of the git repository around the working directory, in hexadecimal
  std::string tally_version;
  bool operator==(const Provenance&) const = default;
  bool is_known() const { return *this != Provenance{}; }
};

}  // namespace tally::result
