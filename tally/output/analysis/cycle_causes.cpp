#include "tally/output/analysis/cycle_causes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tally::output {
namespace {

using event::Id;

constexpr CycleCause table[] = {
    {Id::cycles_retiring, "retiring"},
    {Id::cycles_front_end, "front end"},
    {Id::cycles_mispredicts, "mispredicts"},
    {Id::cycles_core, "core"},
    {Id::cycles_l1, "L1"},
    {Id::cycles_l2, "L2"},
    {Id::cycles_l3, "L3"},
    {Id::cycles_dram, "DRAM"},
    {Id::cycles_tlb, "TLB"},
    {Id::cycles_forwarding, "forwarding"},
    {Id::cycles_locks, "locks"},
};

}  // namespace

std::span<const CycleCause> cycle_causes() { return table; }

std::optional<std::size_t> index_of(event::Id id, const std::vector<result::Event>& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const result::EventCount& total = events[i].total;
    if (total.name.base == event::definition(id).name && total.name.mode == Mode::user && total.count.value) return i;
  }
  return std::nullopt;
}

std::optional<CauseColumns> CauseColumns::find(const std::vector<result::Event>& events) {
  CauseColumns columns;
  const auto cycles = index_of(Id::cycles, events);
  if (!cycles) return std::nullopt;
  columns.cycles_ = *cycles;
  columns.instructions_ = index_of(Id::instructions, events);
  for (const CycleCause& cause : table) {
    const auto index = index_of(cause.id, events);
    if (!index) return std::nullopt;
    columns.causes_.push_back(*index);
  }
  return columns;
}

std::string CauseColumns::main_cause(const std::vector<std::int64_t>& counts) const {
  if (counts[cycles_] <= 0) return {};
  std::size_t most = 0;
  for (std::size_t i = 0; i < causes_.size(); ++i)
    if (counts[causes_[i]] > counts[causes_[most]]) most = i;
  return fmt::format("{} {:.0f} %", table[most].name,
                     100 * static_cast<double>(counts[causes_[most]]) / static_cast<double>(counts[cycles_]));
}

std::string CauseColumns::ipc(const std::vector<std::int64_t>& counts) const {
  if (!instructions_ || counts[cycles_] <= 0) return {};
  return fmt::format("{:.2f}", static_cast<double>(counts[*instructions_]) / static_cast<double>(counts[cycles_]));
}

bool CauseColumns::has(std::size_t event) const {
  return std::find(causes_.begin(), causes_.end(), event) != causes_.end();
}

namespace {

/// The classes by the kernel's events, whose sum is up to 4 in 255 less than the slots: they are read as bytes.
std::vector<TopDownClass> kernels_top_down(const std::vector<result::Event>& events) {
  const auto slots_of = [&](const char* name) -> std::int64_t {
    const std::string ending = fmt::format("/topdown-{}/", name);
    for (const result::Event& event : events)
      if (event.total.name.base.ends_with(ending)) return event.total.count.value.value_or(-1);
    return -1;
  };
  const std::int64_t retiring = slots_of("retiring"), wrong = slots_of("bad-spec"), front = slots_of("fe-bound"),
                     back = slots_of("be-bound"), heavy = slots_of("heavy-ops");
  if (std::min({retiring, wrong, front, back}) < 0) return {};
  const std::int64_t all = retiring + wrong + front + back;
  std::vector<TopDownClass> classes;
  const auto add = [&](int level, std::string_view name, std::int64_t slots) {
    classes.push_back({level, name, slots, all == 0 ? 0 : static_cast<double>(slots) / static_cast<double>(all)});
  };
  const auto add_class = [&](std::string_view name, std::int64_t slots, std::string_view detail, std::int64_t of_detail,
                             std::string_view rest) {
    add(1, name, slots);
    if (of_detail < 0) return;
    add(2, detail, std::min(of_detail, slots));
    add(2, rest, std::max<std::int64_t>(slots - of_detail, 0));
  };
  add_class("Retiring", retiring, "Light Operations", heavy < 0 ? heavy : std::max<std::int64_t>(retiring - heavy, 0),
            "Heavy Operations");
  add_class("Bad Speculation", wrong, "Branch Mispredicts", slots_of("br-mispredict"), "Machine Clears");
  add_class("Frontend Bound", front, "Fetch Latency", slots_of("fetch-lat"), "Fetch Bandwidth");
  add_class("Backend Bound", back, "Memory Bound", slots_of("mem-bound"), "Core Bound");
  return classes;
}

}  // namespace

bool is_of_top_down(const EventName& event) {
  return event.base.find("/topdown-") != std::string::npos || event.base == event::definition(Id::cycles_heavy).name ||
         std::any_of(std::begin(table), std::end(table),
                     [&](const CycleCause& cause) { return event.base == event::definition(cause.id).name; });
}

std::vector<TopDownClass> top_down(const std::vector<result::Event>& events) {
  const auto slots = index_of(Id::pipeline_slots, events), cycles = index_of(Id::cycles, events),
             heavy = index_of(Id::cycles_heavy, events);
  if (!slots || !cycles || !heavy || !CauseColumns::find(events)) return kernels_top_down(events);
  const auto value = [&](std::size_t index) { return events[index].total.count.value.value_or(0); };
  const std::int64_t all = value(*cycles), width = all == 0 ? 0 : value(*slots) / all;
  std::vector<TopDownClass> classes;
  const auto add = [&](int level, std::string_view name, std::initializer_list<Id> ids, std::int64_t less = 0) {
    std::int64_t sum = -less;
    for (const Id id : ids) sum += value(*index_of(id, events));
    classes.push_back({level, name, sum * width, all == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(all)});
  };
  add(1, "Retiring", {Id::cycles_retiring});
  add(2, "Light Operations", {Id::cycles_retiring}, value(*heavy));
  add(2, "Heavy Operations", {Id::cycles_heavy});
  add(1, "Bad Speculation", {Id::cycles_mispredicts});
  add(2, "Branch Mispredicts", {Id::cycles_mispredicts});
  add(1, "Frontend Bound", {Id::cycles_front_end});
  add(2, "Fetch Latency", {Id::cycles_front_end});
  const auto memory = {Id::cycles_l1,  Id::cycles_l2,         Id::cycles_l3,   Id::cycles_dram,
                       Id::cycles_tlb, Id::cycles_forwarding, Id::cycles_locks};
  std::int64_t of_memory = 0;
  for (const Id id : memory) of_memory += value(*index_of(id, events));
  add(1, "Backend Bound", {Id::cycles_core}, -of_memory);
  add(2, "Memory Bound", memory);
  add(3, "L1 Bound", {Id::cycles_l1, Id::cycles_tlb, Id::cycles_forwarding, Id::cycles_locks});
  add(4, "DTLB", {Id::cycles_tlb});
  add(4, "Store Forwarding", {Id::cycles_forwarding});
  add(4, "Lock Latency", {Id::cycles_locks});
  add(3, "L2 Bound", {Id::cycles_l2});
  add(3, "L3 Bound", {Id::cycles_l3});
  add(3, "DRAM Bound", {Id::cycles_dram});
  add(2, "Core Bound", {Id::cycles_core});
  return classes;
}

std::string indented_name(const TopDownClass& row, std::string_view indentation) {
  std::string name;
  for (int level = 1; level < row.level; ++level) name += indentation;
  return name.append(row.name);
}

std::string cause_events(bool with_slots) {
  std::string list = "instructions,cycles";
  if (with_slots) list += ",pipeline-slots,cycles-heavy";
  for (const CycleCause& cause : table) list.append(",").append(event::definition(cause.id).name);
  return list;
}

}  // namespace tally::output
