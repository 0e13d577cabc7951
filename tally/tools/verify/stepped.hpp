// The single-stepper as a backend: 20 µs per instruction, and independent of the engine.
#pragma once

#include <string>

#include "tally/counting/backend/backend.hpp"

namespace tally::verify {

/// Runs `tally-stepper`, which executes a program one instruction at a time and counts itself. A native backend starts
/// it.
class Stepped final : public backend::Backend {
 public:
  /// `program` is the path of the stepper; the native backend must outlive this one.
  Stepped(backend::Backend& native, std::string program) : native_(native), program_(std::move(program)) {}

  backend::Traits traits() const override { return {.name = "stepper"}; }
  std::optional<Error> refuses(const backend::Order& order) const override { return native_.refuses(order); }
  Result<backend::Outcome> run(const backend::Order& order) override;
  backend::Outlook outlook(const event::Event& event) const override;

 private:
  backend::Backend& native_;
  std::string program_;
};

/// The path of tally-stepper. Errors: cannot_measure if it is neither in the directory of tally nor in
/// ../libexec/tally.
Result<std::string> find_stepper();

/// How long it takes to step through N instructions; longer if a REP has many iterations, because each one stops.
Nanoseconds stepping_time(std::int64_t instructions);

}  // namespace tally::verify
