#include "tally/hardware/pmu/intel/event_select.hpp"

#include <cstddef>
#include <type_traits>

namespace tally::pmu::intel {
namespace {

// SDM vol. 3B, diagrams of IA32_PERFEVTSELx in versions 1, 3 and 6. Bits 34 and 35: "Adaptive PEBS" and "Branch event
// logging". Sources differ on PC and ANY: see the reference page of the registers.
constexpr Field fields[] = {
    bits(7, 0, "event", "event select"),
    bits(15, 8, "umask", "unit mask: which of the event's conditions"),
    flag(16, "USR", "counts at CPL 1 to 3 (user mode)"),
    flag(17, "OS", "counts at CPL 0 (kernel mode)"),
    flag(18, "E", "edge detect: counts how often the condition begins"),
    flag(19, "PC", "pin control; reserved since Sandy Bridge, without effect"),
    flag(20, "INT", "interrupt (PMI) at overflow"),
    flag(21, "ANY", "counts the other threads of the core as well").from(3).upto(4).needing(Feature::any_thread),
    flag(22, "EN", "the counter may count"),
    flag(23, "INV", "inverts the comparison with CMASK"),
    bits(31, 24, "CMASK", "counts cycles with at least this many events; 0 counts events").as(Show::number),
    flag(32, "IN_TX", "counts only inside transactions (TSX)").needing(Feature::transactions).from(3),
    flag(33, "IN_TXCP", "excludes aborted transactions (TSX; counter 2 only)").needing(Feature::transactions).from(3),
    flag(34, "ADAPTIVE", "writes an adaptive PEBS record").needing(Feature::adaptive_pebs).from(5),
    flag(35, "BR_CNTR", "logs the event in the branch records").needing(Feature::branch_events).from(6),
    flag(36, "EQ", "counts where events equal CMASK").from(6),
    flag(37, "RDPMC_USER_DISABLE", "refuses RDPMC in user mode").from(6),
    bits(47, 40, "UMASK2", "second unit mask").from(6),
};

// Calls `visit` for each member of EventSelect, in the order of `fields`: one list for both directions.
template <class Select, class Visit>
void for_each_member(Select& select, Visit visit) {
  std::size_t at = 0;
  const auto next = [&](auto& member) { visit(fields[at++], member); };
  next(select.event);
  next(select.umask);
  next(select.usr);
  next(select.os);
  next(select.edge);
  next(select.pin_control);
  next(select.interrupt);
  next(select.any_thread);
  next(select.enable);
  next(select.invert);
  next(select.cmask);
  next(select.in_tx);
  next(select.in_tx_checkpointed);
  next(select.adaptive);
  next(select.branch_counter);
  next(select.equal);
  next(select.rdpmc_user_disable);
  next(select.umask2);
}

}  // namespace

std::span<const Field> event_select_fields() { return fields; }

EventSelect decode_event_select(std::uint64_t value) {
  EventSelect select;
  select.reserved = value;
  for_each_member(select, [&](const Field& field, auto& member) {
    using Member = std::remove_reference_t<decltype(member)>;
    member = static_cast<Member>(extract(field, value));
    select.reserved &= ~field_mask(field);
  });
  return select;
}

std::uint64_t encode(const EventSelect& select) {
  std::uint64_t value = select.reserved;
  for_each_member(select, [&](const Field& field, const auto& member) { value = insert(field, value, member); });
  return value;
}

}  // namespace tally::pmu::intel
