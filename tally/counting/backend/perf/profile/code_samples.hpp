// Samples of code, added up by instruction and by the calls that led there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tally/counting/backend/perf/profile/address_spaces.hpp"
#include "tally/linux/perf/code_record.hpp"
#include "tally/output/result/code.hpp"

namespace tally::backend::perf {

/// Takes records in the order of their time. Pure.
class CodeSamples {
 public:
  /// Of so many events; `calls`: with their chains.
  CodeSamples(std::size_t events, bool calls) : sampling_(events), squares_(events), calls_(calls) {}

  /// A counter's number, and the place of its event.
  void add_counter(std::uint64_t id, std::size_t event) { events_[id] = event; }
  /// One that runs already.
  void add_process(std::int32_t process, const std::string& name, const std::vector<linux::CodeMapping>& mappings);
  void add_thread(std::int32_t thread, const std::string& name) { threads_[thread] = name; }
  /// See AddressSpaces.
  void begin(std::int64_t now_ns, std::int64_t since_1970_ns) { spaces_.begin(now_ns, since_1970_ns); }

  void see(const linux::CodeRecord& record);

  /// Records that had no room and are of no event: what programs did meanwhile is not known.
  std::int64_t lost_tidings() const { return lost_tidings_; }

  /// All of it, once. Of how events are sampled it knows what came of it: `samples`, `lost`, `throttled`, `effective`.
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
  std::vector<double> squares_;  // of each event: of the periods of its samples, added up
  bool calls_;
  std::int64_t lost_tidings_ = 0;
  bool calls_cut_ = false;
  AddressSpaces spaces_;
  std::unordered_map<std::uint64_t, std::size_t> events_;
  std::unordered_map<std::int32_t, std::string> programs_, threads_;  // names by process and by thread
  std::unordered_map<std::int32_t, bool> unnamed_;                    // processes whose program's name may be cut
  std::vector<result::CodeOwner> owners_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::string>, std::uint32_t> owner_numbers_;
  std::map<Row, std::vector<Cell>> rows_;
  std::unordered_map<Call, std::uint32_t, HashOfCall> call_numbers_;
  std::vector<Call> tree_;
  std::vector<std::int64_t> self_;
  std::vector<CodePlace> frames_;  // of one chain, the innermost first
};

}  // namespace tally::backend::perf
