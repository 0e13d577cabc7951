// What cycles are spent on: the events that count the cycles of one cause each, and Intel's top-down classes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// A cause of cycles. Each cycle has one.
struct CycleCause {
  event::Id id;           ///< the event that counts its cycles
  std::string_view name;  ///< "front end"
};

/// All causes, in the order of a processor's pipeline.
std::span<const CycleCause> cycle_causes();

/// The events of all causes in a list of events.
class CauseColumns {
 public:
  /// Returns nothing unless cycles and all causes have values.
  static std::optional<CauseColumns> find(const std::vector<result::Event>& events);

  std::size_t cycles() const { return cycles_; }
  const std::optional<std::size_t>& instructions() const { return instructions_; }
  /// The index of each cause's event, as cycle_causes().
  const std::vector<std::size_t>& causes() const { return causes_; }
  bool has(std::size_t event) const;

  /// The cause that most of these counts' cycles have, and its share: "DRAM 87 %"; empty without cycles.
  std::string main_cause(const std::vector<std::int64_t>& counts) const;
  /// Instructions per cycle; empty without cycles, or if instructions were not counted.
  std::string ipc(const std::vector<std::int64_t>& counts) const;

 private:
  std::size_t cycles_ = 0;
  std::optional<std::size_t> instructions_;
  std::vector<std::size_t> causes_;
};

/// The event of a list that counts this generic event in user mode, and has a value.
std::optional<std::size_t> index_of(event::Id id, const std::vector<result::Event>& events);

/// A class of slots of the pipeline.
struct TopDownClass {
  int level = 1;  ///< 1: one of the four classes, whose sum is everything; 2 and 3: a part of the class before it
  std::string_view name;  ///< Intel's
  std::int64_t slots = 0;
  double share = 0;  ///< of all slots
};

/// Its name after one indentation for each level above it.
std::string indented_name(const TopDownClass& row, std::string_view indentation);

/// Returns the classes; none unless pipeline-slots and all causes were counted, or the kernel's top-down events.
std::vector<TopDownClass> top_down(const std::vector<result::Event>& events);

/// Whether the classes contain the event.
bool is_of_top_down(const EventName& event);

/// The events that `tally stat --by cause` and `--topdown` count, as an argument of `-e`.
std::string cause_events(bool with_slots);

}  // namespace tally::output
