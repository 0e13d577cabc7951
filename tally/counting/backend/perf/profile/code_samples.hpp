// Adds up samples of code by instruction and by call stack.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tally/counting/backend/perf/profile/address_spaces.hpp"
#include "tally/linux/perf/code_record.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::perf {

/// Takes records in the order of their time. Pure.
class CodeSamples {
 public:
  /// `events`: number of events. `calls`: also add up call chains.
  CodeSamples(std::size_t events, bool calls) : sampling_(events), squares_(events), calls_(calls) {}

  /// Adds the ID of a counter, and the index of its event.
  void add_counter(std::uint64_t id, std::size_t event) { events_[id] = event; }
  /// Adds a running process.
  void add_process(std::int32_t process, const std::string& name, const std::vector<linux::CodeMapping>& mappings);
  void add_thread(std::int32_t thread, const std::string& name) { threads_[thread] = name; }
  /// See AddressSpaces::begin().
  void begin(std::int64_t now_ns, std::int64_t since_1970_ns) { spaces_.begin(now_ns, since_1970_ns); }

  void see(const linux::CodeRecord& record);

  /// Returns how many process records were lost because a ring was full. Some code may have no name then.
  std::int64_t lost_process_records() const { return lost_process_records_; }

  /// Returns the profile; call it once. Of EventSampling it sets `samples`, `lost`, `throttled` and `effective`.
  result::CodeCounts finish();

 private:
  struct Row {
    std::uint32_t owner = 0, file = 0;
    std::uint64_t address = 0;
    auto operator<=>(const Row&) const = default;
  };
  struct Call {
    std::uint32_t owner = 0, parent = 0;
    CodePlace site, target;
    bool operator==(const Call&) const = default;
  };
  struct HashOfCall {
    std::size_t operator()(const Call& call) const;
  };
  struct Cell {
    std::int64_t events = 0, samples = 0;
  };
  void sample(const linux::CodeRecord& record);
  void add_calls(const linux::CodeRecord& record, std::uint32_t owner, std::size_t event);
  void name_program(const linux::CodeRecord& record);
  std::uint32_t owner_of(const linux::CodeRecord& record);
  CodePlace place(const linux::CodeRecord& record, bool in_kernel, std::uint64_t address);

  std::vector<result::EventSampling> sampling_;
  std::vector<double> squares_;  // for each event: sum of the squared periods of its samples
  bool calls_;
  std::int64_t lost_process_records_ = 0;
  bool calls_cut_ = false;
  AddressSpaces spaces_;
  std::unordered_map<std::uint64_t, std::size_t> events_;
  std::unordered_map<std::int32_t, std::string> programs_, threads_;  // names by process and by thread
  std::unordered_map<std::int32_t, bool> unnamed_;                    // processes whose program name may be cut
  std::vector<result::CodeOwner> owners_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::string>, std::uint32_t> owner_numbers_;
  std::map<Row, std::vector<Cell>> rows_;
  std::unordered_map<Call, std::uint32_t, HashOfCall> call_numbers_;
  std::vector<Call> tree_;
  std::vector<std::int64_t> self_;
  std::vector<CodePlace> frames_;  // of one chain, the innermost first
};

}  // namespace tally::backend::perf
