#include "programs/verify/counter_noise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "programs/verify/known_events.hpp"
#include "programs/verify/trial.hpp"
#include "tally/core/base/fnv_hash.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/stats/split_mix.hpp"

namespace tally::verify {
namespace {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_.next(); }
  double uniform() { return random_.share(); }

  // The sum of twelve uniform numbers is nearly normal.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  // A Poisson number with this mean: Knuth's method for small means, the normal distribution for large ones.
  std::int64_t events(double mean) {
    if (mean > 30) return std::max<std::int64_t>(0, std::llround(mean + std::sqrt(mean) * normal()));
    const double least = std::exp(-mean);
    std::int64_t count = 0;
    for (double product = uniform(); product > least; product *= uniform()) ++count;
    return count;
  }

 private:
  stats::SplitMix64 random_;
};

struct Disturbance {
  std::int64_t page_faults = 0;
  std::int64_t interrupts = 0;
  std::int64_t lost = 0;  // instructions of an interrupted REP
};

void disturb(Count& count, const event::Event& event, const Disturbance& by, const Noise& noise, Chance& chance) {
  if (!count.value) return;
  const KnownEvent* its = known(event.id);
  if (!its) {
    // Events that the kernel counts do not come from the processor.
    if (event::definition(event.id).kind == event::Kind::software || count.trust == Trust::partial) return;
    const double factor = 1 + 0.001 * chance.normal();
    count.value = std::llround(static_cast<double>(*count.value) * factor);
    count.model += (count.model.empty() ? "" : ", ") + ("noise " + name(noise));
    return;
  }
  if (its->nature != Nature::additive) return;
  const std::int64_t added = noise.each * (by.page_faults + by.interrupts);
  const std::int64_t lost = event.id == event::Id::instructions ? by.lost : 0;
  *count.value += added - lost;
  count.trust = worst(count.trust, Trust::modelled);
  count.model = "noise " + name(noise);
  count.correction = Correction{*count.value - added, noise.each, by.page_faults, by.interrupts};
}

// Windows that end late. The counter is set again after its interrupt, so each window has a delay of its own. In the
// HPCTool document, rows at 50,000 are 5 to 205 too long, with median 77 and mean 85.5: 5 + 200 u^1.474 of a uniform u
// has that median, and mean 85.8.
class LateWindows {
 public:
  LateWindows(const backend::Order::Windows& order, std::uint64_t seed) : order_(order), chance_(seed) { draw(); }

  void begin(result::WindowsHead head) const {
    for (auto& event : head.events) event.count.trust = worst(event.count.trust, Trust::modelled);
    if (order_.sink.on_begin) order_.sink.on_begin(head);
  }

  void add(const result::Window& window) {
    length_ += window.length;
    for (; length_ >= next_length_; draw()) {
      length_ -= next_length_;
      result::Window full = window;
      full.length = next_length_;
      full.counts = {};
      if (!full.trigger) full.trigger = 0;
      if (order_.sink.on_window) order_.sink.on_window(full);
    }
    if (window.trigger) return;
    result::Window cut = window;
    cut.length = std::exchange(length_, 0);
    cut.counts = {};
    if (order_.sink.on_window) order_.sink.on_window(cut);
  }

 private:
  void draw() {
    next_length_ = static_cast<std::int64_t>(order_.triggers.front().every) +
                   std::llround(5 + 200 * std::pow(chance_.uniform(), 1.474));
  }

  const backend::Order::Windows& order_;
  Chance chance_;
  std::int64_t length_ = 0, next_length_ = 0;
};

Result<double> number_of(const std::string& key, const std::string& word, double most) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (!word.empty() && *end == 0 && value >= 0 && value <= most) return value;
  return fail(Code::bad_usage, fmt::format("noise: {}={} is not a number from 0 to {}", key, printable(word), most));
}

}  // namespace

Result<Noise> parse_noise(const std::string& text) {
  Noise noise;
  for (const std::string& assignment : split(text, ',')) {
    const std::size_t equals = assignment.find('=');
    const std::string key = assignment.substr(0, equals);
    const std::string word = equals == std::string::npos ? "" : assignment.substr(equals + 1);
    if (key == "skid") {
      if (word != "hpctool") {
        return fail(Code::bad_usage, fmt::format("noise: unknown skid '{}'", printable(word)), "skid=hpctool");
      }
      noise.skid = true;
      continue;
    }
    if (key != "seed" && key != "irq" && key != "fault") {
      return fail(Code::bad_usage, fmt::format("noise: unknown key '{}'", printable(key)),
                  "for example: seed=1,irq=0.25,fault=1,skid=hpctool");
    }
    const auto value = number_of(key, word, key == "seed" ? 1e15 : 1000);
    if (!value) return fail(value.error());
    if (key == "seed") noise.seed = static_cast<std::uint64_t>(*value);
    if (key == "irq") noise.interrupts = *value;
    if (key == "fault") noise.each = static_cast<std::int64_t>(*value);
  }
  return noise;
}

std::string name(const Noise& noise) {
  return fmt::format("seed={},irq={},fault={}{}", noise.seed, noise.interrupts, noise.each,
                     noise.skid ? ",skid=hpctool" : "");
}

Result<backend::Outcome> Noisy::run(const backend::Order& order) {
  backend::Order own = order;
  std::optional<LateWindows> late_windows;
  if (own.windows() != nullptr && noise_.skid) {
    late_windows.emplace(*order.windows(), noise_.seed ^ fnv_hash64(order.target.command.front()));
    backend::WindowSink& sink = own.windows()->sink;
    sink.on_begin = [&late_windows](const result::WindowsHead& head) { late_windows->begin(head); };
    sink.on_window = [&late_windows](const result::Window& window) { late_windows->add(window); };
  }
  auto outcome = inner_.run(own);
  if (outcome) disturb_all(*outcome, order);
  return outcome;
}

void Noisy::disturb_all(backend::Outcome& outcome, const backend::Order& order) {
  const std::vector<std::string>& command = order.target.command;
  if (command.empty()) return;
  const auto trial = trial_of(command.front());
  const std::string label = trial ? trial->label() : join(command, " ");
  Chance chance(noise_.seed ^ fnv_hash64(label) ^ executions_[label]++ << 32);
  Disturbance by;
  std::uint64_t work = 0;
  if (trial) {
    const workload::Counts expected = trial->known();
    by.page_faults =
        trial->workload->page_faults ? static_cast<std::int64_t>(trial->workload->page_faults(trial->parameters)) : 2;
    // A REP takes time for each element, though it is one instruction.
    work = expected.instructions + expected.loads + expected.stores;
  } else {
    for (std::size_t i = 0; i < outcome.counts.size() && i < order.events.size(); ++i)
      if (known(order.events[i].id) != nullptr)
        work = std::max(
            work, static_cast<std::uint64_t>(std::max<std::int64_t>(outcome.counts[i].count.value.value_or(0), 0)));
  }
  by.interrupts = chance.events(noise_.interrupts * static_cast<double>(work) / 1e6);
  const bool is_rep = label.starts_with("rep_");
  if (is_rep && by.interrupts > 0 && chance.uniform() < 0.5) by.lost = 1;
  for (std::size_t i = 0; i < outcome.counts.size() && i < order.events.size(); ++i) {
    const std::optional<std::int64_t> before = outcome.counts[i].count.value;
    disturb(outcome.counts[i].count, order.events[i], by, noise_, chance);
    // Adds the noise of the total to the last interval, so that the sum still matches.
    if (outcome.intervals.empty() || !before) continue;
    auto& last = outcome.intervals.back().counts;
    if (i < last.size() && last[i].count.value) {
      *last[i].count.value += *outcome.counts[i].count.value - *before;
    }
  }
}

}  // namespace tally::verify
