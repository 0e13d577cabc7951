// Emulates Intel's architectural performance monitoring: registers with their rules, counters, overflows and
// interrupts. Pure: needs no emulator or kernel. The caller executes the instructions and reports what they did.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "programs/lab/pmu/answer.hpp"
#include "programs/lab/pmu/core_profile.hpp"
#include "programs/lab/pmu/local_apic.hpp"
#include "programs/lab/pmu/pebs.hpp"
#include "programs/lab/pmu/work.hpp"

namespace tally::pmu::emulated {

/// A notification of the listener.
struct Happening {
  enum class Kind {
    overflow,  ///< an overflow requested an interrupt; `sent` has the outcome
    pmi,       ///< an overflow asked for an interrupt; `sent` says what became of it
    frozen,    ///< the counters stopped because of FREEZE_PERFMON_ON_PMI
    record,    ///< a PEBS record was due; `record` has the outcome
  };
  Kind kind = Kind::overflow;
  int counter = 0;  ///< general-purpose: its number; fixed: 32 + its number
  Sent sent = Sent::pending;
  PebsRecord record = {};
};

/// The clock ratio: reference cycles and time stamps advance by base / current per core cycle.
struct Clock {
  std::uint64_t base = 1;
  std::uint64_t current = 1;
};

/// Behaviour that differs between processors or that a user can choose.
struct Behaviour {
  Clock clock;
  int skid = 0;            ///< instructions between an overflow and its interrupt
  bool overcount = false;  ///< the end of a return to user mode retires there, as on many processors
};

class IntelPmu {
 public:
  explicit IntelPmu(const Profile& profile, Behaviour behaviour = {});

  /// Execute RDMSR, WRMSR and RDPMC at privilege level `cpl`, and retire them. An instruction that faults does not
  /// retire. `value` is EDX:EAX. RDPMC reads before it retires. WRMSR retires under the old settings: a write that
  /// enables a counter is not counted, one that disables it is.
  Answer rdmsr(std::uint32_t index, int cpl = 0, const Work& work = one_instruction());
  Answer wrmsr(std::uint32_t index, std::uint64_t value, int cpl = 0, const Work& work = one_instruction());
  Answer rdpmc(std::uint32_t ecx, int cpl = 0, bool user_may = true, const Work& work = one_instruction());

  /// Access registers without an instruction: for diagrams and memory-mapped registers.
  Answer read(std::uint32_t index) const;
  Answer write(std::uint32_t index, std::uint64_t value);

  /// Whether this class emulates an MSR.
  static bool owns(std::uint32_t index);

  /// Retires one instruction at privilege level `cpl`.
  void retire(const Work& work, int cpl);
  /// Counts the end of a return to user mode, on processors that count it there.
  void count_return();
  /// Counts work of a sibling thread on the core: only counters with ANY count it.
  void retire_sibling(const Work& work, int cpl);
  /// Halts for some reference cycles: counters stop, time stamps advance.
  void halt(std::uint64_t reference_cycles) { time_stamp_ += reference_cycles; }

  /// The number of instructions that advance() may combine without an overflow, if none of them counts more than `most`
  /// of any signal. 0: retire them one by one.
  std::uint64_t room(const Work& most, int cpl) const;
  /// Whether any counter currently counts this signal at that level.
  bool counts(Signal signal, int cpl) const;
  /// Counts the work of several instructions at once. Only within room().
  void advance(const Work& work, int cpl);

  /// Whether the last instruction caused a PEBS record: record() stores it before the next instruction.
  bool has_record() const { return has_record_; }
  /// Stores the record, reloads the counters that overflowed, and requests the interrupt of the threshold.
  void record(const PebsState& state, LinearMemory& memory);

  /// Takes the interrupt that is delivered before the next instruction.
  std::optional<Interrupt> take_pmi(bool interrupts_enabled);
  bool has_interrupt(bool interrupts_enabled) const;

  LocalApic& apic() { return apic_; }
  const LocalApic& apic() const { return apic_; }
  const Profile& profile() const { return profile_; }
  const Behaviour& behaviour() const { return behaviour_; }
  std::uint64_t time_stamp() const { return time_stamp_; }

  /// The value of a counter: general-purpose by its number, fixed by 32 + its number.
  std::uint64_t counter(int number) const;
  /// Whether a counter counts at this privilege level with the current settings.
  bool is_counting(int number, int cpl) const;

  void listen(std::function<void(const Happening&)> listener) { listener_ = std::move(listener); }

 private:
  struct Counter {
    std::uint64_t value = 0;
    Signal signal = Signal::nothing;
    bool in_kernel = false;
    bool in_user = false;
    bool any = false;
    bool interrupts = false;
    bool edge = false;
    bool inverted = false;
    std::uint64_t cmask = 0;
    bool was_true = false;       // whether the condition held in the last cycle, for edges
    std::uint64_t in_cycle = 0;  // events of the cycle that has not ended

    bool by_cycle() const { return cmask != 0 || edge; }
  };

  // A register of this processor.
  struct ImplementedRegister {
    std::uint32_t index = 0;
    RegisterInstance place;
    std::uint64_t bits = 0;
  };
  const ImplementedRegister* known(std::uint32_t index) const;

  static constexpr int first_fixed = 32;
  static constexpr int slots_total = 40;

  bool is_enabled(int number) const;
  bool counts_at(int number, int cpl) const;
  void choose_events();
  void choose_active();
  static std::uint64_t counted(Counter& counter, const Work& work);
  static std::uint64_t end_cycles(Counter& counter, std::uint64_t events, std::uint64_t cycles);
  bool add(int number, std::uint64_t events);
  void count(const Work& work, int cpl, bool sibling);
  Work with_clock(const Work& work);
  bool writes_records(int number) const;
  void raise_pmi();
  void send_pmi();
  void freeze();
  std::uint64_t in_use() const;
  void write_counter(int number, std::uint64_t value);
  std::optional<std::string> refused(std::uint32_t index, std::uint64_t value) const;
  void apply(std::uint32_t index, std::uint64_t value);
  std::optional<std::string> reserved(const ImplementedRegister& known, std::uint64_t value) const;
  Answer no_such(std::uint32_t index, bool write) const;
  void notify(const Happening& happening) const {
    if (listener_) listener_(happening);
  }

  Profile profile_;
  Behaviour behaviour_;
  std::vector<ImplementedRegister> known_;  // sorted by index
  LocalApic apic_;
  std::array<Counter, slots_total> counters_{};
  std::array<std::uint64_t, 32> select_{};  // IA32_PERFEVTSELn
  std::uint64_t fixed_control_ = 0;
  std::uint64_t global_control_ = 0;
  std::uint64_t status_ = 0;
  std::uint64_t debug_control_ = 0;
  std::uint64_t misc_enable_ = 0;
  std::uint64_t pebs_enable_ = 0;
  std::uint64_t ds_area_ = 0;
  std::uint64_t armed_ = 0;  // counters that overflowed and write a record at their next event
  bool has_record_ = false;
  std::uint64_t time_stamp_ = 0;
  std::uint64_t actual_ = 0;      // APERF
  std::uint64_t maximum_ = 0;     // MPERF
  std::uint64_t clock_rest_ = 0;  // core cycles since the last whole reference cycle
  int pmi_in_ = -1;               // instructions until a delayed PMI is sent; -1: none is pending
  std::vector<int> active_[2];    // counters that count: at CPL 0, above
  std::function<void(const Happening&)> listener_;
};

/// The name of a counter by its bit in the status register: "IA32_PMC0", "IA32_FIXED_CTR1".
std::string counter_name(int number);

}  // namespace tally::pmu::emulated
