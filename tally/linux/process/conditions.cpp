#include "tally/linux/process/conditions.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr unsigned long ask_only = 0xffffffff;

struct Setting {
  std::string_view name;
  std::string_view value;
  char separator;  ///< separator of a variable that is a list of "key=value" settings; 0 for a single value
};

// The program that reads each one documents it. To add one, add a line here and in docs/guides/repeatable-counts.md.
constexpr Setting settings[] = {
    // The kernel registers no restartable sequences: the C library then takes the same paths with every backend.
    {"GLIBC_TUNABLES", "glibc.pthread.rseq=0", ':'},
    {"PYTHONHASHSEED", "0", 0},
    {"PERL_HASH_SEED", "0", 0},
    {"PERL_PERTURB_KEYS", "0", 0},
    {"PERL_RAND_SEED", "0", 0},          // Perl 5.38 and later
    {"QT_HASH_SEED", "0", 0},            // Qt 5 and 6
    {"GODEBUG", "randautoseed=0", ','},  // Go 1.20 and later: the seed of math/rand
};

void apply(const Setting& setting, std::vector<std::string>& environment) {
  const std::string begin = std::string(setting.name) + "=";
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const std::string& one) { return one.starts_with(begin); });
  if (found == environment.end()) {
    environment.push_back(begin + std::string(setting.value));
    return;
  }
  const std::string key(setting.value.substr(0, setting.value.find('=') + 1));
  if (setting.separator == 0 || found->find(key) != std::string::npos) return;
  if (found->size() > begin.size()) *found += setting.separator;
  *found += setting.value;
}

// Room for as many CPUs as a kernel can support.
using ProcessorSet = std::array<cpu_set_t, 8>;
constexpr std::size_t processor_limit = sizeof(ProcessorSet) * 8;

// Whether a list in the kernel's format, "0-3,8", contains a number.
bool lists(const std::string& list, int number) {
  for (const std::string& range : split(list, ',')) {
    const auto ends = split(range, '-');
    const auto first = parse_integer(ends.front());
    const auto last = parse_integer(ends.back());
    if (first && last && *first <= number && number <= *last) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<int>> listed_processors(const std::string& list) {
  std::vector<int> found;
  for (const std::string& range : split(list, ',')) {
    const auto ends = split(range, '-');
    const auto first = parse_integer(ends.front());
    const auto last = parse_integer(ends.back());
    const auto limit = static_cast<std::int64_t>(processor_limit);
    if (!first || !last || ends.size() > 2 || *first < 0 || *first > *last || *last >= limit) return std::nullopt;
    for (std::int64_t i = *first; i <= *last; ++i) found.push_back(static_cast<int>(i));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::string> repeatable_environment(std::vector<std::string> environment) {
  for (const Setting& setting : settings) apply(setting, environment);
  return environment;
}

std::vector<std::string> kept_variables(const std::string& environment) {
  std::vector<std::string> names = split(environment, ',');
  if (!names.empty()) names.erase(names.begin());
  return names;
}

std::vector<std::string> fixed_environment(const std::vector<std::string>& own, const std::vector<std::string>& kept) {
  // To change them, change docs/guides/repeatable-counts.md too.
  std::vector<std::string> environment{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC0",
                                       "TERM=dumb"};
  for (const std::string& name : kept) {
    const auto is_same = [&](const std::string& one) { return one.starts_with(name + "="); };
    std::erase_if(environment, is_same);
    if (const auto found = std::find_if(own.begin(), own.end(), is_same); found != own.end())
      environment.push_back(*found);
  }
  return environment;
}

bool addresses_are_randomized() {
  const int own = personality(ask_only);
  return (own < 0 || (own & ADDR_NO_RANDOMIZE) == 0) && content("/proc/sys/kernel/randomize_va_space") != "0";
}

Result<FixedAddresses> FixedAddresses::hold() {
  const int before = personality(ask_only);
  if (before < 0 || personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) < 0) {
    return system_failure(Code::cannot_measure, "cannot disable address randomisation (personality)",
                          "a container's filter of system calls may forbid it; without --repeatable it is not needed");
  }
  return FixedAddresses(static_cast<unsigned long>(before));
}

FixedAddresses::FixedAddresses(FixedAddresses&& other) noexcept
    : before_(other.before_), held_(std::exchange(other.held_, false)) {}

FixedAddresses::~FixedAddresses() {
  if (held_) personality(before_);
}

Result<void> check_processor(int processor) {
  ProcessorSet allowed{};
  if (sched_getaffinity(0, sizeof allowed, allowed.data()) != 0) {
    return system_failure(Code::cannot_measure,
                          "cannot read the processors that the program may use (sched_getaffinity)");
  }
  const auto number = static_cast<std::size_t>(processor);
  if (number < processor_limit && CPU_ISSET_S(number, sizeof allowed, allowed.data())) return {};
  const std::string online = content("/sys/devices/system/cpu/online");
  if (!online.empty() && !lists(online, processor)) {
    return fail(Code::bad_usage, fmt::format("processor {} does not exist or is offline", processor),
                fmt::format("online processors: {}", online));
  }
  const std::string list = value_of(content("/proc/self/status"), "Cpus_allowed_list");
  return fail(Code::cannot_measure, fmt::format("tally may not run on processor {}", processor),
              fmt::format("taskset, a container or a cpuset confines it to: {}", list.empty() ? "others" : list));
}

Result<std::vector<int>> processors(const std::string& list) {
  const std::string online = content("/sys/devices/system/cpu/online");
  if (list.empty() && online.empty()) {
    return fail(Code::cannot_measure, "cannot read the processors of this machine (/sys/devices/system/cpu/online)",
                "mount /sys, or name the processors: -C 0-3");
  }
  auto found = listed_processors(list.empty() ? online : list);
  if (!found) {
    return fail(Code::bad_usage, fmt::format("'{}' is not a list of processors", printable(list)),
                "for example: 0,2-3");
  }
  for (const int processor : *found) {
    if (online.empty() || lists(online, processor)) continue;
    return fail(Code::bad_usage, fmt::format("processor {} does not exist or is offline", processor),
                fmt::format("online processors: {}", online));
  }
  return *std::move(found);
}

bool stay_on(int processor) noexcept {
  ProcessorSet one{};
  CPU_SET_S(static_cast<std::size_t>(processor), sizeof one, one.data());
  return sched_setaffinity(0, sizeof one, one.data()) == 0;
}

long configured_processors() { return sysconf(_SC_NPROCESSORS_CONF); }

std::vector<std::string> environment_for(const Conditions& conditions) {
  std::vector<std::string> own;
  for (char** one = environ; *one != nullptr; ++one) own.emplace_back(*one);
  if (conditions.fixes_environment()) own = fixed_environment(own, kept_variables(conditions.environment));
  return conditions.repeatable ? repeatable_environment(std::move(own)) : own;
}

}  // namespace tally::linux
