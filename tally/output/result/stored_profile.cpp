#include "tally/output/result/stored_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::result {
namespace {

// Everything below may throw Json::exception: read_profile() turns it into an Error.

constexpr const char* profile_schema = "tally-profile/2";

/// An index in a list of `size` elements.
std::uint32_t index(const Json& json, std::size_t size) {
  const auto at = number<std::uint64_t>(json);
  if (at >= size) throw Json::out_of_range::create(401, "it is an index of a missing entry", &json);
  return static_cast<std::uint32_t>(at);
}

std::vector<std::int64_t> counts(const Json& json, std::size_t events) {
  std::vector<std::int64_t> read;
  for (const Json& one : json) read.push_back(count(one));
  if (read.size() != events)
    throw Json::out_of_range::create(401, "the number of counts differs from the number of events", &json);
  return read;
}

EventSampling sampling(const Json& json) {
  EventSampling how;
  how.every = optional<std::uint64_t>(json, "every").value_or(0);
  how.frequency = optional<std::uint64_t>(json, "frequency").value_or(0);
  how.precise = number<int>(json.at("precise"));
  how.by_hardware = json.at("by_hardware").get<bool>();
  how.user_only = json.at("user_only").get<bool>();
  how.samples = count(json.at("samples"));
  how.lost = count(json.at("lost"));
  how.throttled = count(json.at("throttled"));
  how.counted = count(json.at("counted"));
  how.effective = json.at("effective_samples").get<double>();
  return how;
}

void read_events(const Json& json, Profile& profile) {
  for (const Json& one : json) {
    Event event;
    event.total.event = text(one, "name");
    event.total.name = split_event_name(event.total.event);
    event.total.count.value = optional_count(one, "value");
    event.total.count.trust = event.total.count.value ? trust(one.at("trust")) : Trust::absent;
    event.total.count.reason = text(one, "reason");
    if (one.contains("model")) event.total.count.model = text(one, "model");
    event.total.count.error_percent = optional<double>(one, "error_percent");
    profile.stat.events.push_back(std::move(event));
    if (one.contains("sampling")) profile.sampling.push_back(sampling(one.at("sampling")));
    profile.repeated.push_back(number<std::int64_t>(one.at("string_elements")));
    profile.unplaced.push_back(number<std::int64_t>(one.at("not_placed")));
  }
  if (profile.is_sampled() && profile.sampling.size() != profile.event_count())
    throw Json::out_of_range::create(401, "some events were sampled, others not", &json);
}

/// A row for each line of the function, and one for counts without a line.
void read_rows(const Json& json, std::uint32_t function, Profile& profile) {
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> remaining = counts(json.at("counts"), events);
  std::vector<std::int64_t> rest_samples =
      profile.is_sampled() ? counts(json.at("samples"), events) : std::vector<std::int64_t>{};
  const auto add = [&](std::uint32_t source, std::uint32_t line, const std::vector<std::int64_t>& of_row,
                       const std::vector<std::int64_t>& samples) {
    ProfileRow row;
    row.function = function;
    row.source = source;
    row.line = line;
    row.address = profile.functions[function].address;
    profile.rows.push_back(row);
    profile.counts.insert(profile.counts.end(), of_row.begin(), of_row.end());
    profile.samples.insert(profile.samples.end(), samples.begin(), samples.end());
  };
  for (const Json& one : json.at("lines")) {
    const std::vector<std::int64_t> of_line = counts(one.at("counts"), events);
    for (std::size_t e = 0; e < events; ++e)
      if ((remaining[e] -= of_line[e]) < 0)
        throw Json::out_of_range::create(401, "the counts of the lines of a function exceed the function's", &one);
    std::vector<std::int64_t> samples;
    if (profile.is_sampled()) samples = counts(one.at("samples"), events);
    for (std::size_t e = 0; e < samples.size(); ++e) rest_samples[e] -= samples[e];
    add(index(one.at("source"), profile.sources.size()), number<std::uint32_t>(one.at("line")), of_line, samples);
  }
  if (std::any_of(remaining.begin(), remaining.end(), [](std::int64_t n) { return n != 0; }))
    add(0, 0, remaining, rest_samples);
}

/// A digest in hexadecimal; 0 if it is missing or something else.
std::uint64_t digest(const Json& json, const char* key) {
  const std::string digits = text(json, key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return error == std::errc{} && end == digits.data() + digits.size() ? value : 0;
}

void read_functions(const Json& json, Profile& profile) {
  for (const Json& one : json) {
    ProfileFunction function;
    function.name = text(one, "name");
    function.object = index(one.at("object"), profile.objects.size());
    function.address = number<std::uint64_t>(one.at("address"));
    function.entered = optional_count(one, "entered").value_or(0);  // missing for samples
    function.source = index(one.at("source"), profile.sources.size());
    function.line = number<std::uint32_t>(one.at("line"));
    if (one.contains("clone_of")) function.clone_of = number<std::uint64_t>(one.at("clone_of"));
    if (one.contains("least") && one.contains("most")) {
      function.least = counts(one.at("least"), profile.event_count());
      function.most = counts(one.at("most"), profile.event_count());
    }
    function.source_digest = digest(one, "source_digest");
    function.code_digest = digest(one, "code_digest");
    profile.functions.push_back(std::move(function));
    read_rows(one, static_cast<std::uint32_t>(profile.functions.size() - 1), profile);
  }
}

/// Readers add the rows up, so sums must not overflow.
void check_sums(const Profile& profile, const Json& json) {
  const auto fits = [&](const std::vector<std::int64_t>& of_rows, const std::vector<std::int64_t>& more) {
    std::vector<std::int64_t> sums = more;
    for (std::size_t i = 0; i < of_rows.size(); ++i)
      if (__builtin_add_overflow(sums[i % sums.size()], of_rows[i], &sums[i % sums.size()])) return false;
    return true;
  };
  if (!fits(profile.counts, profile.repeated) ||
      !fits(profile.samples, std::vector<std::int64_t>(profile.event_count())))
    throw Json::out_of_range::create(406, "the sum of the functions' counts exceeds 2^63 - 1", &json);
}

void read_stacks(const Json& rows, Profile& profile) {
  for (const Json& row : rows) {
    ProfileCall call;
    if (!row.at(0).is_null()) call.parent = index(row.at(0), profile.calls.size());
    call.caller = index(row.at(1), profile.functions.size());
    call.callee = index(row.at(2), profile.functions.size());
    call.recursive = row.at(3).get<bool>();
    if (!row.at(4).is_null()) call.calls = count(row.at(4));
    profile.calls.push_back(call);
    for (const std::int64_t count : counts(row.at(5), profile.event_count())) profile.self.push_back(count);
    for (const std::int64_t count : counts(row.at(6), profile.event_count())) profile.inclusive.push_back(count);
  }
}

void read_python(const Json& functions, Profile& profile) {
  for (const Json& json : functions)
    profile.python.push_back({text(json, "name"), text(json, "file"), number<std::uint32_t>(json.at("line")),
                              optional_count(json, "calls"), counts(json.at("counts"), profile.event_count()),
                              counts(json.at("inclusive"), profile.event_count())});
}

Profile profile_of(const Json& json) {
  Profile profile;
  profile.stat.command = json.at("command").get<std::vector<std::string>>();
  profile.stat.exit_code = optional<int>(json, "exit_code");
  profile.stat.signal = optional<int>(json, "signal");
  profile.stat.incomplete = json.value("incomplete", false);
  profile.stat.backend = text(json, "backend");
  profile.stat.environment = read_environment(json);
  read_models(json, profile.stat);
  profile.inlines_apart = json.value("inlines", false);
  profile.runs = json.value("runs", std::size_t{1});
  read_events(json.at("events"), profile);
  if (const auto sources = json.find("nondeterminism"); sources != json.end()) {
    profile.stat.runs.resize(1);
    for (const Event& event : profile.stat.events) profile.stat.runs[0].counts.push_back(event.total);
    profile.stat.runs[0].nondeterminism = read_sources(*sources);
  }
  profile.owners.emplace_back();
  if (!profile.stat.command.empty()) profile.owners.front().command = profile.stat.command.front();
  for (const Json& one : json.at("objects"))
    profile.objects.push_back({text(one, "name"), text(one, "why_nameless"), text(one, "build_id")});
  profile.sources = json.at("sources").get<std::vector<std::string>>();
  read_functions(json.at("functions"), profile);
  check_sums(profile, json);
  // Files of the first version have none: their calls are only between two functions.
  if (const auto stacks = json.find("stacks"); stacks != json.end()) read_stacks(stacks->at("rows"), profile);
  if (const auto python = json.find("python"); python != json.end()) read_python(*python, profile);
  profile.python_cut = json.value("python_cut", false);
  profile.python_samples = json.value("python_samples", 0.0);
  profile.calls_cut = json.value("calls_cut", false);
  profile.calls_too_deep = json.value("calls_too_deep", false);
  return profile;
}

}  // namespace

bool is_profile(std::string_view text) { return text.find("\"tally-profile/") != std::string_view::npos; }

Result<Profile> read_profile(std::string_view text, const std::string& name) {
  try {
    const Json json = parse_json<Json>(text);
    if (result::text(json, "schema") != profile_schema)
      return fail(Code::bad_usage, fmt::format("'{}' does not have the schema {}", printable(name), profile_schema));
    return profile_of(json);
  } catch (const Json::exception& exception) {
    return fail(Code::bad_usage,
                fmt::format("'{}' is not a result of `tally profile`: {}", printable(name),
                            parse_error_text(text, exception.what())),
                "`tally profile --format json -o FILE` writes one");
  }
}

std::vector<ProfileThread> read_profile_threads(std::string_view text) {
  std::vector<ProfileThread> threads;
  const Json json = parse_json_or_discard<Json>(text);
  if (!json.is_object()) return threads;
  try {
    for (const Json& row : json.at("threads")) {
      CodeOwner owner{.command = result::text(row, "command"), .thread = result::text(row, "name")};
      owner.pid = number<std::int64_t>(row.at("pid"));
      owner.tid = optional<std::int64_t>(row, "tid").value_or(0);
      threads.push_back({std::move(owner), counts(row.at("counts"), json.at("events").size())});
    }
  } catch (const Json::exception&) {
    return {};  // the rows of the file are enough for a comparison of functions
  }
  return threads;
}

}  // namespace tally::result
