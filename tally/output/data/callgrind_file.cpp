// Reads the output files of callgrind as profiles: valgrind's manual, "Callgrind Format Specification".
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/data/other_tools.hpp"

namespace tally::output {
namespace {

/// Names that are written once, and then by number: "(3) main", "(3)".
class Names {
 public:
  std::string of(std::string_view text) {
    if (!text.starts_with('(')) return std::string(text);
    const std::size_t end = text.find(')');
    if (end == text.npos) return std::string(text);
    const std::string number(text.substr(0, end + 1));
    if (end + 1 < text.size()) known_[number] = trimmed(text.substr(end + 1));
    return known_[number];
  }

 private:
  std::map<std::string, std::string> known_;
};

/// Counts that callgrind simulates, as opposed to those that it counts.
bool is_modelled(const std::string& event) {
  return event != "Ir" && event != "Dr" && event != "Dw" && event != "Bc" && event != "Bi";
}

class CallgrindReader {
 public:
  /// Reads one line. False if it does not belong to such a file.
  bool read(std::string_view line) {
    line = trimmed_view(line);
    if (line.empty() || line.starts_with('#')) return true;
    const unsigned char first = static_cast<unsigned char>(line.front());
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*') return read_costs(line);
    const std::size_t equals = line.find('='), colon = line.find(':');
    if (equals != line.npos && (colon == line.npos || equals < colon))
      return read_position(line.substr(0, equals), line.substr(equals + 1));
    return colon != line.npos && read_header(line.substr(0, colon), trimmed_view(line.substr(colon + 1)));
  }

  bool has_counts() const { return !events_.empty() && !profile_.rows.empty(); }
  /// The last line of valgrind's and tally's files has the totals.
  bool has_end() const { return has_totals_ || !writes_totals_; }

  result::Profile take() {
    for (std::size_t e = 0; e < events_.size(); ++e) {
      result::EventCount total{.event = events_[e], .name = split_event_name(events_[e]), .count = {}};
      const bool modelled = is_modelled(events_[e]);
      total.count.value = totals_[e];
      total.count.trust = !is_valgrind_ ? Trust::counted : modelled ? Trust::modelled : Trust::exact;
      if (total.count.trust == Trust::modelled) total.count.model = "callgrind";
      profile_.stat.events.push_back({.total = std::move(total), .summary = {}});
    }
    profile_.stat.runs.resize(1);
    for (const result::Event& event : profile_.stat.events) profile_.stat.runs[0].counts.push_back(event.total);
    return std::move(profile_);
  }

  CallgrindReader() {
    profile_.owners.emplace_back();
    profile_.sources.emplace_back();
  }

 private:
  static std::string_view trimmed_view(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
  }

  static std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> all;
    for (text = trimmed_view(text); !text.empty(); text = trimmed_view(text)) {
      const std::size_t end = std::min(text.find(' '), text.size());
      all.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return all;
  }

  bool read_header(std::string_view key, std::string_view value) {
    if (key == "events") {
      std::vector<std::string> names;
      for (const std::string_view word : words(value)) names.emplace_back(word);
      if (!events_.empty() && names != events_) return false;  // parts of one file count the same
      events_ = std::move(names);
      totals_.resize(events_.size());
    } else if (key == "positions") {
      const auto kinds = words(value);
      positions_ = kinds.size();
      has_lines_ = !kinds.empty() && kinds.back() == "line";
      if (positions_ == 0 || positions_ > 2) return false;
    } else if (key == "cmd") {
      for (const std::string_view word : words(value)) command_.emplace_back(word);
      profile_.stat.command = std::exchange(command_, {});
    } else if (key == "creator") {
      is_valgrind_ = value.starts_with("callgrind");
      writes_totals_ = is_valgrind_ || value.starts_with("tally");
    } else if (key == "totals") {
      has_totals_ = true;
    }
    return true;
  }

  bool read_position(std::string_view key, std::string_view value) {
    if (key == "ob") {
      object_ = objects_.of(value);
    } else if (key == "fl") {
      file_ = own_file_ = files_.of(value);
    } else if (key == "fi" || key == "fe") {
      file_ = files_.of(value);
    } else if (key == "fn") {
      file_ = own_file_;
      function_ = function_of(object_, own_file_, functions_.of(value));
      begins_ = true;
    } else if (key == "cob") {
      called_object_ = objects_.of(value);
    } else if (key == "cfi" || key == "cfl") {
      called_file_ = files_.of(value);
    } else if (key == "cfn") {
      called_ = function_of(called_object_.value_or(object_), called_file_.value_or(file_), functions_.of(value));
      called_object_.reset();
      called_file_.reset();
    } else if (key == "calls") {
      const auto numbers = words(value);
      std::int64_t calls = 0;
      if (numbers.empty() || !parse(numbers[0], calls)) return false;
      if (called_ && !add(profile_.functions[*called_].entered, calls)) return false;
      skips_costs_ = true;  // the next line is what the call cost, with its callees
    } else if (key == "jump" || key == "jcnd") {
      skips_costs_ = true;
    }
    return true;
  }

  bool read_costs(std::string_view line) {
    has_totals_ = false;
    const auto numbers = words(line);
    if (numbers.size() < positions_ || numbers.size() > positions_ + events_.size()) return false;
    for (std::size_t i = 0; i < positions_; ++i)
      if (!move(numbers[i], position_[i])) return false;
    if (std::exchange(skips_costs_, false)) return true;
    if (!function_) return false;
    const auto line_number = has_lines_ ? static_cast<std::uint32_t>(position_[positions_ - 1]) : 0;
    result::ProfileFunction& function = profile_.functions[*function_];
    if (std::exchange(begins_, false) && function.line == 0 && file_ == own_file_) {
      function.source = source_of(own_file_);
      function.line = line_number;
    }
    const std::size_t row = row_of(*function_, line_number == 0 ? 0 : source_of(file_), line_number);
    for (std::size_t e = 0; e < events_.size(); ++e) {
      std::int64_t count = 0;
      if (positions_ + e < numbers.size() && !parse(numbers[positions_ + e], count)) return false;
      if (!add(profile_.counts[row * events_.size() + e], count) || !add(totals_[e], count)) return false;
    }
    return true;
  }

  static bool parse(std::string_view text, std::int64_t& number) {
    const bool is_hexadecimal = text.starts_with("0x");
    if (is_hexadecimal) text.remove_prefix(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
    return error == std::errc{} && end == text.data() + text.size() && number >= 0;
  }

  /// False if the sum is out of range.
  static bool add(std::int64_t& to, std::int64_t count) { return !__builtin_add_overflow(to, count, &to); }

  /// A position: absolute, relative to the last one, or the same.
  static bool move(std::string_view text, std::int64_t& position) {
    if (text == "*") return true;
    const char sign = text.front();
    if (sign != '+' && sign != '-') return parse(text, position);
    std::int64_t distance = 0;
    if (!parse(text.substr(1), distance)) return false;
    position = static_cast<std::int64_t>(static_cast<std::uint64_t>(position) +
                                         static_cast<std::uint64_t>(sign == '+' ? distance : -distance));
    return true;
  }

  template <class List>
  static std::uint32_t index_of(std::map<std::string, std::uint32_t>& known, const std::string& name, List& list) {
    const auto [entry, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(list.size()));
    if (is_new) list.push_back({name});
    return entry->second;
  }

  std::uint32_t source_of(const std::string& file) {
    return file.empty() || file == "???" ? 0 : index_of(source_places_, file, profile_.sources);
  }

  std::uint32_t function_of(const std::string& object, const std::string& file, const std::string& name) {
    const std::uint32_t in = index_of(object_places_, object, profile_.objects);
    const auto [entry, is_new] = function_places_.try_emplace({in, file, name}, profile_.functions.size());
    if (is_new) profile_.functions.push_back({.name = name, .object = in});
    return static_cast<std::uint32_t>(entry->second);
  }

  std::size_t row_of(std::uint32_t function, std::uint32_t source, std::uint32_t line) {
    const auto [entry, is_new] = row_places_.try_emplace({function, source, line}, profile_.rows.size());
    if (is_new) {
      profile_.rows.push_back({.function = function, .source = source, .line = line});
      profile_.counts.resize(profile_.counts.size() + events_.size());
    }
    return entry->second;
  }

  result::Profile profile_;
  std::vector<std::string> events_, command_;
  std::vector<std::int64_t> totals_;  ///< of each event
  std::size_t positions_ = 1;
  bool has_lines_ = true, is_valgrind_ = false, writes_totals_ = false, has_totals_ = false;
  Names objects_, files_, functions_;
  std::string object_, file_, own_file_;
  std::optional<std::string> called_object_, called_file_;
  std::optional<std::uint32_t> function_, called_;
  bool begins_ = false, skips_costs_ = false;
  std::int64_t position_[2] = {};
  std::map<std::string, std::uint32_t> source_places_, object_places_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t> function_places_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> row_places_;
};

}  // namespace

bool is_callgrind(std::string_view text) {
  const std::string_view begin = text.substr(0, 4000);
  return begin.starts_with("# callgrind format") || begin.find("\ncreator: callgrind") != begin.npos ||
         (begin.find("\nevents:") != begin.npos && begin.find("\npositions:") != begin.npos);
}

Result<Comparable> read_callgrind(std::string_view text, const std::string& name) {
  CallgrindReader reader;
  std::size_t number = 0;
  const auto wrong = [&](const std::string& what) {
    return fail(Code::bad_usage, fmt::format("'{}' is not a complete file of callgrind: {}", printable(name), what));
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++number;
    if (!reader.read(text.substr(0, end)))
      return wrong(fmt::format("it is damaged or ends early: line {} cannot be read", number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!reader.has_end()) return wrong("it ends early, without the line 'totals:'");
  if (!reader.has_counts()) return wrong("it has no counts");
  auto comparable = comparable_of(reader.take());
  // Its runs have fixed addresses, and one thread at a time: counts of one run each are compared.
  if (comparable) comparable->repeatable = comparable->is_single_threaded = true;
  return comparable;
}

}  // namespace tally::output
