#include "tally/tools/history/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/base/unit_names.hpp"
#include "tally/linux/files/file_state.hpp"

namespace tally::history {
namespace {

using Json = nlohmann::ordered_json;

constexpr int application_id = 0x74616c79;  // "taly", in the header of the file
constexpr int version = 1;
constexpr std::chrono::milliseconds patience = std::chrono::minutes(1);

// docs/reference/history.md describes the tables.
constexpr const char* tables = R"(
CREATE TABLE result (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  date TEXT NOT NULL,
  host TEXT NOT NULL,
  processor TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  label TEXT NOT NULL,
  command_line TEXT NOT NULL,
  tally TEXT NOT NULL,
  document TEXT NOT NULL);
CREATE INDEX result_by_date ON result(date);
CREATE TABLE count (
  result INTEGER NOT NULL REFERENCES result(number),
  event TEXT NOT NULL,
  unit TEXT NOT NULL,
  value INTEGER,
  low INTEGER,
  high INTEGER,
  trust TEXT NOT NULL);
CREATE INDEX count_of_result ON count(result);
)";
// Added on their own: files of earlier builds do not have them.
constexpr const char* later_tables = R"(
CREATE TABLE IF NOT EXISTS setting (
  result INTEGER NOT NULL REFERENCES result(number),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  of_models INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS accepted (
  result INTEGER NOT NULL REFERENCES result(number),
  reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS varying (
  result INTEGER NOT NULL REFERENCES result(number));
)";

// A prepared statement. Errors show in step(), as they do in SQLite.
class Statement {
 public:
  Statement(sqlite3* handle, const char* sql) { sqlite3_prepare_v2(handle, sql, -1, &statement_, nullptr); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  void bind(int place, std::string_view text) {
    sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void bind(int place, const std::optional<std::int64_t>& number) {
    if (number) sqlite3_bind_int64(statement_, place, *number);
  }
  template <class... Values>
  void bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
  }
  int step() { return statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_); }

  std::string text(int column) const {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr ? std::string()
                            : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  std::optional<std::int64_t> number(int column) const {
    if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) return std::nullopt;
    return sqlite3_column_int64(statement_, column);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

std::int64_t pragma(sqlite3* handle, const char* sql) {
  Statement statement(handle, sql);
  return statement.step() == SQLITE_ROW ? statement.number(0).value_or(0) : -1;
}

std::vector<std::string> words_of(const std::string& json) {
  std::vector<std::string> words;
  const Json list = parse_json_or_discard<Json>(json);
  if (!list.is_array()) return words;
  for (const Json& word : list)
    if (word.is_string()) words.push_back(word.get<std::string>());
  return words;
}

result::HistoryEntry entry_of(const Statement& row) {
  result::HistoryEntry entry;
  entry.number = row.number(0).value_or(0);
  entry.name = row.text(1);
  entry.provenance = {.date = row.text(2),
                      .host = row.text(3),
                      .label = row.text(6),
                      .command_line = words_of(row.text(7)),
                      .commit = row.text(5),
                      .tally_version = row.text(8)};
  entry.processor = row.text(4);
  return entry;
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

Error Database::failure(Code code, const std::string& what) const {
  const int reason = sqlite3_errcode(handle_.get());
  const bool is_busy = reason == SQLITE_BUSY || reason == SQLITE_LOCKED;
  return {code, fmt::format("cannot {} the history '{}': {}", what, printable(path_), sqlite3_errmsg(handle_.get())),
          is_busy                     ? "another process uses it; try again when that has ended"
          : reason == SQLITE_NOTADB   ? "use a file that `tally stat --history FILE` created"
          : reason == SQLITE_FULL     ? "free space on this disk; the history keeps its earlier results"
          : reason == SQLITE_READONLY ? "use a file and a directory that you can write"
                                      : "",
          0};
}

Result<void> Database::run(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(failure(Code::cannot_write, "write"));
}

Result<Database> Database::open_with(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_PRIVATECACHE, nullptr);
  Database database(Handle(raw), path);
  const Code code = (flags & SQLITE_OPEN_CREATE) != 0 ? Code::cannot_write : Code::bad_usage;
  if (opened != SQLITE_OK) return fail(database.failure(code, "open"));
  sqlite3_extended_result_codes(raw, 0);
  sqlite3_busy_timeout(raw, static_cast<int>(patience.count()));
  // The file may come from others: its schema must not run functions, and damaged pages are errors.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_exec(raw, "PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL", nullptr, nullptr, nullptr);
  return database;
}

// Creates the tables in an empty file; checks those of another. SQLite undoes what is begun when the file is closed.
Result<void> Database::prepare_file() {
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  const std::int64_t id = pragma(handle_.get(), "PRAGMA application_id");
  const std::int64_t found = pragma(handle_.get(), "PRAGMA user_version");
  if (id == 0 && found == 0 && pragma(handle_.get(), "SELECT count(*) FROM sqlite_master") == 0) {
    if (auto made = run(tables); !made) return made;
    const std::string marks = fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", application_id, version);
    if (auto marked = run(marks.c_str()); !marked) return marked;
  } else if (id != application_id) {
    return fail(Code::bad_usage, fmt::format("'{}' is a database of another program", printable(path_)),
                "use another file: tally creates it");
  } else if (found > version) {
    return fail(Code::bad_usage, fmt::format("'{}' is a history of a later version of tally", printable(path_)),
                "use that version, or another file");
  }
  if (auto made = run(later_tables); !made) return made;
  return run("COMMIT");
}

Result<Database> Database::open(const std::string& path) {
  // SQLite takes a file of one byte for an empty one, and would replace it.
  if (const auto state = linux::file_state(path); state && state->bytes == 1)
    return fail(Code::bad_usage, fmt::format("'{}' is not a history of tally", printable(path)),
                "use another file: tally creates it");
  auto database = open_with(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database) return database;
  if (const auto prepared = database->prepare_file(); !prepared) return fail(prepared.error());
  return database;
}

Result<Database> Database::open_to_read(const std::string& path) {
  // Writing is needed to roll back what a killed process left.
  auto database = open_with(path, SQLITE_OPEN_READWRITE);
  if (!database || sqlite3_db_readonly(database->handle_.get(), "main") == 1)
    database = open_with(path, SQLITE_OPEN_READONLY);
  if (!database) return database;
  const std::int64_t id = pragma(database->handle_.get(), "PRAGMA application_id");
  if (id == -1) return fail(database->failure(Code::bad_usage, "read"));
  if (id != application_id)
    return fail(Code::bad_usage, fmt::format("'{}' is not a history of tally", printable(path)),
                "use a file that `tally stat --history FILE` created");
  if (pragma(database->handle_.get(), "PRAGMA user_version") > version)
    return fail(Code::bad_usage, fmt::format("'{}' is a history of a later version of tally", printable(path)),
                "use that version");
  return database;
}

Result<void> Database::add(const result::HistoryEntry& entry, const std::string& document, Origin origin) {
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  const auto undo = [this](const Error& error) -> Result<void> {
    sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    return fail(error);
  };
  Statement known(handle_.get(), "SELECT 1 FROM result WHERE date = ? AND document = ?");
  known.bind_all(entry.provenance.date, document);
  if (origin == Origin::file && known.step() == SQLITE_ROW) {
    sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    return {};
  }
  const auto insert = [this](const char* sql, const auto&... values) {
    Statement row(handle_.get(), sql);
    row.bind_all(values...);
    return row.step() == SQLITE_DONE;
  };
  const result::Provenance& from = entry.provenance;
  bool is_stored = insert(
      "INSERT INTO result (name, date, host, processor, commit_hash, label, command_line, tally, document) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      entry.name, from.date, from.host, entry.processor, from.commit, from.label, json_text(Json(from.command_line)),
      from.tally_version, document);
  const std::int64_t number = sqlite3_last_insert_rowid(handle_.get());
  for (const result::HistoryCount& count : entry.counts)
    is_stored =
        is_stored && insert("INSERT INTO count VALUES (?, ?, ?, ?, ?, ?, ?)", number, count.event,
                            unit_name(count.unit), count.value, count.low, count.high, tally::name(count.trust));
  for (const result::Setting& one : entry.settings)
    is_stored = is_stored && insert("INSERT INTO setting VALUES (?, ?, ?, ?)", number, one.name, one.value,
                                    one.is_of_models ? 1 : 0);
  if (!entry.accepted.empty())
    is_stored = is_stored && insert("INSERT INTO accepted VALUES (?, ?)", number, entry.accepted);
  if (entry.can_vary) is_stored = is_stored && insert("INSERT INTO varying VALUES (?)", number);
  if (!is_stored) return undo(failure(Code::cannot_write, "write"));
  if (auto done = run("COMMIT"); !done) return undo(done.error());
  return {};
}

Result<result::History> Database::read() {
  result::History history;
  // One transaction, so that both tables are of the same moment.
  if (auto begun = run("BEGIN"); !begun) return fail(failure(Code::bad_usage, "read"));
  std::map<std::int64_t, std::size_t> places;
  Statement results(handle_.get(),
                    "SELECT number, name, date, host, processor, commit_hash, label, command_line, tally FROM result "
                    "ORDER BY date, number");
  int state = results.step();
  for (; state == SQLITE_ROW; state = results.step()) {
    history.entries.push_back(entry_of(results));
    places[history.entries.back().number] = history.entries.size() - 1;
  }
  if (state != SQLITE_DONE) return fail(failure(Code::bad_usage, "read"));
  const auto read_rows = [&](const char* sql, auto use) {
    Statement rows(handle_.get(), sql);
    for (state = rows.step(); state == SQLITE_ROW; state = rows.step())
      if (const auto place = places.find(rows.number(0).value_or(0)); place != places.end())
        use(rows, history.entries[place->second]);
    return state == SQLITE_DONE;
  };
  const auto has_table = [this](const char* name) {
    return pragma(handle_.get(), fmt::format("SELECT count(*) FROM sqlite_master WHERE name = '{}'", name).c_str()) > 0;
  };
  using result::HistoryEntry;
  const bool are_read =
      read_rows("SELECT result, event, unit, value, low, high, trust FROM count ORDER BY result, rowid",
                [](const Statement& row, HistoryEntry& entry) {
                  entry.counts.push_back({.event = row.text(1),
                                          .unit = unit_named(row.text(2)),
                                          .value = row.number(3),
                                          .low = row.number(4),
                                          .high = row.number(5),
                                          .trust = trust_of(row.text(6)).value_or(Trust::absent)});
                }) &&
      (!has_table("setting") ||
       read_rows("SELECT result, name, value, of_models FROM setting ORDER BY result, rowid",
                 [](const Statement& row, HistoryEntry& entry) {
                   entry.settings.push_back({row.text(1), row.text(2), row.number(3).value_or(0) != 0});
                 })) &&
      (!has_table("accepted") ||
       read_rows("SELECT result, reason FROM accepted",
                 [](const Statement& row, HistoryEntry& entry) { entry.accepted = row.text(1); })) &&
      (!has_table("varying") ||
       read_rows("SELECT result FROM varying", [](const Statement&, HistoryEntry& entry) { entry.can_vary = true; }));
  if (!are_read) return fail(failure(Code::bad_usage, "read"));
  (void)run("COMMIT");
  return history;
}

}  // namespace tally::history
