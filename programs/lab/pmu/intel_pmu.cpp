#include "programs/lab/pmu/intel_pmu.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tally/hardware/pmu/intel/event_select.hpp"

namespace tally::pmu::emulated {
namespace {

constexpr std::uint64_t counters_frozen = 1ULL << 59;
constexpr std::uint64_t branches_frozen = 1ULL << 58;
constexpr std::uint64_t buffer_overflow = 1ULL << 62;
constexpr std::uint64_t freeze_branches = 1ULL << 11;
constexpr std::uint64_t freeze_counters = 1ULL << 12;

constexpr std::uint64_t slots_per_cycle = 4;

constexpr Signal fixed_signals[] = {Signal::instructions, Signal::core_cycles, Signal::reference_cycles, Signal::slots};

}  // namespace

std::string counter_name(int number) {
  if (number >= 32) return "IA32_FIXED_CTR" + std::to_string(number - 32);
  return "IA32_PMC" + std::to_string(number);
}

IntelPmu::IntelPmu(const Profile& profile, Behaviour behaviour) : profile_(profile), behaviour_(behaviour) {
  // After power-up all general-purpose counters are enabled and no fixed one, as KVM's selftest pmu_counters_test
  // asserts.
  global_control_ = profile.version >= 2 ? low_ones(profile.counters) : 0;
  // PERFMON_AVAIL; BTS unavailable, and PEBS on some.
  misc_enable_ = 1U << 7 | 1U << 11 | (profile_.pebs ? 0 : 1U << 12);
  for (const RegisterInstance& place : places(intel_model)) {
    if (place.reg->space != Space::msr || !exists(profile_, place)) continue;
    const auto index = place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
    known_.push_back({static_cast<std::uint32_t>(index), place, existing_bits(profile_, *place.reg)});
  }
  std::sort(known_.begin(), known_.end(),
            [](const ImplementedRegister& a, const ImplementedRegister& b) { return a.index < b.index; });
  choose_events();
}

std::uint64_t IntelPmu::counter(int number) const { return counters_[static_cast<std::size_t>(number)].value; }

bool IntelPmu::is_counting(int number, int cpl) const {
  const auto& list = active_[cpl > 0 ? 1 : 0];
  return std::find(list.begin(), list.end(), number) != list.end();
}

bool IntelPmu::is_enabled(int number) const {
  if (profile_.version >= 4 && (status_ & counters_frozen) != 0) return false;
  return profile_.version < 2 || (global_control_ >> number & 1) != 0;
}

bool IntelPmu::counts_at(int number, int cpl) const {
  const Counter& counter = counters_[static_cast<std::size_t>(number)];
  return (cpl > 0 ? counter.in_user : counter.in_kernel) && counter.signal != Signal::nothing;
}

// Derives each counter's event from IA32_PERFEVTSELn and IA32_FIXED_CTR_CTRL.
void IntelPmu::choose_events() {
  for (int i = 0; i < profile_.counters; ++i) {
    const intel::EventSelect select = intel::decode_event_select(select_[static_cast<std::size_t>(i)]);
    Counter& counter = counters_[static_cast<std::size_t>(i)];
    const auto announced = announced_at(select.event, select.umask);
    const bool is_there =
        !announced || (*announced < profile_.announced_events && (profile_.unavailable_events >> *announced & 1) == 0);
    counter.signal = is_there ? signal_of(select.event, select.umask) : Signal::nothing;
    counter.in_kernel = select.enable && select.os;
    counter.in_user = select.enable && select.usr;
    counter.any = select.any_thread && profile_.any_thread;
    counter.interrupts = select.interrupt;
    counter.edge = select.edge;
    counter.inverted = select.invert && select.cmask != 0;
    counter.cmask = select.cmask;
  }
  for (int i = 0; i < 4; ++i) {
    if (!profile_.has_fixed(i)) continue;
    const std::uint64_t field = fixed_control_ >> (4 * i) & 0xF;
    Counter& counter = counters_[static_cast<std::size_t>(first_fixed + i)];
    counter.signal = fixed_signals[i];
    counter.in_kernel = (field & 1) != 0;
    counter.in_user = (field & 2) != 0;
    counter.any = (field & 4) != 0 && profile_.any_thread;
    counter.interrupts = (field & 8) != 0;
  }
  choose_active();
}

// Lists the counters that count at each privilege level, for retire().
void IntelPmu::choose_active() {
  for (const int level : {0, 1}) {
    active_[level].clear();
    for (int number = 0; number < slots_total; ++number) {
      if (is_enabled(number) && counts_at(number, level)) active_[level].push_back(number);
    }
  }
  // A counter that was stopped within a cycle has lost the events of that cycle.
  for (int number = 0; number < slots_total; ++number) {
    if (!is_counting(number, 0) && !is_counting(number, 3)) counters_[static_cast<std::size_t>(number)].in_cycle = 0;
  }
}

// How much cycles with this number of events each add to a counter with a counter mask or edge detection.
std::uint64_t IntelPmu::end_cycles(Counter& counter, std::uint64_t events, std::uint64_t cycles) {
  if (cycles == 0) return 0;
  const bool is_clock = counter.signal == Signal::core_cycles || counter.signal == Signal::reference_cycles;
  if (is_clock) events = 1;
  if (counter.signal == Signal::slots) events = slots_per_cycle;
  const bool is_true = (events >= std::max<std::uint64_t>(counter.cmask, 1)) != counter.inverted;
  const bool rises = is_true && !counter.was_true;
  counter.was_true = is_true;
  if (counter.edge) return rises ? 1 : 0;
  return is_true ? cycles : 0;
}

// How much an instruction adds to a counter. All of its events occur in the cycle in which it retires.
std::uint64_t IntelPmu::counted(Counter& counter, const Work& work) {
  if (!counter.by_cycle()) return work[counter.signal];
  std::uint64_t added = 0;
  const std::uint64_t cycles = work[Signal::core_cycles];
  const std::uint64_t before = work.ends_cycle && cycles > 0 ? cycles - 1 : cycles;
  if (before > 0) {
    added += end_cycles(counter, counter.in_cycle, 1) + end_cycles(counter, 0, before - 1);
    counter.in_cycle = 0;
  }
  counter.in_cycle += work[counter.signal];
  if (before == cycles) return added;
  added += end_cycles(counter, counter.in_cycle, 1);
  counter.in_cycle = 0;
  return added;
}

// Adds events and returns whether the counter overflowed.
bool IntelPmu::add(int number, std::uint64_t events) {
  Counter& counter = counters_[static_cast<std::size_t>(number)];
  counter.value += events;
  if (counter.value <= low_ones(profile_.width)) return false;
  counter.value &= low_ones(profile_.width);
  return true;
}

Work IntelPmu::with_clock(const Work& work) {
  Work timed = work;
  const std::uint64_t core = work[Signal::core_cycles];
  clock_rest_ += core * behaviour_.clock.base;
  const std::uint64_t reference = clock_rest_ / behaviour_.clock.current;
  clock_rest_ %= behaviour_.clock.current;
  timed[Signal::reference_cycles] = reference;
  timed[Signal::slots] = slots_per_cycle * core;
  time_stamp_ += reference;
  maximum_ += reference;
  actual_ += core;
  return timed;
}

void IntelPmu::count(const Work& work, int cpl, bool sibling) {
  bool interrupt = false;
  for (const int number : active_[cpl > 0 ? 1 : 0]) {
    Counter& counter = counters_[static_cast<std::size_t>(number)];
    if (sibling && !counter.any) continue;
    const std::uint64_t events = counted(counter, work);
    const bool overflows = add(number, events);
    // SDM vol. 3B, "Performance Counter Prioritization": the transition to 0 arms, the one from 0 to 1 records.
    if (overflows && writes_records(number)) armed_ |= 1ULL << number;
    if ((armed_ >> number & 1) != 0 && events > 0 && counter.value > 0) has_record_ = true;
    if (!overflows) continue;
    // The status bit is set even if the counter does not interrupt.
    status_ |= 1ULL << number;
    interrupt = interrupt || counter.interrupts;
    notify({Happening::Kind::overflow, number});
  }
  // One PMI, even if several counters overflowed on the instruction.
  if (interrupt) raise_pmi();
}

void IntelPmu::retire(const Work& work, int cpl) {
  if (pmi_in_ > 0) --pmi_in_;
  count(with_clock(work), cpl, false);
  if (pmi_in_ == 0) send_pmi();
}

void IntelPmu::retire_sibling(const Work& work, int cpl) { count(work, cpl, true); }

// Skid delays the interrupt, not the status bit.
void IntelPmu::raise_pmi() {
  if (pmi_in_ < 0) pmi_in_ = behaviour_.skid;
}

void IntelPmu::send_pmi() {
  pmi_in_ = -1;
  const Sent sent = apic_.send_perfmon();
  notify({Happening::Kind::pmi, 0, sent});
  if (sent == Sent::pending) freeze();
}

bool IntelPmu::writes_records(int number) const {
  return number < first_fixed && (pebs_enable_ >> number & 1) != 0 &&
         is_precise(counters_[static_cast<std::size_t>(number)].signal);
}

void IntelPmu::record(const PebsState& state, LinearMemory& memory) {
  has_record_ = false;
  const std::uint64_t counters = std::exchange(armed_, 0);
  std::uint64_t accessed = 0;
  for (int i = 0; i < profile_.counters; ++i) {
    const Signal signal = counters_[static_cast<std::size_t>(i)].signal;
    if ((counters >> i & 1) == 0) continue;
    if (signal == Signal::loads) accessed = state.loaded;
    if (signal == Signal::stores) accessed = state.stored;
  }
  const PebsRecord record = store_pebs_record(memory, ds_area_, state,
                                              {.format = profile_.pebs_format(),
                                               .counters = counters,
                                               .status = status_,
                                               .accessed = accessed,
                                               .time_stamp = time_stamp_});
  const bool is_stored = record.outcome == PebsRecord::Outcome::stored;
  if (is_stored) {
    status_ &= ~counters;
    for (int i = 0; i < profile_.counters; ++i) {
      if ((counters >> i & 1) == 0) continue;
      write_counter(i, memory.read(ds_area_ + ds::reset + 8 * static_cast<std::uint64_t>(i)).value_or(0));
    }
  }
  notify({.kind = Happening::Kind::record, .record = record});
  if (!is_stored || !record.is_threshold) return;
  status_ |= buffer_overflow;
  raise_pmi();
  if (pmi_in_ == 0) send_pmi();
}

// SDM vol. 3B, "Freezing LBR and Performance Counters on PMI": legacy up to version 3, streamlined since.
void IntelPmu::freeze() {
  if ((debug_control_ & freeze_counters) != 0) {
    if (profile_.version >= 4) {
      status_ |= counters_frozen;
    } else {
      global_control_ = 0;
    }
    notify({Happening::Kind::frozen});
  }
  if ((debug_control_ & freeze_branches) != 0) {
    if (profile_.version >= 4) {
      status_ |= branches_frozen;
    } else {
      debug_control_ &= ~1ULL;
    }
  }
  choose_active();
}

std::uint64_t IntelPmu::room(const Work& most, int cpl) const {
  if (pmi_in_ >= 0 || armed_ != 0) return 0;
  Work each_most = most;
  each_most[Signal::slots] = slots_per_cycle * most[Signal::core_cycles];
  // Rounded up, plus one that may remain from earlier instructions.
  const Clock& clock = behaviour_.clock;
  each_most[Signal::reference_cycles] =
      (most[Signal::core_cycles] * clock.base + clock.current - 1) / clock.current + 1;
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  for (const int number : active_[cpl > 0 ? 1 : 0]) {
    const Counter& counter = counters_[static_cast<std::size_t>(number)];
    if (counter.by_cycle()) return 0;
    const std::uint64_t each = std::max<std::uint64_t>(each_most[counter.signal], 1);
    room = std::min(room, (low_ones(profile_.width) - counter.value) / each);
  }
  return room;
}

bool IntelPmu::counts(Signal signal, int cpl) const {
  const auto& list = active_[cpl > 0 ? 1 : 0];
  return std::any_of(list.begin(), list.end(),
                     [&](int number) { return counters_[static_cast<std::size_t>(number)].signal == signal; });
}

void IntelPmu::advance(const Work& work, int cpl) {
  const Work timed = with_clock(work);
  for (const int number : active_[cpl > 0 ? 1 : 0]) {
    Counter& counter = counters_[static_cast<std::size_t>(number)];
    counter.value += timed[counter.signal];
  }
}

std::optional<Interrupt> IntelPmu::take_pmi(bool interrupts_enabled) { return apic_.take(interrupts_enabled); }

// Source: Weaver, Terpstra, Moore, "Non-determinism and overcount on modern hardware performance counter
// implementations", ISPASS 2013.
void IntelPmu::count_return() {
  if (!behaviour_.overcount) return;
  Work end;
  for (const Signal signal : {Signal::instructions, Signal::branches, Signal::taken_branches, Signal::far_branches}) {
    end[signal] = 1;
  }
  count(end, 3, false);
}

bool IntelPmu::has_interrupt(bool interrupts_enabled) const { return apic_.has_pending(interrupts_enabled); }

}  // namespace tally::pmu::emulated
