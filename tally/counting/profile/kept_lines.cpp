#include "tally/counting/profile/kept_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "tally/engine/channel/record_key.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::profile {
namespace {

constexpr const char* prefix = "lines-";
constexpr std::uint64_t most_bytes = 16 << 20, most_bytes_of_all = 64 << 20;

/// The start of a file. Rows, units, the states of debug files and text follow. The text has strings that end with 0:
/// the identity, the paths of debug files, those of source files.
struct Header {
  std::uint64_t check;  // of all that follows
  std::uint64_t rows, units, debug_files, text_bytes;
};
struct StoredState {
  std::uint64_t device, inode, bytes, modified_s, modified_ns;
};

StoredState to_stored(const linux::FileState& state) {
  return {state.device, state.inode, state.bytes, static_cast<std::uint64_t>(state.modified_s), state.modified_ns};
}

linux::FileState from_stored(const StoredState& state) {
  return {state.device, state.inode, state.bytes, static_cast<std::int64_t>(state.modified_s),
          static_cast<std::uint32_t>(state.modified_ns)};
}

/// Reads objects and strings one after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::uint64_t> words)
      : rest_(reinterpret_cast<const char*>(words.data()), words.size_bytes()) {}

  /// Reads `count` objects; none if fewer are left.
  template <class T>
  std::vector<T> objects(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T)) return {};
    std::vector<T> made(count);
    if (count > 0) std::memcpy(made.data(), rest_.data(), count * sizeof(T));
    rest_.remove_prefix(count * sizeof(T));
    return made;
  }
  /// Reads the next string; nothing at the end.
  std::optional<std::string_view> text() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  void cut(std::uint64_t bytes) { rest_ = rest_.substr(0, bytes); }

 private:
  std::string_view rest_;
};

template <class T>
void append(std::string& to, const std::vector<T>& objects) {
  to.append(reinterpret_cast<const char*>(objects.data()), objects.size() * sizeof(T));
}

/// Returns the bytes in words, the last one filled with zeros.
std::vector<std::uint64_t> in_words(std::string_view text) {
  std::vector<std::uint64_t> words((text.size() + 7) / 8);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

/// Returns nullopt if this is an address that no program of this processor has.
std::optional<std::uint64_t> key_of(KeptLines::Query query, std::uint64_t address) {
  if (address >> 62 != 0) return std::nullopt;
  return address << 2 | static_cast<std::uint64_t>(query);
}

/// Where the lines of a file are kept, and what their checksum depends on.
struct KeptFile {
  std::string name;
  channel::RecordKey key;
  KeptFile(const linux::CacheKey& user, const std::string& identity) {
    const channel::MasterKey master{{user[0], user[1]}};
    // The number changes when lines are found in another way.
    const std::vector<std::uint64_t> words = in_words("3 " + identity);
    const std::uint64_t number = channel::siphash(master, words.data(), words.size());
    name = fmt::format("{}{:016x}", prefix, number);
    key = channel::RecordKey(master, number, false);
  }
  std::uint64_t check(std::span<const std::uint64_t> words) const {
    return key.check_of(words.data() + 1, words.size_bytes() - 8, channel::Sealed::record);
  }
};

}  // namespace

KeptLines::KeptLines(std::string identity) : identity_(std::move(identity)) {
  if (identity_.empty()) return;
  const auto folder = linux::CacheFolder::open(linux::cache_folder(), false);
  const auto key = folder ? folder->read_key() : Result<linux::CacheKey>(fail(folder.error()));
  if (!key) return;
  const KeptFile place(*key, identity_);
  const auto file = folder->open_file(place.name, false);
  if (!file || file->bytes > most_bytes || file->bytes < sizeof(Header) || file->bytes % 8 != 0) return;
  Words words(file->bytes / 8);
  if (!linux::read_at(file->file.get(), 0, words.data(), file->bytes) || words[0] != place.check(words)) return;
  if (read(words)) linux::note_cache_file_used(*file);
}

/// Returns false if the lines are of something else.
bool KeptLines::read(const Words& words) {
  Reader reader(words);
  const Header header = reader.objects<Header>(1).front();
  std::vector<Row> rows = reader.objects<Row>(header.rows);
  std::vector<Unit> units = reader.objects<Unit>(header.units);
  const auto states = reader.objects<StoredState>(header.debug_files);
  reader.cut(header.text_bytes);
  if (reader.text() != identity_) return false;
  for (const StoredState& then : states) {
    const auto path = reader.text();
    if (!path || linux::file_state(std::string(*path)) != from_stored(then)) return false;
  }
  while (const auto source = reader.text()) files_.emplace_back(*source);
  for (const std::string& file : files_) file_numbers_.emplace(file, static_cast<std::uint32_t>(file_numbers_.size()));
  read_ = std::move(rows);
  units_ = std::move(units);
  return true;
}

std::optional<KeptLines::Answer> KeptLines::find(Query query, std::uint64_t address) const {
  const auto key = key_of(query, address);
  if (!key) return std::nullopt;
  if (const auto added = added_.find(*key); added != added_.end()) return answer(added->second);
  const auto row =
      std::lower_bound(read_.begin(), read_.end(), *key, [](const Row& one, std::uint64_t of) { return one.key < of; });
  if (row == read_.end() || row->key != *key) return std::nullopt;
  return answer(*row);
}

KeptLines::Answer KeptLines::answer(const Row& row) const {
  Answer made;
  if (row.file < files_.size()) made.line = {files_[row.file], row.line, row.discriminator};
  if (row.unit < units_.size()) made.unit = units_[row.unit];
  return made;
}

void KeptLines::add(Query query, std::uint64_t address, const Answer& answer) {
  const auto key = key_of(query, address);
  if (identity_.empty() || !key) return;
  Row row{*key, none, 0, 0, none};
  if (answer.line) {
    row.line = answer.line->line;
    row.discriminator = answer.line->discriminator;
    row.file = number_of(answer.line->file);
  }
  if (answer.unit.bytes != 0) {
    // Functions of one unit follow one another.
    if (units_.empty() || units_.back() != answer.unit) units_.push_back(answer.unit);
    row.unit = static_cast<std::uint32_t>(units_.size() - 1);
  }
  added_.emplace(*key, row);
}

std::uint32_t KeptLines::number_of(std::string_view file) {
  if (const auto known = file_numbers_.find(file); known != file_numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(files_.size());
  file_numbers_.emplace(files_.emplace_back(file), number);
  return number;
}

KeptLines::Words KeptLines::written(const std::vector<DebugFile>& files, bool with_read) const {
  std::vector<Row> rows;
  if (with_read) rows = read_;
  for (const auto& [key, row] : added_) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
  std::vector<StoredState> states;
  std::string text = identity_ + '\0';
  for (const DebugFile& file : files) {
    states.push_back(to_stored(file.state));
    text += file.path + '\0';
  }
  for (const std::string& file : files_) text += file + '\0';
  std::string bytes;
  append(bytes, std::vector{Header{0, rows.size(), units_.size(), states.size(), text.size()}});
  append(bytes, rows);
  append(bytes, units_);
  append(bytes, states);
  return in_words(bytes + text);
}

void KeptLines::keep(const std::vector<DebugFile>& files) const {
  if (added_.empty()) return;
  Words words = written(files, true);
  if (words.size() * 8 > most_bytes) words = written(files, false);
  const std::uint64_t bytes = words.size() * 8;
  const auto folder = linux::CacheFolder::open(linux::cache_folder(), true);
  if (!folder || bytes > most_bytes) return;
  auto user = folder->read_key();
  if (!user) {
    const auto made = linux::make_cache_key();
    if (!made || !folder->keep_key(*made)) return;
    user = *made;
  }
  const KeptFile place(*user, identity_);
  words[0] = place.check(words);
  const auto file = folder->make_file(bytes);
  if (!file || !linux::has_space(*file, 0, bytes)) return;
  const std::string_view content(reinterpret_cast<const char*>(words.data()), bytes);
  if (linux::write_at(file->file.get(), 0, content) && folder->name_file(*file, place.name))
    linux::bound_cache_files(*folder, prefix, most_bytes_of_all);
}

}  // namespace tally::profile
