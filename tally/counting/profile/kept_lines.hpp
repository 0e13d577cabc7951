// Source lines of code addresses, kept from one run to the next: debug information takes long to unpack and read.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tally/counting/profile/code_names.hpp"
#include "tally/linux/files/file_state.hpp"

namespace tally::profile {

/// A file with debug information, as it was when it was read.
struct DebugFile {
  std::string path;
  linux::FileState state;
  auto operator<=>(const DebugFile&) const = default;
};

/// The source lines of one program or library, in a file of the cache directory (linux/files/cache_file.hpp), whose
/// name and keyed checksum depend on `identity`. A file that is damaged, or that others can write, is ignored and
/// replaced. After any error, tally works without it.
class KeptLines {
 public:
  /// The queries of CodeNames. If a unit is too large to read its declarations, the beginning of a function is its
  /// first row in the line table.
  enum class Query : std::uint64_t { declaration, first_row, instruction };

  /// A compilation unit in the debug information; without bytes: none.
  struct Unit {
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const Unit&) const = default;
  };
  struct Answer {
    std::optional<SourceLine> line;  ///< from find(): valid as long as the KeptLines
    Unit unit;                       ///< for functions
  };

  /// Keeps nothing.
  KeptLines() = default;
  /// Reads the lines of the file that `identity` describes: its build, its debug file, and the program that reads it.
  /// Has none if nothing usable is stored, or if a debug file has changed since.
  explicit KeptLines(std::string identity);

  /// Returns the answer to a query of this run or an earlier one; nothing if there was none.
  std::optional<Answer> find(Query query, std::uint64_t address) const;
  void add(Query query, std::uint64_t address, const Answer& answer);

  /// Stores what was added, and what was read if both fit in 16 MB. `files`: the debug files it was read from. The
  /// files of all programs together take at most 64 MB of disk: removes the least recently used.
  void keep(const std::vector<DebugFile>& files) const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Row {
    std::uint64_t key;                        // address and query
    std::uint32_t file, line, discriminator;  // `file`: an index in files_, or none
    std::uint32_t unit;                       // an index in units_, or none
  };
  using Words = std::vector<std::uint64_t>;

  bool read(const Words& stored);
  Words written(const std::vector<DebugFile>& files, bool with_read) const;
  Answer answer(const Row& row) const;
  std::uint32_t number_of(std::string_view file);

  std::string identity_;
  std::vector<Row> read_;  // by rising key
  std::unordered_map<std::uint64_t, Row> added_;
  std::deque<std::string> files_;  // never moved: answers refer to them
  std::unordered_map<std::string_view, std::uint32_t> file_numbers_;
  std::vector<Unit> units_;
};

}  // namespace tally::profile
