#include "tally/counting/backend/engine/profile/code_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/engine/count/engine_counts.hpp"
#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/profile/code_logs.hpp"
#include "tally/counting/backend/engine/profile/form_executions.hpp"
#include "tally/counting/backend/engine/profile/instruction_counts.hpp"
#include "tally/counting/backend/engine/profile/part_areas.hpp"
#include "tally/counting/backend/engine/profile/read_code_log.hpp"
#include "tally/counting/backend/engine/profile/read_python_functions.hpp"
#include "tally/counting/backend/engine/profile/value_selection.hpp"
#include "tally/counting/backend/engine/regions/marked_events.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/channel/value_table.hpp"
#include "tally/engine/models/branch/outcome.hpp"
#include "tally/output/result/call_sums.hpp"
#include "tally/output/result/string_elements.hpp"

namespace tally::backend::engine {
namespace {

/// The weights of the fields in an event's count, which is a sum of fields.
using Weights = std::array<std::int64_t, channel::field_count>;

Weights weights_of(event::Id id) {
  Weights weights{};
  for (std::uint32_t f = 0; f < channel::field_count; ++f) {
    channel::Totals one;
    one.field[f] = 1;
    weights[f] = value_of(id, one).value_or(0);
  }
  return weights;
}

class ProfileReader {
 public:
  ProfileReader(const Order& order, const Channel& shared, const Modelling& modelling, const Outcome& outcome)
      : order_(order),
        shared_(shared),
        modelling_(modelling),
        placed_(located_values(order, modelling).value_or(channel::LocatedValues{})),
        effort_(claimed_processes(shared), claimed_threads(shared)),
        logs_(effort_),
        parts_(shared),
        python_(shared, outcome.counts.size(), effort_, result_) {
    result_.events = outcome.counts;
    if (order.has_mix()) result_.executed = outcome.code.executed;
    for (const event::Event& event : order.events) {
      weights_.push_back(weights_of(event.id));
      auto& weights = value_weights_.emplace_back();
      for (std::uint32_t i = 0; i < placed_.count; ++i) {
        channel::CodeValues one{};
        one.figure[i] = 1;
        weights[i] = value_of(event.id, placed_, one, modelling);
      }
    }
    if (order.has_calls()) choose_sums(modelling);
  }

  result::CodeCounts read() {
    const std::uint32_t last = claimed_code_logs(shared_);
    logs_.read(shared_, last);
    if (order_.parts() != nullptr) {
      for (const auto& one : logs_.all()) {
        parts_.add_process(one->head().process);
        for (const std::uint32_t process : one->shared_with()) parts_.add_process(process);
      }
      result_.parts = parts_.all();
    }
    // Corrections need the form at their address.
    is_only_mix_ = order_.profile() == nullptr && order_.has_mix() &&
                   std::all_of(logs_.all().begin(), logs_.all().end(),
                               [](const auto& reader) { return reader->corrections().empty(); });
    for (std::uint32_t i = 1; i <= last; ++i) read_log(i);
    read_living();
    finish();
    return std::move(result_);
  }

 private:
  void read_log(std::uint32_t number) {
    const CodeLogReader& one = logs_.log(number);
    latest_[one.head().process] = number;
    for (const std::uint32_t process : one.shared_with()) latest_[process] = number;
    for (const CodeLogReader::Counts& calls : one.calls())
      add_calls(number, calls.area, owner(calls.process, calls.thread, label_of(calls)));
    for (const CodeLogReader::Counts& statistics : one.statistics())
      add_values(number, statistics.area, owner(statistics.process, statistics.thread, statistics.part));
    for (const CodeLogReader::Counts& counts : one.counts())
      add_area(number, counts.area, owner(counts.process, counts.thread, counts.part));
    for (const CodeLogReader::Counts& python : one.python())
      if (is_first(python.area)) python_.add(python.area);
    for (const channel::CodeCorrection& c : one.corrections()) {
      if (!effort_.take_entries(1)) break;
      const CodeLocation at = logs_.locate_site(number, c.site);
      const InstructionCount made{
          at.address, at.file, 0, 0, 0, InstructionCount::by_correction, static_cast<std::int64_t>(corrections_.size()),
          0};
      std::copy(std::begin(c.field), std::end(c.field), std::begin(corrections_.emplace_back().field));
      counted_[owner(c.process, c.thread, c.part)].push_back(made);
    }
  }

  /// Reads threads that were killed before they logged their counters.
  void read_living() {
    const std::uint32_t threads = claimed_threads(shared_);
    for (std::uint32_t i = 1; i <= threads; ++i) {
      const channel::Thread& thread = shared_.records.thread(i);
      const auto known = latest_.find(thread.process);
      if (thread.state != channel::State::running || thread.area == 0 || thread.area >= channel::area_limit ||
          known == latest_.end())
        continue;
      add_area(known->second, thread.area, owner(thread.process, i, thread.part));
    }
  }

  /// Returns the label of the part that an area of calls belongs to.
  std::uint32_t label_of(const CodeLogReader::Counts& of) const {
    if (of.part != channel::part_of_thread) return of.part;
    return of.thread < channel::thread_limit ? shared_.records.thread(of.thread).part : 0;
  }

  /// Returns the owner for these record indexes and this label of a part; thread 0: all threads without a row of their
  /// own.
  std::uint32_t owner(std::uint32_t process, std::uint32_t thread, std::uint32_t label) {
    const std::uint32_t part = parts_.find(process, label);
    const auto [place, is_new] = owners_.try_emplace({process, thread, part}, result_.owners.size());
    if (!is_new) return static_cast<std::uint32_t>(place->second);
    result::CodeOwner made;
    made.part = part;
    if (process < channel::process_limit) {
      const channel::Process& p = shared_.records.process(process);
      made.pid = p.pid;
      made.command = printable(std::string(p.name, ::strnlen(p.name, sizeof p.name)));
    }
    if (thread != 0 && thread < channel::thread_limit) {
      const channel::Thread& t = shared_.records.thread(thread);
      made.tid = t.tid;
      made.thread = printable(std::string(t.name, ::strnlen(t.name, sizeof t.name)));
    }
    result_.owners.push_back(std::move(made));
    counted_.emplace_back();
    return static_cast<std::uint32_t>(place->second);
  }

  /// Whether an area is new, as a second reference to one is invalid. Also false if nothing more is to be read.
  bool is_first(std::uint32_t area) { return !effort_.is_spent() && areas_.insert(area).second; }

  void add_area(std::uint32_t number, std::uint32_t area, std::uint32_t owner) {
    if (!is_first(area)) return;
    // Reads only the written part.
    const std::uint64_t begin = channel::area_offset(area), limit = begin + channel::segment_limit * 8;
    const std::uint64_t end = linux::data_end(shared_.file.get(), begin, limit);
    std::vector<std::uint64_t> counters((end - begin) / 8);
    if (!effort_.take_counter_bytes(counters.size() * 8)) return;
    if (counters.empty() || !linux::read_at(shared_.file.get(), begin, counters.data(), counters.size() * 8)) return;
    for (std::uint32_t i = 1; i < channel::first_segment && i < counters.size(); ++i)
      add_repeated(i, counters[i], owner);
    const channel::Settings& settings = shared_.records.header().settings;
    for (std::uint32_t i = channel::first_run_time_field; settings.mix != 0 && i < channel::end_of_run_time_fields; ++i)
      if (i < counters.size()) add_repeated(i, counters[i], owner);
    for (std::uint32_t i = channel::first_segment_of_code(settings); i < counters.size() && !effort_.is_spent();) {
      std::uint32_t next = i + 1;
      if (counters[i] != 0) {
        if (const auto [source, trace] = logs_.find(number, i); trace != nullptr) {
          add_trace(source, *trace, counters, owner);
          next = trace->record->number + trace->record->segments;
        } else {
          add_jump(number, i, counters[i]);
        }
      }
      i = next;
    }
  }

  /// Adds the executions of a jump, if a counter is that of one within a file.
  void add_jump(std::uint32_t number, std::uint32_t segment, std::uint64_t executions) {
    const auto [source, jump] = logs_.find_in_logs(
        number, [&](const CodeLogReader& log, std::uint64_t bytes) { return log.jump_of(segment, bytes); });
    if (jump == nullptr || !effort_.take_entries(1)) return;
    const std::uint32_t mappings = logs_.log(source).all_mappings();
    const CodeLocation site = logs_.locate_in_mapping(source, jump->site_mapping, mappings, jump->site),
                       target = logs_.locate_in_mapping(source, jump->target_mapping, mappings, jump->target);
    if (site.file == target.file && logs_.is_file(site.file))
      jumps_[{site.file, site.address, target.address}] += static_cast<std::int64_t>(executions);
  }

  /// Sets which sum of a call each event has: that of instructions for events of models.
  void choose_sums(const Modelling& modelling) {
    sums_.resize(order_.events.size(), channel::call_event_limit);
    const std::vector<MarkedEvent> events = marked_events(order_, modelling);
    for (const MarkedEvent& counted : events)
      if (counted.place) sums_[static_cast<std::size_t>(counted.event - order_.events.data())] = *counted.place;
    for (std::size_t e = 0; e < sums_.size(); ++e) {
      if (!needed_by(order_.events[e].id).any()) continue;
      sums_[e] = place_of_instructions(events);
      result_.by_instructions.push_back(e);
    }
  }

  void add_calls(std::uint32_t number, std::uint32_t area, std::uint32_t owner) {
    if (!is_first(area)) return;
    channel::CallNode first{};
    const std::uint64_t begin = channel::area_offset(area);
    if (!linux::read_at(shared_.file.get(), begin, &first, sizeof first)) return;
    result_.calls_cut |= (first.is_recursive & channel::calls_too_many) != 0;
    result_.calls_too_deep |= (first.is_recursive & channel::calls_too_deep) != 0;
    std::vector<channel::CallNode> nodes(std::min<std::uint64_t>(first.calls, channel::call_node_limit));
    if (!effort_.take_entries(nodes.size())) return;
    if (!linux::read_at(shared_.file.get(), begin, nodes.data(), nodes.size() * sizeof first)) return;
    // In a forked child, omits calls that only its parent made, unless the child made calls below them.
    std::vector<char> is_kept(nodes.size());
    for (std::size_t i = nodes.size(); i-- > 1;)
      if (nodes[i].parent < i && (is_kept[i] != 0 || nodes[i].calls != 0 || nodes[i].self[0] != 0))
        is_kept[i] = is_kept[nodes[i].parent] = 1;
    std::vector<std::uint32_t> place(nodes.size(), result::CodeCall::no_parent);
    const std::uint32_t mappings = logs_.log(number).all_mappings();
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      const channel::CallNode& n = nodes[i];
      if (is_kept[i] == 0 || n.parent >= i) continue;
      place[i] = static_cast<std::uint32_t>(result_.calls.size());
      const CodeLocation target = logs_.locate_in_mapping(number, n.target_mapping, mappings, n.target);
      const CodeLocation site = n.site != 0 ? logs_.locate_in_mapping(number, n.site_mapping, mappings, n.site)
                                            : CodeLocation{result::CodeCall::no_file, 0};
      result_.calls.push_back({owner, place[n.parent], site.file, target.file, site.address, target.address,
                               n.is_recursive != 0, static_cast<std::int64_t>(n.calls)});
      for (const std::uint32_t sum : sums_) result_.self.push_back(sum < channel::call_event_limit ? n.self[sum] : 0);
    }
  }

  /// Reads the rows of a channel::ValueTable.
  std::vector<channel::ValueRow> rows_of(std::uint32_t area) const {
    const std::uint64_t begin = channel::area_offset(area);
    std::uint32_t size = 0;
    if (!linux::read_at(shared_.file.get(), begin, &size, sizeof size)) return {};
    std::vector<channel::ValueRow> rows(std::min(size, channel::ValueTable::limit));
    if (!linux::read_at(shared_.file.get(), begin + channel::ValueTable::rows_at, rows.data(),
                        rows.size() * sizeof rows[0]))
      return {};
    return rows;
  }

  void add_values(std::uint32_t number, std::uint32_t area, std::uint32_t owner) {
    if (!is_first(area)) return;
    for (const channel::ValueRow& one : rows_of(area)) {
      if (one.site == 0 || one.group > channel::located_value_limit / one.values || !effort_.take_entries(1)) continue;
      const bool is_branch = models::is_site_of_branch(one.site);
      if (is_branch && !logs_.branches_of(number).contains(one.site)) continue;
      const CodeLocation at = is_branch ? logs_.branches_of(number).at(one.site) : logs_.locate_site(number, one.site);
      counted_[owner].push_back(
          {at.address, at.file, 0, 0, 0, InstructionCount::by_models, static_cast<std::int64_t>(values_.size()), 0});
      values_.push_back(one);
    }
  }

  void add_repeated(std::uint32_t dynamic, std::uint64_t times, std::uint32_t owner) {
    const auto n = static_cast<std::int64_t>(times);
    if (n == 0) return;
    channel::Totals& to = order_.parts() != nullptr ? repeated_of_owners_[owner] : repeated_;
    if (dynamic >= channel::first_run_time_field)
      to.add_to(dynamic - channel::first_run_time_field + channel::first_mix_field, 1, n);
    if (dynamic == channel::dynamic_load || dynamic == channel::dynamic_move) to.add_to(channel::loads, 1, n);
    if (dynamic == channel::dynamic_compare) to.add_to(channel::loads, 2, n);
    if (dynamic == channel::dynamic_store || dynamic == channel::dynamic_move) to.add_to(channel::stores, 1, n);
  }

  /// Adds a row for the accesses of string instructions of each owner, so that its part has them.
  void add_string_elements() {
    struct {
      channel::CodeMapping mapping;
      char path[64];
    } made{};
    made.mapping.head.bytes = sizeof made;
    std::strncpy(made.path, result::string_elements, sizeof made.path - 1);
    for (const auto& [owner, totals] : repeated_of_owners_) {
      counted_[owner].push_back({0, logs_.files().number(made.mapping), 0, 0, 0, InstructionCount::by_correction,
                                 static_cast<std::int64_t>(corrections_.size()), 0});
      corrections_.push_back(totals);
    }
  }

  void add_trace(std::uint32_t number, const LoggedTrace& trace, const std::vector<std::uint64_t>& counters,
                 std::uint32_t owner) {
    const channel::CodeTrace& t = *trace.record;
    const auto* const places = reinterpret_cast<const channel::CodePlace*>(&t + 1);
    const auto* const forms = t.has_forms != 0 ? reinterpret_cast<const std::uint16_t*>(places + t.places) : nullptr;
    const auto counter = [&](std::uint32_t i) {
      return std::size_t{t.number} + i < counters.size() ? counters[t.number + i] : 0;
    };
    if (is_only_mix_) {
      FormExecutions::Log& executions = executions_.of(number);
      return channel::walk(t, places, counter, [&](const channel::CodePlace& p, std::uint64_t reached, auto, auto) {
        if (reached == 0 || (p.flags & channel::place_is_end)) return;
        const std::uint32_t form = forms == nullptr ? 0 : forms[&p - places];
        executions.add(form, p.loads, p.stores, static_cast<std::int64_t>(reached));
      });
    }
    std::vector<InstructionCount>& counted = counted_[owner];
    // Traces are logged when their code is executed for the first time, except those of a bundle (persist/bundle.hpp).
    constexpr std::uint32_t bits_of_place = 16, bits_of_number = 21;
    static_assert(channel::segment_limit <= 1u << bits_of_number);
    const std::uint64_t first_of_trace = (std::uint64_t{number} << bits_of_number | t.number) << bits_of_place;
    const CodeMapping* mapping = nullptr;
    bool in_file = false;
    const auto each = [&](const channel::CodePlace& p, std::uint64_t reached, std::uint64_t taken, std::uint64_t) {
      if (reached == 0 || (p.flags & channel::place_is_end) || p.field >= channel::field_count) return;
      const channel::CodeForm* const form = forms == nullptr ? nullptr : logs_.form_of(number, forms[&p - places]);
      const std::uint64_t pc = t.pc + static_cast<std::uint64_t>(std::int64_t{p.pc});
      if (mapping == nullptr || !mapping->has(pc)) {
        mapping = logs_.log(number).mapping_of(pc, trace.mappings);
        in_file = mapping != nullptr && logs_.is_file(mapping->file);
      }
      const CodeLocation at = mapping == nullptr
                                  ? logs_.locate(number, trace.mappings, pc)
                                  : CodeLocation{mapping->file, in_file ? pc - mapping->start + mapping->offset : pc};
      if (!effort_.take_entries(1)) return;
      const std::uint64_t first =
          first_of_trace | std::min<std::uint64_t>(static_cast<std::uint64_t>(&p - places), (1u << bits_of_place) - 1);
      counted.push_back({at.address, at.file, p.field, p.loads, p.stores, InstructionCount::by_executions,
                         static_cast<std::int64_t>(reached), static_cast<std::int64_t>(taken), form, first});
    };
    channel::walk(t, places, counter, each);
  }

  /// Adds the counts of `c` to a row.
  void add_counts(const InstructionCount& c, result::CodeRow& row, std::int64_t* to) const {
    channel::Totals totals;
    if (c.source == InstructionCount::by_models) {
      const channel::ValueRow& row_of_values = values_[static_cast<std::size_t>(c.executions)];
      for (std::uint32_t i = 0; i < row_of_values.values; ++i) {
        if (row_of_values.value[i] == 0) continue;
        for (std::size_t e = 0; e < weights_.size(); ++e)
          to[e] += value_weights_[e][row_of_values.group * row_of_values.values + i] *
                   static_cast<std::int64_t>(row_of_values.value[i]);
      }
      return;
    }
    if (c.source == InstructionCount::by_correction) {
      totals = corrections_[static_cast<std::size_t>(c.executions)];
    } else {
      totals.field[channel::instructions] = c.executions;
      totals.add_to(channel::loads, c.loads, c.executions);
      totals.add_to(channel::stores, c.stores, c.executions);
      if (c.field != 0) totals.field[c.field] = c.executions;
      totals.field[channel::taken] = c.taken;
      if (c.form != nullptr) totals.add(c.form->row, c.executions);
    }
    row.executions += totals.field[channel::instructions];
    row.taken += totals.field[channel::taken];
    const std::uint32_t fields = shared_.records.header().settings.mix != 0 ? std::uint32_t{channel::field_count}
                                                                            : std::uint32_t{channel::first_mix_field};
    for (std::size_t e = 0; e < weights_.size(); ++e)
      for (std::uint32_t f = 0; f < fields; ++f) to[e] += weights_[e][f] * totals.field[f];
  }

  /// Returns the number of an instruction's form in the result, from 1 on.
  std::uint32_t number_of(const FormKey& of) {
    const channel::CodeForm& form = *of.form;
    const auto [position, is_new] = numbers_of_forms_.try_emplace(of, 0);
    if (!is_new) return position->second;
    const auto text = [](const auto& field) { return printable(std::string(field, ::strnlen(field, sizeof field))); };
    const auto count = [&form](std::uint32_t field) { return int{form.row.counts[field - channel::first_mix_field]}; };
    const auto has = [&count](std::uint32_t first, std::uint32_t last) {
      for (; first <= last; ++first)
        if (count(first) != 0) return true;
      return false;
    };
    const auto bits = [&count](std::uint32_t bytes, int accesses) {
      return accesses == 0 ? 0 : 8 * count(bytes) / accesses;
    };
    result_.forms.push_back({.name = text(form.name),
                             .category = text(form.category),
                             .width = static_cast<int>(form.width),
                             .is_vector = has(channel::vector_128, channel::vector_512),
                             .is_fp = has(channel::fp_instructions, channel::fp_instructions_bf16),
                             .loads = of.loads,
                             .stores = of.stores,
                             .load_bits = bits(channel::bytes_loaded, of.loads),
                             .store_bits = bits(channel::bytes_stored, of.stores)});
    return position->second = static_cast<std::uint32_t>(result_.forms.size());
  }

  void finish() {
    add_string_elements();
    std::map<std::uint32_t, std::vector<std::uint32_t>> threads;  // by process
    for (const auto& [key, owner] : owners_) threads[std::get<0>(key)].push_back(static_cast<std::uint32_t>(owner));
    for (const auto& [process, own] : threads)
      if (own.size() > 1) divide_cycles(counted_, own, values_, placed_);
    for (const auto& [key, executions] : jumps_)
      result_.jumps.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), executions});
    result_.files = logs_.files().take();
    const std::size_t n = weights_.size();
    result_.inclusive = result::inclusive_counts(result_.calls, result_.self, n);
    std::vector<std::int64_t> placed(n);
    for (std::uint32_t owner = 0; owner < counted_.size(); ++owner) {
      std::vector<InstructionCount>& all = counted_[owner];
      std::sort(all.begin(), all.end(),
                [](const InstructionCount& a, const InstructionCount& b) { return a.key() < b.key(); });
      for (std::size_t i = 0; i < all.size();) {
        result::CodeRow row{owner, all[i].file, all[i].address, 0, 0};
        result_.counts.resize(result_.counts.size() + n);
        std::int64_t* const counts = result_.counts.data() + result_.counts.size() - n;
        for (; i < all.size() && all[i].file == row.file && all[i].address == row.address; ++i) {
          add_counts(all[i], row, counts);
          row.first = std::min(row.first, all[i].first);
          if (all[i].form == nullptr || !order_.has_mix() || row.form == result::several_forms) continue;
          const std::uint32_t form = number_of({all[i].form, all[i].loads, all[i].stores});
          const bool is_same = row.form == 0 || result_.forms[row.form - 1] == result_.forms[form - 1];
          row.form = is_same ? form : result::several_forms;
        }
        for (std::size_t e = 0; e < n; ++e) placed[e] += counts[e];
        result_.rows.push_back(row);
      }
      std::vector<InstructionCount>().swap(all);
    }
    const auto form_at = [this](std::uint32_t log, std::uint32_t form) { return logs_.form_of(log, form); };
    for (const auto& [key, executions] : executions_.by_form(form_at)) {
      result_.rows.push_back({.executions = executions, .form = key.form == nullptr ? 0 : number_of(key)});
      result_.counts.resize(result_.counts.size() + n);
    }
    for (std::size_t e = 0; e < n; ++e) {
      result_.repeated.push_back(value_of(order_.events[e].id, repeated_).value_or(0));
      const auto& total = result_.events[e].count.value;
      result_.unplaced.push_back(total ? *total - placed[e] - result_.repeated[e] : 0);
      Count& count = result_.events[e].count;
      if (effort_.is_spent()) {
        count = downgraded(std::move(count), Trust::partial, too_much());
        continue;
      }
      // The total is exact. The code log has no room for some traces or forms.
      if (order_.profile() != nullptr && result_.unplaced.back() > 0 && count.trust == Trust::exact)
        count = downgraded(
            std::move(count), Trust::partial,
            fmt::format("{} of it were counted for instructions without a record", thousands(result_.unplaced.back())));
      // Running programs have counted more since the total was read.
      if (result_.unplaced.back() >= 0 || count.trust != Trust::partial) continue;
      count.value = placed[e] + result_.repeated[e];
      result_.unplaced.back() = 0;
    }
  }

  const Order& order_;
  const Channel& shared_;
  const Modelling& modelling_;
  const channel::LocatedValues placed_;
  Effort effort_;
  CodeLogs logs_;
  std::unordered_map<std::uint32_t, std::uint32_t> latest_;  // process → its log
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> owners_;
  std::vector<std::vector<InstructionCount>> counted_;  // by owner
  std::vector<channel::Totals> corrections_;
  std::vector<channel::ValueRow> values_;
  std::vector<Weights> weights_;                                                           // by event
  std::vector<std::array<std::int64_t, channel::located_value_limit + 7>> value_weights_;  // the same, of placed values
  std::vector<std::uint32_t> sums_;                                                        // of calls, by event
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, std::int64_t> jumps_;  // by file, site and target
  channel::Totals repeated_;
  std::map<std::uint32_t, channel::Totals> repeated_of_owners_;  // instead, in a profile with parts
  std::unordered_set<std::uint32_t> areas_;                      // that were read
  std::unordered_map<FormKey, std::uint32_t, FormKey::Hash> numbers_of_forms_;
  bool is_only_mix_ = false;   // no instruction needs its address
  FormExecutions executions_;  // then
  PartsOfProcesses parts_;     // empty unless they are requested
  result::CodeCounts result_;
  PythonReader python_;
};

}  // namespace

result::CodeCounts code_counts(const Order& order, const Channel& shared, const Modelling& modelling,
                               const KeptFiles& kept, const Outcome& outcome) {
  result::CodeCounts made = ProfileReader(order, shared, modelling, outcome).read();
  for (result::CodeFile& file : made.files)
    if (file.identity) file.kept = kept.find(*file.identity);
  return made;
}

}  // namespace tally::backend::engine
