#include "programs/register/pmu/intel/readings.hpp"

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"
#include "tally/hardware/pmu/intel/intel_events.hpp"

namespace tally::pmu::intel {
namespace {

std::string mode_text(bool usr, bool os) {
  if (usr && os) return "in user and kernel mode";
  if (usr) return "in user mode";
  return os ? "in kernel mode" : "in no mode";
}

// "counters 0–3", "fixed counter 1"; empty if no bit is set.
std::string counters_text(std::string_view kind, std::uint64_t bits) {
  if (bits == 0) return {};
  return fmt::format("{}counter{} {}", kind, std::popcount(bits) == 1 ? "" : "s", ranges(bits));
}

// In the global registers, bits 31:0 are the general-purpose counters, bits 47:32 the fixed ones.
std::vector<std::string> counter_lists(std::uint64_t bits) {
  std::vector<std::string> parts;
  if (auto general = counters_text("", bits & 0xFFFF'FFFF); !general.empty()) parts.push_back(general);
  if (auto fixed = counters_text("fixed ", bits >> 32 & 0xFFFF); !fixed.empty()) parts.push_back(fixed);
  return parts;
}

std::string condition_text(const EventSelect& select) {
  std::string text;
  if (select.cmask != 0) {
    text = select.equal    ? "cycles with exactly {} of: "
           : select.invert ? "cycles with fewer than {} of: "
                           : "cycles with at least {} of: ";
    text.replace(text.find("{}"), 2, fmt::format("{}", select.cmask));
  }
  return select.edge ? "beginnings of " + text : text;
}

}  // namespace

std::string event_select_summary(const Value& value) {
  if (value.bits == 0) return "off: counts nothing";
  const EventSelect select = decode_event_select(value.bits);
  const EventCode* code = find_event(select.event, select.umask);
  std::string text = "counts " + condition_text(select);
  text += code ? std::string(code->name) : fmt::format("event {:02X}H, umask {:02X}H", select.event, select.umask);
  text += ", " + mode_text(select.usr, select.os);
  if (!select.enable) text += "; not enabled";
  if (select.interrupt) text += "; interrupt at overflow";
  return text;
}

std::string event_select_reading(const Value& value, const Slot& slot) {
  if (slot.field->name != "event") return {};
  const EventSelect select = decode_event_select(value.bits);
  const EventCode* code = find_event(select.event, select.umask);
  if (!code) return {};
  return fmt::format("{} with this umask{}", code->name, code->where.empty() ? "" : fmt::format(" ({})", code->where));
}

std::string_view fixed_counter_event(int index) {
  // SDM vol. 3B, table of the fixed-function counters; 4 to 6 on recent Atom cores.
  static constexpr std::string_view names[] = {"instructions",    "core cycles",    "reference cycles", "slots",
                                               "bad speculation", "frontend bound", "retiring"};
  return index >= 0 && index < static_cast<int>(std::size(names)) ? names[index] : "unnamed";
}

std::string fixed_control_summary(const Value& value) {
  std::vector<std::string> parts;
  for (int i = 0; i < 8; ++i) {
    const bool os = get(value, "OS#", i) != 0;
    const bool usr = get(value, "USR#", i) != 0;
    const bool pmi = get(value, "PMI#", i) != 0;
    if (!os && !usr && !pmi) continue;
    parts.push_back(fmt::format("{} {}{}", fixed_counter_event(i), mode_text(usr, os), pmi ? " with PMI" : ""));
  }
  return parts.empty() ? "no fixed counter counts" : join(parts, "; ");
}

std::string global_control_summary(const Value& value) {
  const auto lists = counter_lists(value.bits);
  return lists.empty() ? "no counter may count" : join(lists, " and ") + " may count";
}

std::string global_status_summary(const Value& value) {
  std::vector<std::string> parts;
  if (const auto lists = counter_lists(value.bits); !lists.empty())
    parts.push_back("overflow of " + join(lists, " and "));
  if (get(value, "CTR_Frz") != 0) parts.emplace_back("counters frozen");
  if (get(value, "LBR_Frz") != 0) parts.emplace_back("branch records frozen");
  if (get(value, "OvfBuf") != 0) parts.emplace_back("the DS buffer has reached its threshold");
  return parts.empty() ? "no counter has overflowed" : join(parts, "; ");
}

std::string reset_summary(const Value& value) {
  auto cleared = counter_lists(value.bits);
  if (get(value, "Clr_OvfBuf") != 0) cleared.emplace_back("the DS buffer");
  const bool thaws = get(value, "Clr_CTR") != 0;
  if (cleared.empty()) return thaws ? "ends the freeze" : "clears no overflow";
  return "clears the overflow of " + join(cleared, " and ") + (thaws ? ", and ends the freeze" : "");
}

std::string pebs_enable_summary(const Value& value) {
  constexpr std::uint64_t counters = 0xFF | 0xFFFFULL << 32;
  const auto lists = counter_lists(value.bits & counters);
  return lists.empty() ? "no counter writes PEBS records" : "PEBS records of " + join(lists, " and ");
}

std::string local_vector_summary(const Value& value) {
  const std::uint64_t mode = get(value, "mode");
  return fmt::format("vector {:02X}H, {}{}", get(value, "vector"),
                     mode == 0   ? "Fixed"
                     : mode == 2 ? "SMI"
                     : mode == 4 ? "NMI"
                                 : "a mode that is not supported here",
                     get(value, "mask") != 0 ? ", masked: no interrupt is delivered" : "");
}

std::string rdpmc_summary(const Value& value) {
  const std::uint64_t index = get(value, "index");
  switch (get(value, "type")) {
    case 0: return fmt::format("reads IA32_PMC{}", index);
    case 0x4000: return fmt::format("reads IA32_FIXED_CTR{} ({})", index, fixed_counter_event(static_cast<int>(index)));
    case 0x2000: return "reads PERF_METRICS";
    default: return "reads no counter: #GP(0)";
  }
}

}  // namespace tally::pmu::intel
