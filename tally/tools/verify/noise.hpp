// Noise laid over the counts of programs with known answers: what a processor's counters add, with a seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tally/counting/backend/backend.hpp"

namespace tally::verify {

/// How much of it.
struct Noise {
  std::uint64_t seed = 1;
  double interrupts = 0.25;  ///< in a million instructions, on average: 250 in a second of 1,000 million
  std::int64_t each = 1;     ///< what a page fault or an interrupt adds to instructions and to branches
  bool skid = false;         ///< windows are too long, as HPCTool's are: by 5 to 205, in the middle by 77
  bool operator==(const Noise&) const = default;
};

/// "seed=7,irq=0.5,fault=2,skid=hpctool": each may be left out. Errors: bad_usage.
Result<Noise> parse_noise(const std::string& text);

/// The same text, in full.
std::string name(const Noise& noise);

/// A backend whose counts are another's with noise: instructions and branches get `each` for every page fault that the
/// program takes by its formula, and for interrupts that come by chance (of a program without a formula these alone);
/// some of these cost a REP one instruction; modelled counts vary by a tenth of a percent. Such a count is the word of
/// a model, and says what was added. The same seed and the same executions give the same counts. Windows with skid have
/// lengths alone, and no counts.
class Noisy final : public backend::Backend {
 public:
  /// The backend must live as long.
  Noisy(backend::Backend& inner, const Noise& noise) : inner_(inner), noise_(noise) {}

  backend::Traits traits() const override { return inner_.traits(); }
  std::optional<Error> refuses(const backend::CountOrder& order) const override { return inner_.refuses(order); }
  std::optional<Error> refuses(const backend::RegionOrder& order) const override { return inner_.refuses(order); }
  std::optional<Error> refuses(const backend::WindowOrder& order) const override { return inner_.refuses(order); }
  using Backend::refuses, Backend::run;
  Result<backend::Counts> run(const backend::CountOrder& order) override;
  Result<backend::Regions> run(const backend::RegionOrder& order) override;
  Result<backend::WindowTotals> run(const backend::WindowOrder& order) override;
  backend::Outlook outlook(const event::Event& event) const override { return inner_.outlook(event); }
  event::Plan plan(const std::vector<event::Event>& events, bool count_interrupts) const override {
    return inner_.plan(events, count_interrupts);
  }

 private:
  void disturb_all(backend::Outcome& outcome, const backend::Order& order, std::vector<result::Interval>* intervals);

  backend::Backend& inner_;
  Noise noise_;
  std::map<std::string, std::uint64_t> executions_;  // of each program
};

}  // namespace tally::verify
