#include "programs/settings/changes.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "programs/linux/msr.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::settings {
namespace {

// Intel SDM vol. 4, MSR_MISC_FEATURE_CONTROL: bits 0 to 3 disable the L2 hardware prefetcher, the L2 adjacent line
// prefetcher, the DCU prefetcher and the DCU IP prefetcher.
constexpr std::uint32_t feature_control = 0x1A4;
constexpr std::uint64_t all_prefetchers = 0xF;

constexpr std::string_view of_register = "msr ";

std::string cpu_folder(int processor) { return fmt::format("sys/devices/system/cpu/cpu{}/cpufreq", processor); }

Error no_frequency(const std::string& why) {
  return {Code::cannot_measure, "the frequency cannot be fixed: " + why,
          "only the host has this setting, not virtual machines or containers", 0};
}

// Sets both limits to one frequency. The kernel refuses a lower limit above the upper one, so the one that extends the
// range is written first; restoring in reverse order works for the same reason.
Result<void> add_frequency(int processor, const std::string& root, std::vector<Change>& changes) {
  const std::string folder = cpu_folder(processor);
  const auto read = [&](const char* name) { return linux::content(root + "/" + folder + "/" + name); };
  const std::string least = read("scaling_min_freq"), most = read("scaling_max_freq");
  if (least.empty() || most.empty()) {
    return fail(no_frequency(fmt::format("/{}/scaling_max_freq is missing", folder)));
  }
  // Without turbo the maximum is the base frequency; if the driver does not report it, use the maximum and disable
  // boost.
  std::string target = read("base_frequency");
  if (target.empty()) target = read("cpuinfo_max_freq");
  const auto hertz = parse_integer(target), low = parse_integer(least);
  if (!hertz || !low) return fail(no_frequency(fmt::format("/{} does not contain the base frequency", folder)));
  Change lower{folder + "/scaling_min_freq", least, target}, upper{folder + "/scaling_max_freq", most, target};
  const bool lower_first = *hertz < *low;
  changes.push_back(lower_first ? lower : upper);
  changes.push_back(lower_first ? upper : lower);
  return {};
}

Result<void> add_frequencies(const std::vector<int>& processors, const std::string& root,
                             std::vector<Change>& changes) {
  const std::string boost = linux::content(root + "/sys/devices/system/cpu/cpufreq/boost");
  if (!boost.empty()) changes.push_back({"sys/devices/system/cpu/cpufreq/boost", boost, "0"});
  for (const int processor : processors) {
    if (auto added = add_frequency(processor, root, changes); !added) return added;
  }
  return {};
}

Result<void> add_prefetchers(const std::vector<int>& processors, const std::string& root,
                             std::vector<Change>& changes) {
  const std::string vendor = linux::value_of(linux::content(root + "/proc/cpuinfo"), "vendor_id");
  if (vendor != "GenuineIntel") {
    return fail(Code::cannot_measure,
                fmt::format("switching prefetchers needs a register of Intel's processors; this processor is {}",
                            vendor.empty() ? "unknown" : "by " + printable(vendor)),
                "on AMD use the firmware settings");
  }
  for (const int processor : processors) {
    const auto now = linux::read_msr(processor, feature_control, root);
    if (!now) return fail(now.error());
    changes.push_back({fmt::format("{}{} {:#x}", of_register, processor, feature_control), fmt::format("{:#x}", *now),
                       fmt::format("{:#x}", *now | all_prefetchers)});
  }
  return {};
}

struct Register {
  int processor = 0;
  std::uint32_t number = 0;
};

Register register_of(const Change& change) {
  Register found;
  const auto words = split(change.what, ' ');
  if (words.size() == 3) {
    found.processor = static_cast<int>(parse_integer(words[1]).value_or(0));
    found.number = static_cast<std::uint32_t>(std::stoull(words[2], nullptr, 16));
  }
  return found;
}

bool is_register(const Change& change) { return change.what.starts_with(of_register); }

}  // namespace

Result<std::vector<Change>> changes_for(const SettingsRequest& asked, const std::string& root) {
  const auto processors = linux::listed_processors(linux::content(root + "/sys/devices/system/cpu/online"));
  if (!processors) return fail(Code::cannot_measure, "cannot list the processors of this machine");
  std::vector<Change> changes;
  if (asked.fix_frequency) {
    if (auto added = add_frequencies(*processors, root, changes); !added) return fail(added.error());
  }
  if (asked.prefetchers_off) {
    if (auto added = add_prefetchers(*processors, root, changes); !added) return fail(added.error());
  }
  std::erase_if(changes, [](const Change& change) { return change.before == change.set; });
  return changes;
}

Result<std::string> value_of(const Change& change, const std::string& root) {
  if (is_register(change)) {
    const Register reg = register_of(change);
    const auto value = linux::read_msr(reg.processor, reg.number, root);
    if (!value) return fail(value.error());
    return fmt::format("{:#x}", *value);
  }
  std::string text = linux::content(root + "/" + change.what);
  if (text.empty()) return fail(Code::cannot_measure, fmt::format("cannot read /{}", change.what));
  return text;
}

Result<void> set_value(const Change& change, const std::string& value, const std::string& root) {
  if (is_register(change)) {
    const Register reg = register_of(change);
    return linux::write_msr(reg.processor, reg.number, std::stoull(value, nullptr, 16), root);
  }
  if (!linux::write_kernel_file(root + "/" + change.what, value + "\n")) {
    return linux::system_failure(Code::cannot_measure, fmt::format("cannot write {} to /{}", value, change.what),
                                 "only root can, and not in a container");
  }
  const auto now = value_of(change, root);
  if (now && *now == value) return {};
  return fail(Code::cannot_measure,
              fmt::format("tally wrote {} to /{}, but it reads {}", value, change.what, now ? *now : "nothing"));
}

}  // namespace tally::settings
