/// The records that this address space has in the channel: its process, its threads, and its segments with their
/// numbers.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine {

/// Adds to the counts of a thread what its counters do not say, of the instruction at `pc`; what is counted down knows
/// of it.
void correct(Thread* t, u64 pc, const channel::Totals& delta);
/// Who is told of each of those; null: nobody.
extern void (*on_correction)(Thread* t, u64 pc, const channel::Totals& delta);
/// How much of the event of a trigger of windows this is.
s64 amount_of(u32 trigger, const channel::Totals& totals);
/// A thread has retired that much more, or less, of what is counted down.
void count_down(Thread* t, const channel::Totals& delta);

/// Says that the counts of this thread's process are not the whole truth.
void mark_partial(Thread* t, channel::Partial why);
void unmark_partial(Thread* t, channel::Partial why);

inline constexpr u32 counters_per_page = page_bytes / 8;
/// The first number from `number` on where the counters of `n` segments slow nothing down.
u32 placed(u32 number, u32 n);
/// The next `n` segment numbers follow one another from there.
void place_segments(u32 n);

/// Claims the next segment number and says what one execution counts. 0 when the numbers are used up.
u32 new_segment(const channel::SegmentVector& v);
/// The same for `n` of them, numbered one after another; returns the first number.
u32 new_segments(const channel::SegmentVector* v, u32 n);
/// The same, from the start of a page of counters on, so that placed() holds for them as for numbers from 0 on.
u32 new_segment_pages(const channel::SegmentVector* v, u32 n);
channel::SegmentVector& segment(u32 number);
/// Numbers that are claimed are below it.
u32 segment_limit_so_far();

/// Writes the calling thread's name, as the kernel has it, into its record.
void name_thread(Thread* t);

Thread* threads();
/// Whether its process has no other thread.
bool is_last(const Thread* t);
const channel::Settings& settings();
channel::Records records();
channel::Process& process_record(Thread* t);
/// The number of the record of this address space; a vfork child in it has another one.
u32 own_process_number();

extern Lock threads_lock;

/// Processor time that this process has taken.
u64 processor_ns();

/// How the process of this thread ends, for its record.
void end_as(Thread* t, channel::End how, int code);
/// It goes on natively from here on.
void write_back(Thread* t);

/// Sets the GS base of the calling thread.
void set_gs(u64 base);

/// Written where threads and processes begin and end.
struct OwnRecords {
  channel::Records shared;
  channel::Settings settings;
  Thread* live;                     // all threads of this address space
  u32 threads;                      // of them, those of its process: a vfork child is another one
  channel::SegmentVector* vectors;  // of the segments
  u32 segments;                     // numbers that are claimed
  u32 process;                      // the record of the address space, not of a vfork child in it
};
extern OwnRecords own_records;

void link_in(Thread* t);
void unlink(Thread* t);
/// Whether it is in the list of threads. Wants threads_lock.
bool is_linked(const Thread* t);
/// Whether the process has one thread. Wants threads_lock: one that ends goes from this list to another.
bool is_last_of(u32 process);

}  // namespace tally::engine
