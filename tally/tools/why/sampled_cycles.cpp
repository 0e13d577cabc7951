#include "tally/tools/why/sampled_cycles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/profile/resolve_profile.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::why {
namespace {

constexpr std::int64_t few_samples = 50;
constexpr double small_share = 0.01;

// The event's position; that of none if it has no value.
std::size_t estimate_of(const result::Profile& profile) {
  const auto& events = profile.stat.events;
  const auto estimate = std::find_if(events.begin(), events.end(), [](const result::Event& event) {
    return event.total.name.base == "core-cycles-estimate" && event.total.count.value;
  });
  return static_cast<std::size_t>(estimate - events.begin());
}

// Several processes may have the same function, in a file at the same path.
using FunctionKey = std::pair<std::string, std::string>;

FunctionKey key_of(const result::Profile& profile, const std::vector<std::string>& names, std::uint32_t function) {
  return {profile.objects[profile.functions[function].object].name, names[function]};
}

// A function with enough samples.
struct Sampled {
  double share = 0, low = 0, high = 0;  ///< of all cycles
  double modelled = 0;                  ///< cycles by the model's shares
  double factor() const { return share / modelled; }
};
using SampledFunctions = std::map<FunctionKey, Sampled>;

struct Shares {
  SampledFunctions functions;
  double kernel = 0, sampled = 0;  ///< sampled: sum of the functions
};

Shares shares_of(const result::Profile& sampled, const SampledFunctions& modelled, double kernel_share) {
  Shares shares;
  const bool user_only = sampled.sampling.front().user_only;
  const auto all = static_cast<double>(output::total_count(sampled, 0));
  const double user = user_only ? 1 - kernel_share : 1;
  shares.kernel = user_only ? kernel_share : 0;
  const std::vector<std::string> names = output::function_names(sampled, false);
  for (const output::ProfileSum& sum : output::sums_of(sampled, output::ProfileBy::function)) {
    const FunctionKey key = key_of(sampled, names, sum.function);
    const double share = user * static_cast<double>(sum.counts[0]) / all;
    if (key.first == result::kernel_code) {
      shares.kernel += share;
      continue;
    }
    const auto function = modelled.find(key);
    if (sum.samples[0] < few_samples || function == modelled.end() || function->second.modelled <= 0) continue;
    const ShareInterval interval = output::share_of_samples(sampled, 0, sum.counts[0]);
    shares.functions[key] = {share, user * interval.low, user * interval.high, function->second.modelled};
    shares.sampled += share;
  }
  return shares;
}

std::string millions(double cycles) { return fmt::format("{:.4g} M", cycles / 1e6); }

// The largest functions, and those that the model divides otherwise.
void add_intervals(std::vector<std::string>& notices, const SampledFunctions& functions, double total) {
  constexpr std::size_t most = 5;
  std::vector<std::pair<FunctionKey, Sampled>> all(functions.begin(), functions.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.share > b.second.share; });
  for (std::size_t i = 0; i < std::min(all.size(), most) && all[i].second.share >= small_share; ++i) {
    const Sampled& function = all[i].second;
    const bool differs = function.modelled < function.low * total || function.modelled > function.high * total;
    notices.push_back(fmt::format("core-cycles-estimate of {}: {} to {} by samples (95 %){}", all[i].first.second,
                                  millions(function.low * total), millions(function.high * total),
                                  differs ? "; by the model's share " + millions(function.modelled) : ""));
  }
}

// Adds a row for the kernel, without counts.
void add_kernel(result::Profile& profile) {
  result::ProfileFunction kernel;
  kernel.name = result::kernel_code;
  kernel.object = static_cast<std::uint32_t>(profile.objects.size());
  profile.objects.push_back({.name = std::string(result::kernel_code)});
  result::ProfileRow row;
  row.owner = profile.rows.back().owner;
  row.function = static_cast<std::uint32_t>(profile.functions.size());
  profile.functions.push_back(std::move(kernel));
  profile.rows.push_back(row);
  profile.counts.resize(profile.counts.size() + profile.event_count());
}

}  // namespace

Result<result::Profile> sampled_run(const measure::StatOptions& options, linux::Signals& signals) {
  backend::Order order{.target = options.target,
                       .conditions = options.conditions,
                       .events = *event::parse_lists({"cpu-clock"}),
                       .instrument = backend::Order::Profile{}};
  options.input.rewind();
  const auto choice = backend::choose("perf", order, linux::read_host_machine());
  if (!choice) return fail(choice.error());
  result::CodeCounts code;
  const auto sampled = measure::profile(*choice->backend, order, code, signals);
  if (!sampled) return fail(sampled.error());
  if (sampled->runs.empty()) return fail(Code::cannot_measure, "the sampled run failed", "");
  return profile::resolve(std::move(code), *sampled, {}, profile::Inlines::no);
}

void divide_by_samples(result::Profile& profile, const result::Profile& sampled, double kernel_share) {
  const std::size_t event = estimate_of(profile), events = profile.event_count();
  const auto total = static_cast<double>(*profile.stat.events[event].total.count.value);
  const std::vector<std::string> names = output::function_names(profile, false);
  SampledFunctions modelled;
  for (std::size_t i = 0; i < profile.rows.size(); ++i)
    modelled[key_of(profile, names, profile.rows[i].function)].modelled += static_cast<double>(profile.count(i, event));
  const Shares shares = shares_of(sampled, modelled, kernel_share);
  double rest = total;  // by the model
  for (const auto& [key, function] : shares.functions) rest -= function.modelled;
  // If all have samples, they share what others have of these.
  const double user = std::max(0.0, 1 - shares.kernel), others = std::max(0.0, user - shares.sampled);
  const double factor_of_others = rest > 0 ? total * others / rest : 0;
  const double more = rest > 0 || shares.sampled == 0 ? 1 : user / shares.sampled;
  add_intervals(profile.stat.notices, shares.functions, total);
  if (shares.kernel >= small_share)
    profile.stat.notices.push_back(fmt::format("core-cycles-estimate of {}: {} by {}", result::kernel_code,
                                               millions(shares.kernel * total),
                                               sampled.sampling.front().user_only ? "clock ticks" : "samples"));
  if (shares.kernel > 0) add_kernel(profile);
  // Rounds sums instead of counts, so that all rows together have the total.
  double sum = 0;
  const auto scaled = [&](std::int64_t count, double factor) {
    const auto before = std::llround(sum);
    sum += static_cast<double>(count) * factor;
    return std::llround(sum) - before;
  };
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    std::int64_t& count = profile.counts[i * events + event];
    if (profile.rows[i].function == names.size()) continue;  // the kernel
    const auto function = shares.functions.find(key_of(profile, names, profile.rows[i].function));
    count =
        scaled(count, function == shares.functions.end() ? factor_of_others : function->second.factor() * total * more);
  }
  for (auto* const counts : {&profile.repeated, &profile.unplaced})
    (*counts)[event] = scaled((*counts)[event], factor_of_others);
  if (shares.kernel > 0)
    profile.counts[profile.counts.size() - events + event] += std::llround(total) - std::llround(sum);
}

void divide_estimate(result::Profile& profile, double kernel_share, const measure::StatOptions& options,
                     linux::Signals& signals) {
  const std::size_t event = estimate_of(profile);
  if (event == profile.event_count()) return;
  // Functions of Python have the model's shares, and others must fit them.
  std::string why = profile.python.empty() ? "" : "functions of Python are not sampled";
  if (why.empty()) {
    const auto sampled = sampled_run(options, signals);
    if (!sampled) {
      why = "no native run could be sampled: " + sampled.error().message;
    } else if (sampled->sampling.front().samples < few_samples || profile.rows.empty()) {
      why = fmt::format("{} samples of a native run are too few", sampled->sampling.front().samples);
    } else {
      divide_by_samples(profile, *sampled, kernel_share);
      profile.stat.events[event].total.count.reason += fmt::format(
          "; this bound is that of the total: functions with {} samples or more have their share of the {} samples of "
          "another native run, other functions and lines what the model gives them of the rest",
          few_samples, thousands(sampled->sampling.front().samples));
    }
  }
  if (!why.empty())
    profile.stat.events[event].total.count.reason +=
        "; this bound is that of the total: functions and lines have the shares that the model gives them, because " +
        why;
}

}  // namespace tally::why
