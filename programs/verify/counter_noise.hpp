// Adds reproducible noise to the counts of programs with known answers, as a processor's counters do.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tally/counting/backend/backend.hpp"

namespace tally::verify {

/// Parameters of the noise.
struct Noise {
  std::uint64_t seed = 1;
  double interrupts = 0.25;  ///< per million instructions, on average: 250 per second at 1,000 million instructions per
                             ///< second
  std::int64_t each = 1;     ///< added to instructions and to branches by each page fault or interrupt
  bool skid = false;         ///< windows are too long, as HPCTool's are: by 5 to 205, median 77
  bool operator==(const Noise&) const = default;
};

/// Parses "seed=7,irq=0.5,fault=2,skid=hpctool"; each part is optional. Errors: bad_usage.
Result<Noise> parse_noise(const std::string& text);

/// The same text with all parameters.
std::string name(const Noise& noise);

/// A backend that adds noise to another backend's counts. Instructions and branches get `each` for every page fault
/// that the program's formula predicts, and for random interrupts (only these for a program without a formula); some
/// interrupts cost a REP one instruction; modelled counts vary by a tenth of a percent. Such counts are graded as
/// modelled, and record what was added. The same seed and executions give the same counts. Windows with skid have
/// lengths but no counts.
class Noisy final : public backend::Backend {
 public:
  /// The inner backend must outlive this one.
  Noisy(backend::Backend& inner, const Noise& noise) : inner_(inner), noise_(noise) {}

  backend::Traits traits() const override { return inner_.traits(); }
  std::optional<Error> refuses(const backend::Order& order) const override { return inner_.refuses(order); }
  Result<backend::Outcome> run(const backend::Order& order) override;
  backend::Outlook outlook(const event::Event& event) const override { return inner_.outlook(event); }
  event::Plan plan(const std::vector<event::Event>& events, bool count_interrupts) const override {
    return inner_.plan(events, count_interrupts);
  }

 private:
  void disturb_all(backend::Outcome& outcome, const backend::Order& order);

  backend::Backend& inner_;
  Noise noise_;
  std::map<std::string, std::uint64_t> executions_;  // of each program
};

}  // namespace tally::verify
