// Text for the x86 machine: its registers and their events.
#include <fmt/format.h>

#include "programs/lab/story.hpp"
#include "programs/lab/x86_machine.hpp"
#include "programs/register/pmu/codec.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"
#include "tally/hardware/pmu/intel/intel_events.hpp"

namespace tally::lab {
namespace {

// Describes what a counter currently counts.
std::string event_of(int number, const pmu::emulated::IntelPmu& pmu) {
  static constexpr const char* fixed[] = {"instructions retired", "core cycles", "reference cycles", "slots"};
  if (number >= 32) return fixed[number - 32];
  const auto answer = pmu.read(0x186 + static_cast<std::uint32_t>(number));
  const auto select = pmu::intel::decode_event_select(answer.value);
  if (select.event == 0) return "no event chosen";
  const auto* code = pmu::intel::find_event(select.event, select.umask);
  return code ? std::string(code->name) : fmt::format("event {:02X}H/{:02X}H", select.event, select.umask);
}

// Describes where a PEBS record went, and why there was one.
std::string record_words(const pmu::emulated::PebsRecord& record) {
  std::vector<std::string> names;
  for (int i = 0; i < 32; ++i) {
    if ((record.counters >> i & 1) != 0) names.push_back(pmu::emulated::counter_name(i));
  }
  if (record.outcome != pmu::emulated::PebsRecord::Outcome::stored) {
    return fmt::format("no PEBS record of {} at {:X}H", join(names, " and "), record.address);
  }
  return fmt::format("PEBS record of {} at {:X}H{}", join(names, " and "), record.address,
                     record.is_threshold ? ", the threshold" : "");
}

}  // namespace

std::vector<CounterState> LabX86::counters() const {
  std::vector<CounterState> all;
  for (const int number : counter_numbers(pmu_.profile())) {
    const bool runs = pmu_.is_counting(number, 0) || pmu_.is_counting(number, 3);
    all.push_back({pmu::emulated::counter_name(number), pmu_.counter(number), event_of(number, pmu_), runs,
                   pmu_.profile().width});
  }
  return all;
}

std::string LabX86::headline() const {
  return fmt::format("{}, emulated: {}\n{}", pmu_.profile().name, pmu_.profile().title,
                     model_line(settings_.cache_bytes));
}

std::string LabX86::register_name(std::uint32_t number) const {
  const auto place = find_msr(number);
  // The manuals' name up to version 3.
  if (number == 0x390 && pmu_.profile().version < 4) return "IA32_PERF_GLOBAL_OVF_CTRL";
  return place ? pmu::name(*place) : fmt::format("MSR {:X}H", number);
}

std::string LabX86::counter_name(std::uint32_t number) const {
  if (number >> 16 == 0x4000) return fmt::format("IA32_FIXED_CTR{}", number & 0xFFFF);
  if (number >> 16 == 0x2000) return "PERF_METRICS";
  return fmt::format("IA32_PMC{}", number);
}

// The meaning of a counter depends on its value, not on what was written.
std::optional<pmu::Value> LabX86::value(const Entry& entry) const {
  const auto place = find_msr(entry.number);
  if (!place) return std::nullopt;
  const bool is_counter = entry.kind == Entry::Kind::write && entry.number >= 0xC1 && entry.number < 0xC9;
  return pmu::Value{*place, is_counter ? entry.kept : entry.value, pmu_.profile().version};
}

std::string LabX86::meaning(const Entry& entry) const {
  const auto what = value(entry);
  return what ? meaning_of(*what) : std::string();
}

std::string LabX86::words(const Entry& entry) const {
  switch (entry.kind) {
    case Entry::Kind::write:
      // The APIC's register is memory-mapped.
      if (entry.number == 0x834) return fmt::format("LVT_PERFMON = {:#x}", entry.value);
      return fmt::format("WRMSR {} = {:#x}", register_name(entry.number), entry.value);
    case Entry::Kind::read: return fmt::format("RDMSR {} -> {:#x}", register_name(entry.number), entry.value);
    case Entry::Kind::rdpmc:
      if (!entry.text.empty()) return "RDPMC";
      return fmt::format("RDPMC {} -> {} ({:X}H)", counter_name(entry.number),
                         thousands(static_cast<std::int64_t>(entry.value)), entry.value);
    case Entry::Kind::frozen:
      return pmu_.profile().version >= 4 ? "the counters freeze: IA32_PERF_GLOBAL_STATUS[59] is set"
                                         : "the counters freeze: IA32_PERF_GLOBAL_CTRL is 0";
    case Entry::Kind::record: return record_words(entry.record) + ": " + instruction_text(entry.address);
    case Entry::Kind::enter:
      return fmt::format("vector {:X}H is taken before this instruction, at CPL {} ({})", entry.number, entry.cpl,
                         entry.text);
    case Entry::Kind::leave: return "IRET";
    default: return entry.text;
  }
}

std::string LabX86::handler_words(const Entry& entry) const {
  return fmt::format("vector {:X}H is taken: the lab's handler sends an EOI and returns, 5 instructions", entry.number);
}

std::string LabX86::drawings() const {
  std::string text;
  for (const pmu::RegisterInstance& place : pmu::places(pmu::intel_model)) {
    if (place.reg->space != pmu::Space::msr || !pmu::emulated::exists(pmu_.profile(), place)) continue;
    const auto index =
        static_cast<std::uint32_t>(place.reg->number) + static_cast<std::uint32_t>(place.index * place.reg->stride);
    // Skips aliases of the counters, and registers that do not belong to the PMU.
    if (place.reg->needs == pmu::Feature::full_width || index == 0xCE || index == 0x1A0) continue;
    if (const auto answer = pmu_.read(index)) text += drawn({place, answer.value, pmu_.profile().version});
  }
  return text;
}

}  // namespace tally::lab
