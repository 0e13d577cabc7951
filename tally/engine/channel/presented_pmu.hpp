/// The PMU that programs find (Settings::pmu): the events that perf_event_open(2) opens, with what they count.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/marks_layout.hpp"

namespace tally::channel {

/// What the cycles of the core model are divided into: classes of top-down analysis. The rest waits for memory.
enum CycleClass : uint8_t { cycles_retiring, cycles_heavy, cycles_front_end, cycles_mispredicted, cycles_core };
inline constexpr uint32_t cycle_class_count = 5;

/// An event as a program selects it.
struct PmuEvent {
  uint32_t type;  ///< perf_event_attr.type
  uint64_t config;
  int8_t weight[mark_values];  ///< its count is the sum of these, each times its weight
  uint8_t is_modelled;         ///< 1: some of them are ModelValues
  uint8_t is_cycles;  ///< 1: its count is the modelled cycles times cycles_weight, and the classes times class_weight
  int8_t cycles_weight, class_weight[cycle_class_count];
  uint8_t is_metric;  ///< 1: its group needs a leader that counts slots
};
inline bool is_modelled(const PmuEvent& event) { return event.is_modelled != 0 || event.is_cycles != 0; }
/// Whether it is Intel's event `slots`, which leads groups of metrics.
inline bool leads_metrics(const PmuEvent& event) { return event.type == 4 && event.config == 0x0400; }
inline constexpr uint32_t pmu_event_limit = 48;

/// Programs find no PMU if it has no events.
struct PresentedPmu {
  uint32_t event_count;
  PmuEvent event[pmu_event_limit];
  uint8_t has_classes;                            ///< 1: some events have class weights
  uint8_t miss_class[mark_values - mark_fields];  ///< the class of the cycles of Marks::miss_cycles; or the count
  char folder[256];  ///< of the command: its `sys` is the /sys of the PMU; empty: programs read the real one

  bool any() const { return event_count != 0; }
};

/// What programs wanted of the PMU and did not get, and what they did then.
enum PmuLack : uint32_t {
  pmu_lacks_cycles = 1,       ///< samples of cycles, which need a model
  pmu_samples_clock = 2,      ///< then they sampled a clock of the kernel
  pmu_opened = 4,             ///< they opened another event
  pmu_lacks_model = 16,       ///< a generic event that needs a model
  pmu_lacks_precise = 32,     ///< samples of a modelled event with precise_ip
  pmu_lacks_countdown = 64,   ///< samples of a fifth kind of exact events
  pmu_lacks_shared_ring = 8,  ///< records of an event of the kernel in the ring of one of the engine, or the reverse
};

/// What an event records, and when: the values of perf_event_attr, and its ring.
struct PmuSampling {
  uint64_t flags;     ///< the bits of perf_event_attr after read_format: guest/pmu_records.hpp
  uint64_t content;   ///< sample_type
  uint64_t period;    ///< a sample each time this many events were counted, or their frequency in Hz; 0: none
  uint64_t branches;  ///< branch_sample_type
  uint64_t user_registers, registers;  ///< sample_regs_user, sample_regs_intr
  uint32_t stack_bytes;                ///< sample_stack_user
  uint32_t wakeup;                     ///< wakeup_events, or wakeup_watermark
  int32_t clock;                       ///< clockid, if a flag says that it is used
  uint16_t most_callers;               ///< sample_max_stack
  uint8_t overwrites;                  ///< 1: the program does not report what it has read
  uint8_t is_paused;                   ///< 1: its ring gets no records: they are lost (PERF_EVENT_IOC_PAUSE_OUTPUT)
  uint8_t is_asynchronous;             ///< 1: each overflow sends a signal (O_ASYNC)
  uint32_t ring;                       ///< the first page of its ring in the file; 0: none
  uint32_t ring_pages;                 ///< after the first one
  uint32_t output;                     ///< the event whose ring it writes to; 0: its own
  uint32_t outputs;                    ///< number of events that write to its ring in this way
  uint32_t until_off;                  ///< it is switched off after this many overflows; 0: it stays on
  uint64_t lost;                       ///< records that found no room since the last one that did
  uint64_t lost_ever;
  uint64_t woken_at;                          ///< bytes in the ring when it last woke readers
  uint32_t since_wakeup;                      ///< samples since then
  uint32_t address;                           ///< of the socket that is its descriptor; 0: that has none
  int32_t owner_kind, owner, signal, number;  ///< who gets the signal (F_SETOWN_EX), which one, with which descriptor
  uint64_t trap_data;                         ///< with sigtrap: sig_data
};

/// An event that a program has opened. All fields are protected by PmuTable::lock.
struct PmuOpenEvent {
  uint64_t identity;       ///< of the file: guest/pmu_table.hpp
  uint64_t id;             ///< as PERF_EVENT_IOC_ID returns it
  uint64_t read_format;    ///< bits of perf_event_read_format
  uint64_t number;         ///< with is_kernels: one of its descriptors, in the process that used it last
  uint32_t holders;        ///< number of processes that have descriptors of it; 0: this element is free
  uint32_t next;           ///< event of the same bucket, or free element; 0: none
  uint32_t leader;         ///< of its group: itself, or another one
  uint32_t next_member;    ///< the next event of its group, in the order in which they were opened; 0: none
  uint32_t last_member;    ///< of a leader: the last event of the group
  uint32_t countings;      ///< the first of its PmuCountings; 0: none
  uint32_t opener;         ///< the Thread that opened it
  uint32_t of;             ///< the Thread that it was opened for
  uint32_t row;            ///< index in PresentedPmu::event
  int32_t cpu;             ///< as in the call that opened it
  uint8_t is_kernels;      ///< 1: the kernel counts it
  uint8_t runs;            ///< with is_kernels, 1: the kernel's event is switched on
  uint8_t is_on;           ///< 1: it was switched on
  uint8_t inherits;        ///< 1: new threads and processes of its threads are counted, too
  uint8_t only_threads;    ///< with inherits, 1: no processes
  uint8_t nothing;         ///< 1: it excludes what programs execute
  uint8_t is_lost;         ///< 1: its count cannot be known
  uint8_t begins_at_exec;  ///< 1: it is switched on when its thread executes a program
  uint8_t is_shared;       ///< 1: more than one process has had descriptors of it
  uint8_t ends_at_exec;    ///< 1: it counts a thread until that executes a program
  uint8_t roams;           ///< 1: of one processor, with samples, of threads that may run on others, too
  int64_t count;           ///< of its own thread, which has ended
  int64_t inherited;       ///< of other threads that have ended
  uint64_t enabled_ns;     ///< processor time of those, while it was on
  PmuSampling sampling;
};

/// Whether other processes know the count of a modelled event, which only the thread's own process can compute.
enum class PmuKnown : uint8_t {
  no,
  asked,   ///< one of them waits for it
  once,    ///< it was just computed
  at_rest  ///< the thread is in a system call
};

/// What an event counts of one thread.
struct PmuCounting {
  uint32_t event;   ///< index of its PmuOpenEvent; 0: this element is free
  uint32_t thread;  ///< index of the Thread; 0: of the child of a fork, which has not begun
  uint32_t next_of_event, before_of_event;
  uint32_t next_of_thread, before_of_thread;  ///< the first is also the next free element
  int32_t expects;       ///< who it is to count next: the program that this process executes; or, negative, this child
  uint8_t is_inherited;  ///< 1: the thread is not the event's own
  uint8_t is_on;         ///< 1: it is switched on
  uint8_t begins_at_exec;  ///< 1: it is switched on when the thread executes a program
  uint8_t is_elsewhere;    ///< 1: the thread runs on other processors than the event's
  int64_t count;           ///< up to the last update
  int64_t seen;            ///< what the thread had counted then
  uint64_t enabled_ns;     ///< its processor time while the event was on
  uint64_t seen_ns;        ///< its processor time at the last update
  uint8_t is_fresh;        ///< 1: another process has switched it on: the next overflow is after a whole period
  int64_t left;            ///< events until the next overflow
  uint64_t period;         ///< after that
  uint64_t sampled_ns;     ///< time of the last overflow; of cycles at a frequency: what varies the period
  int64_t executed;        ///< of a modelled event: instructions at the last update
  uint32_t crowded;        ///< overflows during the handler of an earlier one, less those outside of it
  uint8_t is_throttled;    ///< 1: it has paused after many of those
  PmuKnown known;
  uint8_t begins;       ///< 1: what a model has counted of the thread up to its next update is not the event's
  uint64_t rate, peak;  ///< and how many it counts in 2^16 instructions, at most: of all, of short runs
};

inline constexpr uint32_t pmu_open_limit = 1u << 18, pmu_counting_limit = 1u << 20, pmu_thread_limit = 1u << 18;
inline constexpr uint32_t pmu_bucket_count = 1u << 12, pmu_ring_page_limit = 1u << 24;

/// The events that the programs of the tree have opened. Element 0 of an array is not used.
struct PmuTable {
  uint32_t lock;  ///< 0, or the index of the Thread that has it
  uint32_t events, free_event;
  uint32_t countings, free_counting;
  uint32_t kernel_events;  ///< number of open events with is_kernels
  uint32_t search_from;  ///< elements of an array in use, at which those of killed processes are searched; 0: the least
  uint64_t ids;
  uint32_t ring_end, rings;              ///< pages that rings have used so far; number of rings
  uint64_t highest_number;               ///< of a descriptor of an event
  uint32_t bucket[pmu_bucket_count];     ///< first event with this identity; 0: none
  uint32_t of_thread[pmu_thread_limit];  ///< the first PmuCounting of each Thread; 0: none
  PmuOpenEvent event[pmu_open_limit];
  PmuCounting counting[pmu_counting_limit];
};

}  // namespace tally::channel
