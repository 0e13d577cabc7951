// The single-stepper as a way to count: 20 µs for each instruction, and nothing in common with the engine.
#pragma once

#include <string>

#include "tally/counting/backend/backend.hpp"

namespace tally::verify {

/// Runs `tally-stepper`, which executes a program one instruction at a time and counts by itself. Another backend
/// starts it, natively.
class Stepped final : public backend::Backend {
 public:
  /// `program` is the stepper; the backend must live as long.
  Stepped(backend::Backend& native, std::string program) : native_(native), program_(std::move(program)) {}

  backend::Traits traits() const override { return {.name = "stepper"}; }
  using Backend::refuses, Backend::run;
  std::optional<Error> refuses(const backend::CountOrder& order) const override { return native_.refuses(order); }
  Result<backend::Counts> run(const backend::CountOrder& order) override;
  backend::Outlook outlook(const event::Event& event) const override;

 private:
  backend::Backend& native_;
  std::string program_;
};

/// Where it lies. Errors: cannot_measure where there is no tally-stepper beside the command, or in ../libexec/tally.
Result<std::string> find_stepper();

/// What stepping through so many instructions takes; more where a REP has many iterations, for it stops at each.
Nanoseconds stepping_time(std::int64_t instructions);

}  // namespace tally::verify
