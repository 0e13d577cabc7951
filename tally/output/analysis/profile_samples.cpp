#include "tally/output/analysis/profile_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {
namespace {

std::int64_t whole(const result::Profile& profile, std::size_t event) {
  return profile.stat.events[event].total.count.value.value_or(0);
}

bool is_estimated(const result::Profile& profile, std::size_t event) {
  return profile.is_sampled() && !profile.sampling[event].of_all();
}

bool is_clock(const std::string& name) { return name.starts_with("task-clock") || name.starts_with("cpu-clock"); }
bool is_fault(const std::string& name) { return name.find("fault") != std::string::npos; }

/// Where a sample's instruction is, relative to the event.
std::string skid(const result::EventSampling& how, const std::string& name) {
  if (!how.by_hardware && is_fault(name)) return "each at the instruction that faulted or waited for the page";
  if (!how.by_hardware)
    return how.user_only ? "each where a timer interrupted the program"
                         : "each where a timer interrupted the program, or where the kernel next enabled interrupts";
  if (how.precise >= 2) return "each at the instruction that counted (precise_ip 2)";
  if (how.precise == 1) return "each at a constant distance after the instruction that counted (precise_ip 1)";
  return "each some instructions after the one that counted: this PMU is not precise; counts of functions are close, "
         "but a line may get the counts of a neighbouring line";
}

std::string rate(const result::EventSampling& how, const std::string& name) {
  if (how.every == 0)
    return fmt::format("{} times per second and CPU", thousands(static_cast<std::int64_t>(how.frequency)));
  const std::string number = thousands(static_cast<std::int64_t>(how.every));
  return is_clock(name) ? fmt::format("every {} ns", number) : fmt::format("one of {}", number);
}

/// Functions that have no caller, or whose caller keeps no frame.
bool begins_a_thread(const std::string& name) {
  static const char* const all[] = {"_start",
                                    "main",
                                    "start_thread",
                                    "clone",
                                    "clone3",
                                    "__clone",
                                    "__clone3",
                                    "__libc_start_main",
                                    "__libc_start_call_main",
                                    "__libc_start_main_impl",
                                    "_dl_start",
                                    "_dl_start_user",
                                    "ret_from_fork",
                                    "ret_from_fork_asm"};
  return std::any_of(std::begin(all), std::end(all), [&](const char* one) { return name == one; });
}

/// Incomplete stacks: the files in which they end, and their share.
std::string cut_stacks(const result::Profile& profile) {
  std::map<std::string, std::int64_t> files;
  std::int64_t cut = 0, all = 0;
  const std::size_t events = profile.event_count();
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const result::ProfileCall& call = profile.calls[i];
    if (call.parent != result::CodeCall::no_parent) continue;
    const std::int64_t count = profile.inclusive[i * events];
    all += count;
    const result::ProfileFunction& outermost = profile.functions[call.callee];
    if (begins_a_thread(outermost.name)) continue;
    cut += count;
    files[file_name(profile.objects[outermost.object].name)] += count;
  }
  // Shares below 0.1 % are not reported.
  if (cut * 1000 <= all) return "";
  std::vector<std::pair<std::int64_t, std::string>> most;
  for (const auto& [name, count] : files) most.emplace_back(count, name);
  std::sort(most.rbegin(), most.rend());
  constexpr std::size_t shown = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most.size(), shown); ++i) names.push_back(most[i].second);
  if (most.size() > shown) names.emplace_back("others");
  return fmt::format(
      "{:.1f} % of call stacks are incomplete: they end in {}; build with -fno-omit-frame-pointer, use --backend "
      "engine, or raise kernel.perf_event_max_stack",
      100.0 * static_cast<double>(cut) / static_cast<double>(all), join(names, ", "));
}

}  // namespace

ShareInterval share_of_samples(const result::Profile& profile, std::size_t event, std::int64_t count) {
  const std::int64_t all = whole(profile, event);
  if (all == 0) return {};
  const double share = static_cast<double>(count) / static_cast<double>(all);
  if (!is_estimated(profile, event)) return {share, share};
  return share_interval(std::clamp(share, 0.0, 1.0), profile.sampling[event].effective);
}

SampledCount sampled_count(const result::Profile& profile, std::size_t event, std::int64_t count) {
  const double samples = is_estimated(profile, event) ? profile.sampling[event].effective : 0;
  return {static_cast<double>(count), static_cast<double>(whole(profile, event)), samples};
}

std::string interval_text(const result::Profile& profile, std::size_t event, std::int64_t count) {
  if (!is_estimated(profile, event) || whole(profile, event) == 0) return "";
  const ShareInterval share = share_of_samples(profile, event, count);
  return fmt::format("{:.2f} – {:.2f} %", 100 * share.low, 100 * share.high);
}

result::Profile in_samples(result::Profile profile) {
  if (!profile.is_sampled()) return profile;
  profile.counts = profile.samples;
  for (std::size_t e = 0; e < profile.event_count(); ++e) {
    if (profile.sampling[e].of_all()) continue;
    result::EventCount& event = profile.stat.events[e].total;
    event.name =
        profile.event_count() == 1 ? EventName{"samples"} : EventName{"samples of " + event.name.base, event.name.mode};
    event.count.value = profile.sampling[e].samples;
    profile.unplaced[e] = 0;
  }
  return profile;
}

namespace {

/// "1.203 s of cpu-clock", "200,000 page-faults".
std::string counted_text(const result::EventCount& event, std::int64_t counted) {
  return fmt::format("{}{} {}", value_text(counted, event.unit), event.unit == Unit::events ? "" : " of",
                     event.name.text());
}

}  // namespace

std::vector<std::string> sampling_lines(const result::Profile& profile) {
  std::vector<std::string> lines;
  for (std::size_t e = 0; e < profile.sampling.size(); ++e) {
    const result::EventSampling& how = profile.sampling[e];
    const std::string name = profile.stat.events[e].total.name.text();
    std::string text =
        how.of_all() ? fmt::format("{}: every one", name) : fmt::format("{}: sampled, {}", name, rate(how, name));
    text += "; " + skid(how, name);
    if (how.user_only) text += "; of user mode only";
    lines.push_back(std::move(text));
    if (!how.of_all() && how.counted > 0)
      lines.push_back(fmt::format("{} samples represent {:.1f} % of the {} counted", thousands(how.samples),
                                  100.0 * static_cast<double>(whole(profile, e)) / static_cast<double>(how.counted),
                                  counted_text(profile.stat.events[e].total, how.counted)));
  }
  if (!profile.sampling.empty())
    if (std::string cut = cut_stacks(profile); !cut.empty()) lines.push_back(std::move(cut));
  return lines;
}

}  // namespace tally::output
