#include "tally/hardware/pmu/intel/event_select.hpp"

#include <cstddef>
#include <type_traits>

namespace tally::pmu::intel {
namespace {

// Calls `visit` for each member of EventSelect, in the order of `event_select_fields`: one list for both directions.
template <class Select, class Visit>
void for_each_member(Select& select, Visit visit) {
  std::size_t at = 0;
  const auto next = [&](auto& member) { visit(event_select_fields[at++], member); };
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
