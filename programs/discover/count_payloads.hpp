// Counts payloads with this machine's PMU, as raw events.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "programs/discover/target.hpp"
#include "programs/discovery/payloads.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/process/scratch_folder.hpp"

namespace tally::discover {

/// A target that counts whole programs with a backend. The kernel selects the counters.
class CountedTarget final : public Target {
 public:
  /// Determines how many raw events fit in addition to instructions and cycles. Runs payloads on `processor` only, if
  /// given. `payloads`, `backend` and `signals` must outlive the target. Errors: cannot_measure.
  static Result<std::unique_ptr<CountedTarget>> open(backend::Backend& backend, linux::Signals& signals,
                                                     const std::vector<Payload>& payloads,
                                                     std::optional<int> processor = {});

  int counters() const override { return 0; }
  std::size_t at_once() const override { return at_once_; }
  Result<void> run(std::uint64_t copies, const std::vector<Slot>& slots, Run& run) override;

  /// Returns the codes that the kernel refuses, with its reason; they count as dead.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  CountedTarget(backend::Backend& backend, linux::Signals& signals, const std::vector<Payload>& payloads,
                linux::ScratchFolder folder)
      : backend_(backend), signals_(signals), payloads_(payloads), folder_(std::move(folder)) {}

  Result<std::string> program_of(std::size_t payload, std::uint64_t copies);

  backend::Backend& backend_;
  linux::Signals& signals_;
  const std::vector<Payload>& payloads_;
  linux::ScratchFolder folder_;
  std::optional<int> processor_;
  std::vector<event::Event> fixed_;
  std::size_t at_once_ = 1;
  std::vector<std::string> refused_;
};

}  // namespace tally::discover
