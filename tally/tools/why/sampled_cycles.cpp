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

constexpr std::int64_t few_samples = 50;  // of the run
// The share of a function that the model gives it counts as this many samples: it errs by about 30 %.
constexpr double samples_of_model = 10;
constexpr double small_share = 0.01;

// The event's position; that of none if it has no value.
std::size_t estimate_of(const result::Profile& profile) {
  const auto& events = profile.stat.events;
  const auto estimate = std::find_if(events.begin(), events.end(), [](const result::Event& event) {
    return event.total.name.base == "core-cycles-estimate" && event.total.count.value;
  });
  return static_cast<std::size_t>(estimate - events.begin());
}

using output::FunctionId;

// A function with samples.
struct Sampled {
  double share = 0, low = 0, high = 0;  ///< of all cycles
  double weight = 0;                    ///< of this share; the rest is the weight of the model's
  double modelled = 0;                  ///< cycles by the model's shares
};
using SampledFunctions = std::map<FunctionId, Sampled>;

struct Shares {
  SampledFunctions functions;
  double kernel = 0;
  double sampled = 0, modelled = 0;  ///< sums of the weighted shares
};

Shares shares_of(const result::Profile& sampled, const SampledFunctions& modelled, double kernel_share) {
  Shares shares;
  const bool user_only = sampled.sampling.front().user_only;
  const auto all = static_cast<double>(output::total_count(sampled, 0));
  const double user = user_only ? 1 - kernel_share : 1;
  shares.kernel = user_only ? kernel_share : 0;
  const std::vector<FunctionId> keys = output::function_ids(sampled);
  for (const output::ProfileSum& sum : output::sums_of(sampled, output::ProfileBy::function)) {
    const FunctionId& key = keys[sum.function];
    const double share = user * static_cast<double>(sum.counts[0]) / all;
    if (key.first == result::kernel_code) {
      shares.kernel += share;
      continue;
    }
    const auto function = modelled.find(key);
    if (function == modelled.end() || function->second.modelled <= 0) continue;
    const ShareInterval interval = output::share_of_samples(sampled, 0, sum.counts[0]);
    const auto samples = static_cast<double>(sum.samples[0]);
    const double weight = samples / (samples + samples_of_model);
    shares.functions[key] = {share, user * interval.low, user * interval.high, weight, function->second.modelled};
    shares.sampled += weight * share;
  }
  return shares;
}

std::string millions(double cycles) { return fmt::format("{:.4g} M", cycles / 1e6); }

// "; 95 % intervals by samples: chase 544.6 M to 607.1 M (modelled 530.3 M), …": of the largest functions, with what
// the model gives them if that is outside.
std::string intervals_text(const SampledFunctions& functions, double total, double user) {
  constexpr std::size_t most = 5;
  std::vector<std::pair<FunctionId, Sampled>> all(functions.begin(), functions.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.share > b.second.share; });
  std::vector<std::string> names, texts;
  for (const auto& [key, function] : all) names.push_back(key.second);
  names = output::function_names(names, false);
  for (std::size_t i = 0; i < std::min(all.size(), most) && all[i].second.share >= small_share; ++i) {
    const Sampled& function = all[i].second;
    const double modelled = user * function.modelled;  // the model lacks the kernel
    const bool differs = modelled < function.low * total || modelled > function.high * total;
    texts.push_back(fmt::format("{} {} to {}{}", names[i], millions(function.low * total),
                                millions(function.high * total),
                                differs ? fmt::format(" (modelled {})", millions(modelled)) : ""));
  }
  return texts.empty() ? "" : "; 95 % intervals by samples: " + join(texts, ", ");
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

namespace {

Result<result::Profile> profiled(const measure::StatOptions& options, const char* event, backend::Order::Profile way,
                                 const char* backend, linux::Signals& signals) {
  backend::Order order{.target = options.target,
                       .conditions = options.conditions,
                       .events = *event::parse_lists({event}),
                       .instrument = std::move(way)};
  options.input.rewind();
  const auto choice = backend::choose(backend, order, linux::read_host_machine());
  if (!choice) return fail(choice.error());
  result::CodeCounts code;
  const auto stat = measure::profile(*choice->backend, order, code, signals);
  if (!stat) return fail(stat.error());
  if (stat->runs.empty() || stat->incomplete)
    return fail(Code::cannot_measure, fmt::format("the run that counts {} failed", event), "");
  return profile::resolve(std::move(code), *stat, {}, profile::Inlines::no);
}

}  // namespace

Result<result::Profile> sampled_run(const measure::StatOptions& options, linux::Signals& signals) {
  return profiled(options, "cpu-clock", {}, "perf", signals);
}

Result<result::Profile> run_with_calls(const measure::StatOptions& options, linux::Signals& signals) {
  return profiled(options, "instructions", {.calls = true}, "engine", signals);
}

void divide_by_samples(result::Profile& profile, const result::Profile& sampled, double kernel_share) {
  const std::size_t event = estimate_of(profile), events = profile.event_count();
  const auto total = static_cast<double>(*profile.stat.events[event].total.count.value);
  const std::vector<FunctionId> keys = output::function_ids(profile);
  SampledFunctions modelled;
  for (std::size_t i = 0; i < profile.rows.size(); ++i)
    modelled[keys[profile.rows[i].function]].modelled += static_cast<double>(profile.count(i, event));
  Shares shares = shares_of(sampled, modelled, kernel_share);
  shares.modelled = 1;
  for (const auto& [key, function] : shares.functions) shares.modelled -= function.weight * function.modelled / total;
  // The model's shares divide what the samples leave, but no more than a multiple of what the model gives: functions
  // with samples share the rest.
  constexpr double most_times = 4;
  const double user = std::max(0.0, 1 - shares.kernel), left = std::max(0.0, user - shares.sampled);
  const double of_model = shares.modelled > 0 ? std::min(left / shares.modelled, most_times) : 0;
  const double given = shares.sampled + of_model * shares.modelled;
  const double more = given > 0 ? user / given : 1;
  result::EventCount& estimate = profile.stat.events[event].total;
  estimate.count.reason += fmt::format(
      "; this bound is that of the total: functions have the mean of {} samples of another native run and of the "
      "model, which counts as {:.0f}; the model divides them among lines{}",
      thousands(sampled.sampling.front().samples), samples_of_model, intervals_text(shares.functions, total, user));
  if (shares.kernel > 0)
    estimate.count.reason += fmt::format("; {} {} by {}", result::kernel_code, millions(shares.kernel * total),
                                         sampled.sampling.front().user_only ? "clock ticks" : "samples");
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
    if (profile.rows[i].function == keys.size()) continue;  // the kernel
    const auto function = shares.functions.find(keys[profile.rows[i].function]);
    double factor = of_model;
    if (function != shares.functions.end()) {
      const Sampled& own = function->second;
      factor = own.weight * own.share * total / own.modelled + (1 - own.weight) * of_model;
    }
    count = scaled(count, factor * more);
  }
  for (auto* const counts : {&profile.repeated, &profile.unplaced})
    (*counts)[event] = scaled((*counts)[event], of_model * more);
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
    }
  }
  if (!why.empty())
    profile.stat.events[event].total.count.reason +=
        "; this bound is that of the total: functions and lines have the shares that the model gives them, because " +
        why;
}

}  // namespace tally::why
