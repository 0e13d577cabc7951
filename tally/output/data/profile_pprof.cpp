// pprof's format: profile.proto of github.com/google/pprof, with its field numbers.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/data/protobuf.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/gzip.hpp"
#include "tally/output/result/string_elements.hpp"

namespace tally::output {
namespace {

using result::CodeCall;
using result::ProfileInline;

class Pprof {
 public:
  Pprof(const result::Profile& profile, bool whole_names)
      : profile_(profile), names_(function_names(profile, whole_names)), events_(profile.event_count()) {
    text("");
  }

  std::string file() {
    // The sample type that `go build -pgo` requires; the others are displayed.
    ProtobufMessage samples;
    samples.add(1, text("samples"));
    samples.add(2, text("count"));
    profile_message_.add(1, samples);
    for (const result::Event& event : profile_.stat.events) {
      ProtobufMessage type;
      type.add(1, text(type_name(event)));
      type.add(2, text(event.total.unit == Unit::nanoseconds ? "nanoseconds" : "count"));
      profile_message_.add(1, type);
    }
    if (profile_.calls.empty()) {
      for (std::size_t i = 0; i < profile_.rows.size(); ++i) add_row(i, {location_of_row(i)});
      add_sample({pseudo(result::string_elements)}, profile_.repeated, nullptr);
      add_sample({pseudo("[not at any place]")}, profile_.unplaced, nullptr);
    } else {
      add_stacks();
    }
    // pprof considers the first mapping to be the program.
    for (const bool of_program : {true, false})
      for (std::uint32_t o = 0; o < profile_.objects.size(); ++o)
        if (is_program(o) == of_program) add_mapping(o);
    for (const ProtobufMessage& location : locations_) profile_message_.add(4, location);
    for (const ProtobufMessage& function : functions_) profile_message_.add(5, function);
    if (events_ > 0) profile_message_.add(14, text(type_name(profile_.stat.events.front())));  // displayed by default
    const std::int64_t comment = text("tally profile: " + shell_words(profile_.stat.command));
    for (const std::string& string : strings_) profile_message_.add(6, std::string_view(string));
    profile_message_.add(13, std::vector<std::int64_t>{comment});
    return gzipped(profile_message_.bytes());
  }

 private:
  static std::string type_name(const result::Event& event) { return event.total.name.base; }

  bool is_program(std::uint32_t object) const {
    const std::vector<std::string>& command = profile_.stat.command;
    return !command.empty() && file_name(profile_.objects[object].name) == file_name(command.front());
  }

  std::int64_t text(const std::string& one) {
    const auto [entry, is_new] = numbers_.try_emplace(one, static_cast<std::int64_t>(strings_.size()));
    if (is_new) strings_.push_back(valid_utf8(one));
    return entry->second;
  }

  /// `name` is the short name, `system_name` the full one: pprof does not shorten names that differ.
  std::int64_t add_function(const std::string& name, const std::string& system_name, const std::string& file,
                            std::uint32_t line) {
    ProtobufMessage message;
    const auto number = static_cast<std::int64_t>(functions_.size() + 1);
    message.add(1, number);
    message.add(2, text(name));
    message.add(3, text(system_name));
    message.add(4, text(file));
    message.add(5, line);
    functions_.push_back(std::move(message));
    return number;
  }

  std::int64_t function(std::uint32_t f) {
    const auto [entry, is_new] = of_functions_.try_emplace(f, 0);
    if (is_new) {
      const result::ProfileFunction& one = profile_.functions[f];
      entry->second = add_function(names_[f], one.name, profile_.sources[one.source], one.line);
    }
    return entry->second;
  }

  /// A location in the program: the innermost function first, then the functions into which it was inlined.
  std::int64_t location(std::uint32_t f, std::uint64_t address, std::uint32_t inlined, std::uint32_t line) {
    const std::uint32_t object = profile_.functions[f].object;
    const auto [entry, is_new] = of_locations_.try_emplace({object, address, f, line}, 0);
    if (!is_new) return entry->second;
    ProtobufMessage message;
    const auto number = static_cast<std::int64_t>(locations_.size() + 1);
    message.add(1, number);
    message.add(2, object + 1);
    message.add(3, static_cast<std::int64_t>(address));
    has_inlines_ |= inlined != ProfileInline::none;
    for (; inlined != ProfileInline::none; inlined = profile_.inlines[inlined].parent) {
      message.add(4, line_of(function(profile_.inlines[inlined].function), line));
      line = profile_.inlines[inlined].line;
    }
    message.add(4, line_of(function(f), line));
    locations_.push_back(std::move(message));
    return entry->second = number;
  }
  static ProtobufMessage line_of(std::int64_t function, std::uint32_t line) {
    ProtobufMessage message;
    message.add(1, function);
    message.add(2, line);
    return message;
  }

  std::int64_t location_of_row(std::size_t i) {
    const result::ProfileRow& row = profile_.rows[i];
    return location(row.function, row.address, row.inlined, row.line);
  }

  /// A location for counts without an instruction.
  std::int64_t pseudo(const std::string& name) {
    const auto [entry, is_new] = of_names_.try_emplace(name, 0);
    if (!is_new) return entry->second;
    ProtobufMessage message;
    entry->second = static_cast<std::int64_t>(locations_.size() + 1);
    message.add(1, entry->second);
    message.add(4, line_of(add_function(name, name, "", 0), 0));
    locations_.push_back(std::move(message));
    return entry->second;
  }

  /// The number of samples of these counts; for exact counts, the count of the first event.
  std::int64_t samples_of(const std::vector<std::int64_t>& counts) const {
    if (events_ == 0) return 0;
    const std::int64_t all = profile_.stat.events.front().total.count.value.value_or(0);
    if (!profile_.is_sampled() || all == 0 || counts.front() == 0) return counts.front();
    const double each = static_cast<double>(profile_.sampling.front().samples) / static_cast<double>(all);
    return std::max<std::int64_t>(1, std::llround(each * static_cast<double>(counts.front())));
  }

  void add_sample(const std::vector<std::int64_t>& stack, const std::vector<std::int64_t>& counts,
                  const result::CodeOwner* owner) {
    if (std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n == 0; })) return;
    ProtobufMessage message;
    message.add(1, stack);
    std::vector<std::int64_t> values{samples_of(counts)};
    values.insert(values.end(), counts.begin(), counts.end());
    message.add(2, values);
    if (owner != nullptr) {
      add_label(message, "program", owner->command, 0);
      add_label(message, "pid", "", owner->pid);
      if (owner->tid != 0) add_label(message, "tid", "", owner->tid);
    }
    profile_message_.add(2, message);
    placed_.resize(events_);
    for (std::size_t e = 0; e < events_; ++e) placed_[e] += counts[e];
  }

  void add_label(ProtobufMessage& sample, const std::string& key, const std::string& value, std::int64_t number) {
    ProtobufMessage message;
    message.add(1, text(key));
    message.add(2, text(value));
    message.add(3, number);
    sample.add(3, message);
  }

  void add_row(std::size_t i, std::vector<std::int64_t> stack) {
    std::vector<std::int64_t> counts(events_);
    for (std::size_t e = 0; e < events_; ++e) counts[e] = profile_.count(i, e);
    add_sample(stack, counts, &profile_.owners[profile_.rows[i].owner]);
  }

  /// The rows of a function in a thread, their counts, and the number of stacks that end in it.
  struct FunctionRows {
    std::vector<std::size_t> rows;
    std::vector<std::int64_t> counts;
    std::size_t stacks = 0;
  };

  void add_stacks() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, FunctionRows> rows_by_function;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::size_t>
        row_indices;                                                // by thread and address
    std::map<std::uint32_t, std::vector<std::int64_t>> beginnings;  // what threads counted in no call
    for (std::size_t i = 0; i < profile_.rows.size(); ++i) {
      FunctionRows& function_rows = rows_by_function[{profile_.rows[i].owner, profile_.rows[i].function}];
      std::vector<std::int64_t>& beginning = beginnings[profile_.rows[i].owner];
      function_rows.rows.push_back(i);
      row_indices[{profile_.rows[i].owner, profile_.rows[i].function, profile_.rows[i].address}] = i;
      function_rows.counts.resize(events_);
      beginning.resize(events_);
      for (std::size_t e = 0; e < events_; ++e) {
        function_rows.counts[e] += profile_.count(i, e);
        beginning[e] += profile_.count(i, e);
      }
    }
    const auto self_of = [&](std::size_t i) {
      const auto begin = profile_.self.begin() + static_cast<std::ptrdiff_t>(i * events_);
      return std::vector<std::int64_t>(begin, begin + static_cast<std::ptrdiff_t>(events_));
    };
    for (const result::ProfileCall& call : profile_.calls) rows_by_function[{call.owner, call.callee}].stacks++;
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
      const result::ProfileCall& call = profile_.calls[i];
      const std::vector<std::int64_t> self = self_of(i);
      std::vector<std::int64_t>& beginning = beginnings[call.owner];
      beginning.resize(events_);
      for (std::size_t e = 0; e < events_; ++e) beginning[e] -= self[e];
      std::vector<std::int64_t> stack{0};
      for (std::size_t at = i;; at = profile_.calls[at].parent) {
        const result::ProfileCall& one = profile_.calls[at];
        if (one.site == 0 && one.parent == CodeCall::no_parent) break;  // the caller is unknown
        stack.push_back(location(one.caller, one.site, one.inlined, one.line));
        if (one.parent == CodeCall::no_parent) break;
      }
      // A sample's stack ends at its instruction.
      if (profile_.is_sampled()) {
        const auto row = row_indices.find({call.owner, call.callee, call.target});
        stack.front() = row != row_indices.end() ? location_of_row(row->second)
                                                 : location(call.callee, call.target, ProfileInline::none, 0);
        add_sample(stack, self, &profile_.owners[call.owner]);
        continue;
      }
      // If a function has only one stack, all its instructions belong to that stack.
      const FunctionRows& function_rows = rows_by_function[{call.owner, call.callee}];
      if (function_rows.stacks == 1 && function_rows.counts == self) {
        for (const std::size_t row : function_rows.rows) {
          stack.front() = location_of_row(row);
          add_row(row, stack);
        }
        continue;
      }
      stack.front() = location(call.callee, profile_.functions[call.callee].address, ProfileInline::none,
                               profile_.functions[call.callee].line);
      add_sample(stack, self, &profile_.owners[call.owner]);
    }
    for (const auto& [owner, counts] : beginnings)
      add_sample({pseudo("[" + profile_.owners[owner].command + "]")}, counts, &profile_.owners[owner]);
    std::vector<std::int64_t> rest(events_);
    placed_.resize(events_);
    for (std::size_t e = 0; e < events_; ++e)
      rest[e] = profile_.stat.events[e].total.count.value.value_or(0) - placed_[e];
    add_sample({pseudo(rest == profile_.repeated ? result::string_elements : "[not at any place]")}, rest, nullptr);
  }

  void add_mapping(std::uint32_t o) {
    const result::ProfileObject& object = profile_.objects[o];
    ProtobufMessage message;
    message.add(1, o + 1);
    message.add(2, static_cast<std::int64_t>(object.address));
    message.add(3, static_cast<std::int64_t>(object.address + object.bytes));
    message.add(4, static_cast<std::int64_t>(object.offset));
    message.add(5, text(object.name));
    message.add(6, text(object.build_id));
    // Names are complete: pprof has nothing to resolve.
    for (const int has : {7, 8, 9}) message.add(has, 1);
    message.add(10, has_inlines_ ? 1 : 0);
    profile_message_.add(3, message);
  }

  const result::Profile& profile_;
  std::vector<std::string> names_;  // of functions
  std::size_t events_;
  ProtobufMessage profile_message_;
  std::vector<std::string> strings_;
  std::map<std::string, std::int64_t> numbers_, of_names_;
  std::vector<ProtobufMessage> functions_, locations_;
  std::map<std::uint32_t, std::int64_t> of_functions_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t>, std::int64_t> of_locations_;
  std::vector<std::int64_t> placed_;
  bool has_inlines_ = false;
};

}  // namespace

std::string profile_pprof(const result::Profile& profile, const ProfileStyle& style) {
  return Pprof(profile, style.whole_names).file();
}

}  // namespace tally::output
