// The single-stepper as a backend: 20 µs per instruction, and independent of the engine.
#pragma once

#include <memory>
#include <utility>

#include "tally/counting/backend/backend.hpp"

namespace tally::backend::stepper {

/// Runs `tally-stepper`, which executes a program one instruction at a time and counts itself. A native backend starts
/// it.
class Stepped final : public Backend {
 public:
  explicit Stepped(std::unique_ptr<Backend> native) : native_(std::move(native)) {}

  Traits traits() const override { return {.name = "stepper"}; }
  /// Also if tally-stepper is neither in the directory of tally nor in ../libexec/tally.
  std::optional<Error> refuses(const Order& order) const override;
  Result<Outcome> run(const Order& order) override;
  Outlook outlook(const event::Event& event) const override;

 private:
  std::unique_ptr<Backend> native_;
};

/// How long it takes to step through N instructions and iterations of REP: each stops.
Nanoseconds stepping_time(std::int64_t steps);

}  // namespace tally::backend::stepper
