#include "programs/discover/truth.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tally/linux/process/scratch_folder.hpp"

namespace tally::discover {
namespace {

// Enough to make cold caches and predictors insignificant.
constexpr std::uint64_t copies = 40'000;

struct CountedCoordinates {
  std::vector<std::size_t> coordinates;
  std::vector<event::Event> events;
};

CountedCoordinates known() {
  CountedCoordinates all;
  for (std::size_t i = 0; i < result::coordinate_count; ++i) {
    auto event = event::parse(std::string(result::coordinate_names[i]));
    if (!event) continue;  // operations of a kind are not available as events on every machine
    all.coordinates.push_back(i);
    all.events.push_back(*std::move(event));
  }
  return all;
}

Result<std::vector<Count>> counts(backend::Backend& backend, linux::Signals& signals, const Payload& payload,
                                  std::uint64_t copies, const std::string& folder,
                                  const std::vector<event::Event>& events) {
  const auto program = make_program(payload, copies, folder);
  if (!program) return fail(program.error());
  backend::Order order;
  order.target.command = {*program};
  order.events = events;
  order.conditions.signals = &signals;
  auto outcome = backend.run(order);
  if (!outcome) return fail(outcome.error());
  if (signals.interrupted_by()) return fail(Code::cannot_measure, "interrupted before the payloads were known");
  if (outcome->wait_status != 0) return fail(why_payload_failed(payload.facts.name, copies, outcome->wait_status));
  std::vector<Count> all;
  for (auto& one : outcome->counts) all.push_back(std::move(one.count));
  return all;
}

}  // namespace

std::vector<event::Event> counted_coordinates() { return known().events; }

std::vector<std::string> disagreements(const std::vector<Payload>& payloads, const std::vector<Truth>& truths) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (!payloads[i].facts.known) continue;
    for (std::size_t c = 0; c < result::coordinate_count; ++c) {
      const double declared = payloads[i].facts.composition[c], counted = truths[i].each[c];
      if (result::coordinate_names[c] == "cycles" || std::abs(declared - counted) <= 0.02 * declared + 0.004) continue;
      all.push_back(fmt::format("the payload '{}' is declared to have {} {}, and {:.3f} were counted",
                                payloads[i].facts.name, declared, result::coordinate_names[c], counted));
    }
  }
  return all;
}

std::vector<Truth> declared_truths(const std::vector<Payload>& payloads) {
  std::vector<Truth> all;
  for (const Payload& payload : payloads) {
    Truth one;
    one.each = payload.facts.composition;
    one.each[*result::coordinate_of("cycles")] = one.each[*result::coordinate_of("instructions")];
    all.push_back(one);
  }
  return all;
}

Result<std::vector<Truth>> truths(backend::Backend& backend, linux::Signals& signals,
                                  const std::vector<Payload>& payloads,
                                  const std::function<void(const std::string&, double)>& progress) {
  const auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  const CountedCoordinates all = known();
  std::vector<Truth> answer = declared_truths(payloads);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (progress)
      progress("payload " + payloads[i].facts.name, static_cast<double>(i) / static_cast<double>(payloads.size()));
    std::vector<std::vector<Count>> runs;
    for (const std::uint64_t times : {1, 2}) {
      auto one = counts(backend, signals, payloads[i], copies * times, folder->path(), all.events);
      if (!one) return fail(one.error());
      runs.push_back(*std::move(one));
    }
    for (std::size_t k = 0; k < all.coordinates.size(); ++k) {
      if (!runs[0][k].value || !runs[1][k].value) continue;
      const double difference = static_cast<double>(*runs[1][k].value - *runs[0][k].value);
      const double each = difference / static_cast<double>(copies);
      answer[i].each[all.coordinates[k]] = each;
      answer[i].once[all.coordinates[k]] = static_cast<double>(*runs[0][k].value) - difference;
    }
  }
  return answer;
}

}  // namespace tally::discover
