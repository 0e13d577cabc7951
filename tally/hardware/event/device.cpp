// Parses perf's PMU notation with terms as in sysfs: "pmu/event=0xc4,umask=0x1,cmask=2,inv,edge/u".
#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/names_without_event.hpp"
#include "tally/hardware/event/parsers.hpp"
#include "tally/hardware/event/perf_names.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::event {
namespace {

using linux::PmuDevice;
using Format = std::map<std::string, std::string>;

// The format/ directory of a core PMU's kernel driver, for PMUs that this machine does not have.
// Sources: arch/x86/events/intel/core.c, drivers/perf/arm_pmuv3.c, drivers/perf/apple_m1_cpu_pmu.c (Linux 6.x).
const Format& usual_format(std::string_view pmu) {
  static const Format x86{{"event", "config:0-7"},   {"umask", "config:8-15"},     {"edge", "config:18"},
                          {"pc", "config:19"},       {"any", "config:21"},         {"inv", "config:23"},
                          {"cmask", "config:24-31"}, {"in_tx", "config:32"},       {"in_tx_cp", "config:33"},
                          {"ldlat", "config1:0-15"}, {"frontend", "config1:0-23"}, {"offcore_rsp", "config1:0-63"}};
  static const Format arm{{"event", "config:0-15"}, {"long", "config1:0"}, {"rdpmc", "config1:1"}};
  static const Format apple{{"event", "config:0-7"}};
  return pmu.starts_with("armv") ? arm : pmu.starts_with("apple_") ? apple : x86;
}

Family family_of(const PmuDevice& device, const Sources& sources) {
  if (!device.is_core) return Family::none;
  if (device.name.starts_with("armv")) return Family::arm;
  if (device.name.starts_with("apple_")) return Family::apple;
  if (device.name == "cpu_atom") return Family::intel_atom;
  if (device.name == "cpu_core") return Family::intel_recent;
  // Without a `cpu` PMU the engine counts, with Intel's codes.
  const pfm::Pmu* own = device.type ? own_pmu(sources) : nullptr;
  return own ? own->family : Family::intel_core;
}

// Puts `value` into the bits of a format like "config:0-7,32-35"; false if it does not fit or the format is invalid.
bool put(std::string_view format, std::uint64_t value, Encoding& encoding) {
  const std::size_t colon = format.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view word = format.substr(0, colon);
  std::uint64_t* target = word == "config"    ? &encoding.config
                          : word == "config1" ? &encoding.config1
                          : word == "config2" ? &encoding.config2
                                              : nullptr;
  if (!target) return false;
  for (const std::string& range : split(format.substr(colon + 1), ',')) {
    const auto ends = split(range, '-');
    const auto low = parse_integer(ends.front());
    const auto high = parse_integer(ends.back());
    if (!low || !high || ends.size() > 2 || *low < 0 || *high > 63 || *low > *high) return false;
    const auto width = static_cast<unsigned>(*high - *low + 1);
    const std::uint64_t ones = width == 64 ? ~0ULL : (1ULL << width) - 1;
    *target = (*target & ~(ones << *low)) | ((value & ones) << *low);
    value = width == 64 ? 0 : value >> width;
  }
  return value == 0;
}

/// Parses the terms between the slashes.
class Terms {
 public:
  Terms(std::string_view text, const PmuDevice& device, const Sources& sources)
      : text_(text), device_(device), format_(device.type ? device.format : usual_format(device.name)) {
    encoding_.pmu = device.name;
    encoding_.type = device.type;
    encoding_.family = family_of(device, sources);
  }

  Result<Encoding> read(std::string_view terms) {
    for (const std::string& term : split(terms, ',')) {
      if (auto error = take(trimmed(term), true)) return fail(*std::move(error));
    }
    return encoding_;
  }

  /// The generic event that a core PMU's term names if no sysfs defines it.
  std::optional<Id> generic() const { return generic_; }

  const std::string& label() const { return label_; }

 private:
  Error wrong(const std::string& what, std::string hint) const {
    return {Code::bad_usage, fmt::format("'{}': {}", printable(text_), what), std::move(hint), 0};
  }

  std::optional<Error> take(const std::string& term, bool may_name_event) {
    const std::size_t equals = term.find('=');
    const std::string key = term.substr(0, equals);
    if (key.empty()) return wrong("a term is missing", "terms are separated by one comma: cpu/event=0xc4,umask=0x1/");
    if (equals != std::string::npos) return set(key, term.substr(equals + 1));
    if (const auto named = device_.events.find(key); may_name_event && named != device_.events.end()) {
      if (const auto scale = device_.scales.find(key); scale != device_.scales.end()) set(scale->second);
      for (const std::string& part : split(named->second, ',')) {
        if (auto error = take(trimmed(part), false)) return error;
      }
      return std::nullopt;
    }
    if (format_.contains(key)) return set(key, "1");
    if (const auto id = find(key); id && device_.is_core && !device_.type && has_modes(definition(*id).kind)) {
      generic_ = id;
      return std::nullopt;
    }
    return unknown(key);
  }

  // Counts in other units stay as they are.
  void set(const linux::PmuScale& scale) {
    constexpr double mebi = 1 << 20, giga = 1e9;
    if (scale.unit != "Joules" && scale.unit != "MiB" && scale.unit != "Bytes") return;
    encoding_.unit = scale.unit == "Joules" ? Unit::nanojoules : Unit::bytes;
    encoding_.scale = scale.factor * (scale.unit == "Joules" ? giga : scale.unit == "MiB" ? mebi : 1);
  }

  std::optional<Error> set(const std::string& key, const std::string& text) {
    if (key == "name") {
      label_ = printable(text);
      return std::nullopt;
    }
    for (const char* sampling : {"period", "freq", "call-graph", "stack-size", "branch_type", "time", "overwrite"}) {
      if (key == sampling) return wrong(fmt::format("'{}' applies to sampling, not to counting", key), "omit it");
    }
    if (text == "?") return wrong(fmt::format("the event needs a value for '{}'", key), fmt::format("write {}=N", key));
    const auto value = parse_unsigned(text);
    if (!value) return wrong(fmt::format("'{}' is not a number", printable(text)), "numbers are 5 or 0x5");
    if (key == "config") encoding_.config = *value;
    if (key == "config1") encoding_.config1 = *value;
    if (key == "config2") encoding_.config2 = *value;
    if (key == "config" || key == "config1" || key == "config2") return std::nullopt;
    const auto field = format_.find(key);
    if (field == format_.end()) return unknown(key);
    if (put(field->second, *value, encoding_)) return std::nullopt;
    return wrong(fmt::format("{}={} does not fit its bits ({})", key, printable(text), field->second), "");
  }

  Error unknown(const std::string& key) const {
    std::vector<std::string> names;
    for (const auto& [name, terms] : device_.events) names.push_back(name);
    for (const auto& [name, where] : format_) names.push_back(name);
    const auto near = nearest(key, names);
    return wrong(device_.type ? fmt::format("the PMU {} has no '{}'", device_.name, printable(key))
                              : fmt::format("this machine's kernel has no PMU {}, which would say what '{}' is",
                                            device_.name, printable(key)),
                 !near.empty()   ? "did you mean " + join(near, ", ") + "?"
                 : names.empty() ? "it has no named events or fields: config=N works"
                 : !device_.type ? fmt::format("without it, only its fields work: {}", join(field_names(), ", "))
                                 : fmt::format("`tally events '{}/*'` lists its events; its fields are {}",
                                               device_.name, join(field_names(), ", ")));
  }

  std::vector<std::string> field_names() const {
    std::vector<std::string> names;
    for (const auto& [name, where] : format_) names.push_back(name);
    return names;
  }

  std::string_view text_;
  const PmuDevice& device_;
  const Format& format_;
  Encoding encoding_;
  std::optional<Id> generic_;
  std::string label_;
};

Error no_such_pmu(std::string_view text, const std::string& name, const Sources& sources) {
  if (const auto uncounted = name_without_event(name))
    return {Code::bad_usage,
            fmt::format("'{}': this machine's kernel has no PMU '{}', which counts {}", printable(text),
                        printable(name), uncounted->what),
            std::string(uncounted->instead), 0};
  const auto here = linux::pmu_names(sources.root);
  const auto near = nearest(name, here);
  return {Code::bad_usage, fmt::format("'{}': this machine's kernel has no PMU '{}'", printable(text), printable(name)),
          !near.empty()  ? "did you mean " + join(near, ", ") + "?"
          : here.empty() ? "/sys/bus/event_source/devices contains no PMU"
                         : "there are " + join(here, ", "),
          0};
}

// The PMUs of a name outside the cores: the one of this name, or those that add a number: uncore_imc_0, uncore_imc_1.
std::vector<PmuDevice> devices_of(const std::string& root, const std::string& name) {
  std::vector<PmuDevice> devices;
  for (const std::string& other : linux::pmu_names(root)) {
    const std::string_view rest = std::string_view(other).substr(std::min(name.size(), other.size()));
    const bool is_numbered =
        rest.starts_with('_') && rest.size() > 1 && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!other.starts_with(name) || !(rest.empty() || is_numbered)) continue;
    if (auto device = linux::pmu_device(root, other)) devices.push_back(*std::move(device));
  }
  return devices;
}

// Counters on one processor of each package or die, which `cpumask` lists.
std::vector<MachineCounter> counters_of(const std::vector<PmuDevice>& devices) {
  std::vector<MachineCounter> counters;
  for (const PmuDevice& device : devices) {
    if (device.is_core || !device.type) continue;
    for (const int processor : linux::listed_processors(device.cpus).value_or(std::vector<int>{}))
      counters.push_back({*device.type, processor});
  }
  return counters;
}

}  // namespace

Parsed parse_device(std::string_view text, const Sources& sources) {
  const std::size_t first = text.find('/');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t last = text.rfind('/');
  if (first == last) {
    return fail(Code::bad_usage, fmt::format("'{}' has one '/'; an event of a PMU has two", printable(text)),
                "for example cpu/event=0xc4,umask=0x1/");
  }
  const std::string name(text.substr(0, first));
  auto device = linux::pmu_device(sources.root, name);
  const std::vector<PmuDevice> alike =
      device && device->is_core ? std::vector<PmuDevice>{} : devices_of(sources.root, name);
  if (!device && !alike.empty()) device = alike.front();
  if (!device && linux::is_core_pmu(name)) device = PmuDevice{name, {}, {}, {}, {}, true};
  if (!device) return fail(no_such_pmu(text, name, sources));

  Terms terms(text, *device, sources);
  auto encoding = terms.read(text.substr(first + 1, last - first - 1));
  if (!encoding) return fail(encoding.error());
  encoding->machine = counters_of(alike);
  Mode mode = Mode::user;
  if (std::string_view letters = text.substr(last + 1); !letters.empty()) {
    if (letters.front() == ':') letters.remove_prefix(1);
    const auto asked = parse_modifiers(letters, text);
    if (!asked) return fail(asked.error());
    if (encoding->machine.empty()) mode = *asked;
  }
  const std::string label = terms.label().empty() ? printable(text.substr(0, last + 1)) : terms.label();
  Event event = coded(text, label, *encoding, mode);
  if (is_of_machine(event) && text.back() != '/')
    event.notes.push_back(
        fmt::format("{}: the suffix is ignored, because {} counts for the whole machine", label, name));
  if (terms.generic()) {
    const bool alone = encoding->config == 0 && encoding->config1 == 0 && encoding->config2 == 0;
    if (!alone) {
      return fail(Code::bad_usage,
                  fmt::format("'{}': cannot resolve the name without a PMU {}, which this machine does not have",
                              printable(text), name),
                  "write the event by its code: cpu/event=0xc4,umask=0x1/");
    }
    event.id = *terms.generic();
    event.encoding = kernel_number(event.id);
  }
  return event;
}

Parsed parse_bare_device_event(std::string_view text, const Sources& sources) {
  const auto [base, letters] = take_apart(text);
  for (const std::string& name : linux::pmu_names(sources.root)) {
    if (!linux::is_core_pmu(name)) continue;
    const auto device = linux::pmu_device(sources.root, name);
    if (!device || !device->events.contains(std::string(base))) continue;
    auto event = parse_device(fmt::format("{}/{}/{}", name, base, letters.value_or("")), sources);
    if (event && *event) (*event)->asked = text;
    return event;
  }
  return std::nullopt;
}

}  // namespace tally::event
