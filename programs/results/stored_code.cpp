#include "programs/results/stored_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::result {
namespace {

constexpr const char* code_schema = "tally-code/1";

// Everything below may throw Json::exception: read_code() turns it into an Error.

std::uint32_t file_number(const Json& json, const CodeCounts& code) {
  const auto at = number<std::uint64_t>(json);
  if (at >= code.files.size()) throw Json::out_of_range::create(401, "it is an index of a missing entry", &json);
  return static_cast<std::uint32_t>(at);
}

void read_events(const Json& json, StoredCode& stored) {
  for (const Json& event_json : json) {
    EventCount total;
    total.event = text(event_json, "name");
    total.name = split_event_name(total.event);
    total.count.value = optional_count(event_json, "value");
    total.count.trust = total.count.value ? trust(event_json.at("trust")) : Trust::absent;
    total.count.reason = text(event_json, "reason");
    total.count.model = text(event_json, "model");
    stored.code.events.push_back(total);
    Event event;
    event.total = std::move(total);
    stored.stat.events.push_back(std::move(event));
    stored.code.repeated.push_back(number<std::int64_t>(event_json.at("string_elements")));
    stored.code.unplaced.push_back(number<std::int64_t>(event_json.at("not_placed")));
  }
}

void read_files(const Json& json, CodeCounts& code) {
  for (const Json& file_json : json) {
    CodeFile file;
    file.path = text(file_json, "path");
    file.has_addresses = file_json.at("has_addresses").get<bool>();
    if (const auto identity = file_json.find("identity"); identity != file_json.end()) {
      file.identity = FileIdentity{
          number<std::uint64_t>(identity->at("device")),      number<std::uint64_t>(identity->at("inode")),
          number<std::uint64_t>(identity->at("bytes")),       number<std::int64_t>(identity->at("modified_s")),
          number<std::uint32_t>(identity->at("modified_ns")), text(*identity, "build_id")};
      file.inode = file.identity->inode;
    }
    code.files.push_back(std::move(file));
  }
}

void read_rows(const Json& json, CodeCounts& code) {
  for (const Json& row_json : json.at("rows")) {
    CodeRow row;
    row.file = file_number(row_json.at(0), code);
    row.address = number<std::uint64_t>(row_json.at(1));
    row.executions = count(row_json.at(2));
    row.taken = count(row_json.at(3));
    code.rows.push_back(row);
    if (row_json.at(4).size() != code.events.size())
      throw Json::out_of_range::create(401, "the number of counts differs from the number of events", &row_json);
    for (const Json& value : row_json.at(4)) code.counts.push_back(number<std::int64_t>(value));
  }
  for (const Json& row_json : json.at("jumps"))
    code.jumps.push_back({file_number(row_json.at(0), code), number<std::uint64_t>(row_json.at(1)),
                          number<std::uint64_t>(row_json.at(2)), count(row_json.at(3))});
}

/// Exact totals are the sums of their rows; others may lack a part.
void check_totals(const Json& json, const CodeCounts& code) {
  const std::size_t events = code.events.size();
  for (std::size_t e = 0; e < events; ++e) {
    const Count& total = code.events[e].count;
    auto rest = static_cast<std::uint64_t>(total.value.value_or(0)) - static_cast<std::uint64_t>(code.repeated[e]) -
                static_cast<std::uint64_t>(code.unplaced[e]);
    for (std::size_t i = 0; i < code.rows.size(); ++i) rest -= static_cast<std::uint64_t>(code.counts[i * events + e]);
    if (total.trust == Trust::exact && rest != 0)
      throw Json::out_of_range::create(
          401, fmt::format("the rows of {} do not add up to its value", code.events[e].event), &json);
  }
}

StoredCode code_of(const Json& json) {
  StoredCode stored;
  stored.stat.command = json.at("command").get<std::vector<std::string>>();
  stored.stat.exit_code = optional<int>(json, "exit_code");
  stored.stat.signal = optional<int>(json, "signal");
  stored.stat.incomplete = json.value("incomplete", false);
  stored.stat.backend = text(json, "backend");
  stored.stat.environment = read_environment(json);
  read_models(json, stored.stat);
  read_events(json.at("events"), stored);
  read_files(json.at("files"), stored.code);
  stored.code.owners.emplace_back();
  if (!stored.stat.command.empty()) stored.code.owners.front().command = stored.stat.command.front();
  read_rows(json, stored.code);
  check_totals(json.at("events"), stored.code);
  return stored;
}

/// Without a build ID, only the same unchanged file has the same contents.
bool have_same_contents(const CodeFile& a, const CodeFile& b) {
  if (a.has_addresses != b.has_addresses || a.identity.has_value() != b.identity.has_value()) return false;
  if (!a.identity) return true;
  if (!a.identity->build_id.empty() || !b.identity->build_id.empty())
    return a.identity->build_id == b.identity->build_id;
  return *a.identity == *b.identity;
}

bool has_build_id(const CodeFile& file) { return file.identity && !file.identity->build_id.empty(); }

/// Returns false if the sum overflows.
bool add_to(std::int64_t& sum, std::int64_t more) { return !__builtin_add_overflow(sum, more, &sum); }

/// Adds rows and jumps by file and address.
class Adder {
 public:
  Adder(CodeCounts& sum, std::size_t events) : sum_(sum), events_(events) {
    for (std::size_t i = 0; i < sum.rows.size(); ++i)
      rows_.emplace(std::pair(sum.rows[i].file, sum.rows[i].address), i);
    for (std::size_t i = 0; i < sum.jumps.size(); ++i) jumps_.emplace(key_of(sum.jumps[i]), i);
  }

  /// `file`: the number of its file in the sum.
  bool add(CodeRow row, const std::int64_t* counts, std::uint32_t file) {
    row.file = file;
    const auto [known, is_new] = rows_.try_emplace({file, row.address}, sum_.rows.size());
    if (is_new) {
      sum_.rows.push_back(row);
      sum_.counts.insert(sum_.counts.end(), counts, counts + events_);
      return true;
    }
    CodeRow& to = sum_.rows[known->second];
    bool fits = add_to(to.executions, row.executions) && add_to(to.taken, row.taken);
    for (std::size_t e = 0; e < events_; ++e)
      fits = add_to(sum_.counts[known->second * events_ + e], counts[e]) && fits;
    return fits;
  }

  bool add(CodeJump jump, std::uint32_t file) {
    jump.file = file;
    const auto [known, is_new] = jumps_.try_emplace(key_of(jump), sum_.jumps.size());
    if (is_new) sum_.jumps.push_back(jump);
    return is_new || add_to(sum_.jumps[known->second].executions, jump.executions);
  }

 private:
  static std::tuple<std::uint32_t, std::uint64_t, std::uint64_t> key_of(const CodeJump& jump) {
    return {jump.file, jump.site, jump.target};
  }

  CodeCounts& sum_;
  std::size_t events_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> rows_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, std::size_t> jumps_;
};

/// Returns the number in `sum` of each file of `more`, and adds missing ones. Errors: bad_usage if the contents differ.
Result<std::vector<std::uint32_t>> add_files(CodeCounts& sum, const CodeCounts& more, const std::string& name) {
  std::vector<std::uint32_t> numbers;
  for (const CodeFile& file : more.files) {
    const auto same = std::find_if(sum.files.begin(), sum.files.end(), [&](const CodeFile& other) {
      return other.path == file.path || (has_build_id(other) && has_build_id(file) && have_same_contents(other, file));
    });
    if (same != sum.files.end() && !have_same_contents(*same, file))
      return fail(
          Code::bad_usage,
          fmt::format("{} is another build in '{}' than in the files before it", printable(file.path), printable(name)),
          "merge runs of the same build only");
    numbers.push_back(static_cast<std::uint32_t>(same - sum.files.begin()));
    if (same == sum.files.end()) sum.files.push_back(file);
  }
  return numbers;
}

}  // namespace

bool is_code(std::string_view text) { return text.find("\"tally-code/") != std::string_view::npos; }

Result<StoredCode> read_code(std::string_view text, const std::string& name) {
  try {
    const Json json = parse_json<Json>(text);
    if (result::text(json, "schema") != code_schema)
      return fail(Code::bad_usage, fmt::format("'{}' does not have the schema {}", printable(name), code_schema),
                  "`tally profile --format code -o FILE` writes one");
    return code_of(json);
  } catch (const Json::exception& exception) {
    return fail(
        Code::bad_usage,
        fmt::format("'{}' is not a profile by address: {}", printable(name), parse_error_text(text, exception.what())),
        "`tally profile --format code -o FILE` writes one");
  }
}

Result<void> add_code(StoredCode& sum, const StoredCode& more, const std::string& name) {
  const std::size_t events = sum.code.events.size();
  const auto has_name = [](const EventCount& a, const EventCount& b) { return a.event == b.event; };
  if (!std::equal(sum.code.events.begin(), sum.code.events.end(), more.code.events.begin(), more.code.events.end(),
                  has_name) ||
      sum.stat.machine_model != more.stat.machine_model)
    return fail(Code::bad_usage, fmt::format("'{}' has other events than the files before it", printable(name)),
                "merge profiles with the same events and the same --model");
  const auto files = add_files(sum.code, more.code, name);
  if (!files) return fail(files.error());
  Adder adder(sum.code, events);
  bool fits = true;
  for (std::size_t i = 0; i < more.code.rows.size(); ++i)
    fits = adder.add(more.code.rows[i], &more.code.counts[i * events], (*files)[more.code.rows[i].file]) && fits;
  for (const CodeJump& jump : more.code.jumps) fits = adder.add(jump, (*files)[jump.file]) && fits;
  for (std::size_t e = 0; e < events; ++e) {
    sum.code.events[e].count = sum.code.events[e].count + more.code.events[e].count;
    fits = add_to(sum.code.repeated[e], more.code.repeated[e]) && add_to(sum.code.unplaced[e], more.code.unplaced[e]) &&
           fits;
  }
  sum.stat.incomplete |= more.stat.incomplete;
  if (sum.stat.exit_code == 0) sum.stat.exit_code = more.stat.exit_code;
  if (!sum.stat.signal) sum.stat.signal = more.stat.signal;
  if (!fits) return fail(Code::bad_usage, "the sum of the counts exceeds 2^63 - 1", "merge fewer runs");
  return {};
}

}  // namespace tally::result
