/// The records of this address space in the channel: its process, its threads, and its numbered segments.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine {

/// Adds `delta`, which the counters lack for the instruction at `pc`, to a thread's counts. Adjusts its countdowns.
void correct(Thread* t, u64 pc, const channel::Totals& delta);
/// Called for each correction; null if nobody needs them.
extern void (*on_correction)(Thread* t, u64 pc, const channel::Totals& delta);
/// How much of an event that is counted down `totals` contains.
s64 amount_of(u32 trigger, const channel::Totals& totals);
/// Adjusts the countdowns of a thread by `delta`, which it retired in addition.
void count_down(Thread* t, const channel::Totals& delta);

/// Marks the counts of this thread's process as partial, for this reason; or removes the mark.
void mark_partial(Thread* t, channel::Partial why);
void unmark_partial(Thread* t, channel::Partial why);

inline constexpr u32 counters_per_page = page_bytes / 8;
/// Returns the first segment number, from `number` on, at which the counters of `n` segments cause no stalls.
u32 placed(u32 number, u32 n);
/// Makes the next `n` segment numbers start at such a number.
void place_segments(u32 n);

/// Claims the next segment number and records what one execution of the segment counts. Returns 0 if no number is left.
u32 new_segment(const channel::SegmentVector& v);
/// The same for `n` segments with consecutive numbers. Returns the first number.
u32 new_segments(const channel::SegmentVector* v, u32 n);
/// The same, from the start of a page of counters on, so that placed() holds for them as for numbers from 0 on.
u32 new_segment_pages(const channel::SegmentVector* v, u32 n);
channel::SegmentVector& segment(u32 number);
/// Adds `n` executions of a segment.
void add_segment(channel::Totals& totals, u32 number, s64 n = 1);
/// All claimed numbers are below this one.
u32 segment_limit_so_far();

/// Copies the calling thread's name from the kernel to its record.
void name_thread(Thread* t);

Thread* threads();
/// Whether the process of `t` has no other thread.
bool is_last(const Thread* t);
const channel::Settings& settings();
channel::Records records();
channel::Process& process_record(Thread* t);
/// The number of this address space's process record. A vfork child in it has another one.
u32 own_process_number();

extern Lock threads_lock;

/// Processor time that this process has used.
u64 processor_ns();

/// Records how the process of this thread ends.
void end_as(Thread* t, channel::End how, int code);
/// Records that the process continues natively from here on.
void write_back(Thread* t);

/// Sets the GS base of the calling thread.
void set_gs(u64 base);

/// Written when threads and processes start and end.
struct OwnRecords {
  channel::Records shared;
  channel::Settings settings;
  Thread* live;                     // all threads of this address space
  u32 threads;                      // those of its process, without those of a vfork child
  channel::SegmentVector* vectors;  // what one execution of each segment counts
  channel::MixRow* rows;            // the rest of it; null without Settings::mix
  u32 segments;                     // number of claimed segment numbers
  u32 process;                      // the record of the address space, not of a vfork child in it
  bool counts_down;                 // instrument/countdowns.hpp
  bool notes_path;                  // threads in single steps note their addresses: CountdownState::path
  u32 countdowns;
  channel::WindowTrigger countdown[channel::window_trigger_limit];
};
extern OwnRecords own_records;
/// Takes the settings of the run from the channel. Most words are 0, and so are those of a new process: their pages
/// need no memory.
void take_settings();

/// The fields of Totals that are counted: the first ones, and the rest with Settings::mix.
inline u32 counted_fields() {
  return own_records.rows != nullptr ? u32{channel::field_count} : u32{channel::first_mix_field};
}

void link_in(Thread* t);
void unlink(Thread* t);
/// Whether it is in the list of threads. The caller must hold threads_lock.
bool is_linked(const Thread* t);
/// Whether no other thread, of any process, is in this memory. The caller must hold threads_lock, or be the only
/// thread.
inline bool is_only_thread(const Thread* t) { return own_records.live == t && t->next == nullptr; }
/// Whether the process has one thread. The caller must hold threads_lock, because a thread that ends changes lists.
bool is_last_of(u32 process);

}  // namespace tally::engine
