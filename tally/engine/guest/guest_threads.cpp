#include "tally/engine/guest/guest_threads.hpp"

#include <sys/mman.h>

#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/counted_clock.hpp"
#include "tally/engine/guest/pmu_counters.hpp"
#include "tally/engine/guest/record_claims.hpp"
#include "tally/engine/guest/segment_vectors.hpp"
#include "tally/engine/guest/valgrind_answers.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/core_cycles.hpp"
#include "tally/engine/instrument/exact_sums.hpp"
#include "tally/engine/instrument/jump_probes.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/instrument/running_cycles.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/sharing.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/execution_counts.hpp"
#include "tally/engine/translate/logged_code.hpp"

namespace tally::engine::guest {

namespace {

using channel::State;

Thread* pool;  // ended threads whose blocks can be reused

/// A thread that sees the state also sees what was written before it.
void set_state(State& of, State to) {
  __atomic_store_n(reinterpret_cast<u32*>(&of), static_cast<u32>(to), __ATOMIC_RELEASE);
}

bool reads_running_totals() { return marks_on() || windows_on(); }

bool map_counters(Thread* t, u32 area) {
  return map_channel(reinterpret_cast<u64>(counters(t)), counters_bytes, channel::area_offset(area));
}

/// Maps a private copy of a part of the image's memory for threads.
bool map_of_image(void* at, u64 bytes, u64 offset) {
  const u64 from = image_header().thread_offset + offset;
  const s64 r = kernel(SYS_mmap, reinterpret_cast<u64>(at), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                       inherited(channel::inherited_image), from);
  if (!failed(r)) keep_from_core(reinterpret_cast<u64>(at), bytes);
  return !failed(r);
}

bool has_recent_table() { return settings().follows_calls != 0 || settings().counts_jumps != 0; }

/// Maps what follows the counters: the jump table of steps, or the table of recent calls or jumps.
bool map_after_counters(Thread* t) {
  u64* const at = steps_table(t);
  constexpr u64 bytes = jump_table_entries * 8;
  if (own_records.counts_down) return map_of_image(at, bytes, jump_table_at);
  return !has_recent_table() || !failed(kernel(SYS_mprotect, reinterpret_cast<u64>(at), bytes, PROT_READ | PROT_WRITE));
}

/// A block consists of two mappings, because a process may have many threads and few mappings: its own memory, and the
/// counters. Empty entries of jump tables lead into the engine: pages of the image, written where targets are known.
Thread* make_block() {
  const bool may_count_down = windows_on() || settings().pmu.any();
  const u64 bytes = may_count_down || has_recent_table() ? thread_bytes : u64{steps_table_at};
  Thread* t = reinterpret_cast<Thread*>(try_reserve(bytes, PROT_NONE));
  if (t == nullptr) return nullptr;
  if (!map_of_image(t, counters_at, 0) || !map_after_counters(t)) {
    unreserve(reinterpret_cast<u64>(t), bytes);
    return nullptr;
  }
  t->self = t;
  name_for_locks(*t);
  t->generation = cache_generation();
  t->stack = reinterpret_cast<u64>(t) + stack_at + stack_bytes;
  t->until_replaced =
      8 * 4096;  // some thousand searches cost less than the pages of a jump table, and each counts as 8
  for (u32 i = 0; i < 256; i++) t->popcount[i] = static_cast<u8>(bits_set(i));
  return t;
}

/// Assigns counters and a record to a block. `goes_on`: the block is that of the parent of a fork.
bool give_counters(Thread* t, u32 process, bool goes_on = false) {
  const u32 area = channel::take_area(own_records.shared, own_records.shared.header().free_counters);
  const u32 left = process != 0 ? left_thread_record(process) : 0;
  const bool again = left != 0 || takes_over(t, process);
  code_log_new_thread(t);
  const u32 index = left != 0 ? left : again ? t->index : new_thread_record(process);
  if (area == 0 || index == 0 || process == 0 || !map_counters(t, area)) return false;
  t->index = index;
  t->process = process;
  channel::Thread& record = own_records.shared.thread(index);
  record.area = area;
  record.left = record.in_call = 0;
  if (own_records.shared.process(process).thread == 0) own_records.shared.process(process).thread = index;
  if (again) {
    record.base = record.final;
    record.before++;
  }
  // The block of a thread that ended, or of a fork's parent, knows other counters.
  if (has_running_totals(t)) forget_totals(t);
  countdowns_attach(t);
  exact_sums_attach(t);
  pmu_counters_attach(t);
  if (!models_attach(t, goes_on) || (reads_running_totals() && !totals_attach(t)) || !marks_attach(t, goes_on) ||
      !running_cycles_attach(t, again) || !windows_attach(t) || !calls_attach(t, goes_on) || !python_attach(t, goes_on))
    return false;
  parts_attach(t, goes_on);
  set_state(record.state, State::running);
  return true;
}

/// Makes the counts of a stopped thread final, zeroes its counters and releases them.
void fold(Thread* t) {
  channel::Thread& record = own_records.shared.thread(t->index);
  if (record.state != State::running) return;
  (settings().models.on & channel::model_core) != 0 ? models_settle(t) : models_drain(t);  // for core_collect()
  countdowns_before_fold(t);
  windows_before_fold(t);
  u64* c = counters(t);
  channel::Totals totals = channel::sum(c, own_records.vectors, own_records.rows, own_records.segments);
  totals.add(record.base);
  record.final = totals;
  record.check = channel::check_of(record);
  set_state(record.state, State::ended);
  core_collect(t, own_records.segments);
  code_log_collect(t, c, own_records.segments);
  for (u32 i = 0; i < channel::source_count; i++)
    if (const u64 n = c[channel::first_source + i]; n != 0)
      __atomic_add_fetch(&own_records.shared.header().sources[i].count, n, __ATOMIC_RELAXED);
  for (u32 i = 0; i < own_records.segments; i++)
    if (c[i] != 0) c[i] = 0;
  if (has_running_totals(t)) forget_totals(t);
  windows_folded(t);
  countdowns_folded(t);
}

/// fold() for a thread that continues.
void collect_running(Thread* t) {
  channel::Thread& record = own_records.shared.thread(t->index);
  if (record.state != State::running) return;
  fold(t);  // from here to the end `final` is the valid count
  record.base = record.final;
  set_state(record.state, State::running);
}

/// Clears the counters of a killed thread for the next one: it may have counted them already without clearing them.
void clear_after_kill(Thread* t) {
  if (own_records.shared.thread(t->index).state == State::running || own_records.shared.thread(t->index).area == 0)
    return;
  u64* const c = counters(t);
  for (u32 i = 0; i < own_records.segments; i++)
    if (c[i] != 0) c[i] = 0;
}

/// fold() for a thread of which no code runs any more.
void end_counting(Thread* t) {
  if (own_records.shared.thread(t->index).state == State::running) {
    publish_clock(t);
    marks_end(t);
    parts_end(t);
    calls_settle(t);
    python_settle(t);
    // An execve may fail, and then the window continues. Otherwise the command closes it.
    if (process_record(t).end != channel::End::executed) windows_close(t);
  }
  fold(t);
}

/// The caller holds threads_lock.
void finish_departed_locked(Thread* t) {
  forget_requested_calls(t);
  if (process_record(t).end == channel::End::unknown) {
    mark_partial(t, channel::partial_killed);
    clear_after_kill(t);
  }
  keep_executions(t);
  end_counting(t);
  models_close(t);
  // It has left the list itself, or was killed at any instruction of doing so.
  if (is_linked(t)) unlink(t);
  set_state(process_record(t).state, State::ended);
  process_record(t).vectors = 0;  // those are the parent's
}

}  // namespace

Thread* first_thread(u32 first_fd) {
  set_inherited(first_fd);
  const s64 r = kernel(SYS_mmap, records_at, channel::records_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       inherited(channel::inherited_channel), 0);
  if (failed(r)) die("the channel cannot be mapped", static_cast<u64>(-r));
  keep_from_core(static_cast<u64>(r), channel::records_bytes);
  own_records.shared.base = reinterpret_cast<u8*>(r);
  const channel::Header& header = own_records.shared.header();
  if (header.magic != channel::magic || header.layout_version != channel::layout_version)
    die("a channel of another version", header.layout_version);
  take_settings();
  models_init();
  instrument_with_models();
  marks_init();
  windows_init();
  calls_init();
  jumps_init();
  python_init();
  parts_init();
  core_init();
  const u32 process = new_process_record(0);
  const u32 area = channel::take_area(own_records.shared, own_records.shared.header().free_vectors);
  Thread* t = make_block();
  if (process == 0 || t == nullptr || !vectors_init(area)) die("no room in the channel", process);
  channel::Process& p = own_records.shared.process(process);
  p.pid = static_cast<s32>(kernel(SYS_getpid));
  p.parent_pid = static_cast<s32>(kernel(SYS_getppid));
  p.vectors = area;
  p.segments = own_records.segments;
  own_records.process = process;
  if (!code_log_init(process)) die("no room for the log of code in the channel", process);
  windows_of_program(t);
  if (!give_counters(t, process)) die("no room in the channel", process);
  clock_begins(t, nullptr);
  t->tid = kernel(SYS_gettid);
  t->tgid = p.pid;
  own_records.shared.thread(t->index).tid = static_cast<s32>(t->tid);
  name_thread(t);
  set_state(p.state, State::running);
  __atomic_add_fetch(&own_records.shared.header().programs, 1, __ATOMIC_RELAXED);
  t->actions = reinterpret_cast<Actions*>(reserve(sizeof(Actions), PROT_READ | PROT_WRITE));
  link_in(t);
  return t;
}

void forget_first_thread() {
  if (own_records.live != nullptr) {
    set_state(own_records.shared.thread(own_records.live->index).state, State::free);
    set_state(process_record(own_records.live).state, State::free);
  }
  if (own_records.shared.base != nullptr) kernel(SYS_munmap, records_at, channel::records_bytes);
  unreserve_all();
}

Thread* new_thread(Thread* parent, bool of_its_own) {
  Guard guard(threads_lock);
  Thread* t = nullptr;
  for (Thread** p = &pool; *p != nullptr; p = &(*p)->next)
    if (__atomic_load_n(&(*p)->pooled, __ATOMIC_ACQUIRE) != 0) {
      t = *p;
      *p = t->next;
      break;
    }
  if (t == nullptr) t = make_block();
  if (t == nullptr) return nullptr;
  u32 process = parent->process;
  if (of_its_own) {
    process = new_process_record(parent->process);
    channel::Process& p = own_records.shared.process(process);
    p.vectors = vectors_area();
    p.segments = own_records.segments;
    p.parent_pid = process_record(parent).pid;
    copy(p.name, process_record(parent).name, sizeof p.name);
    p.state = State::running;
    code_log_shares(process);
  }
  const u64 stack = t->stack;
  for (u32 i = 0; i < 16; i++) t->gpr[i] = parent->gpr[i];
  t->flags = parent->flags;
  t->pc = parent->pc;
  t->link = no_link;
  t->pad = 0;
  t->mask = parent->mask;
  t->held = t->waits_for = t->queued = 0;
  t->restores_mask = t->forced_sigsegv = t->woken_in_vain = t->signal = t->stepping = t->traces_itself =
      t->vfork_child = t->pooled = 0;
  t->where = outside;  // until it starts
  t->first_descriptor = parent->first_descriptor;
  if (t->generation != cache_generation()) forget_jumps(t);
  t->alt = {0, 2, 0, 0};
  t->actions = parent->actions;
  t->stack = stack;
  t->tid = 0;
  t->tgid = parent->tgid;
  t->maker = parent->maker;
  t->maker_outside = parent->maker_outside;
  windows_inherit(t, parent);
  if (!give_counters(t, process)) {
    t->pooled = 1;
    t->next = pool;
    pool = t;
    return nullptr;
  }
  clock_begins(t, parent);
  link_in(t);
  return t;
}

void finish_thread(Thread* t) {
  forget_requested_calls(t);
  Guard guard(threads_lock);
  keep_executions(t);
  end_counting(t);
  models_close(t);
  unlink(t);
  if (t->vfork_child != 0) set_state(process_record(t).state, State::ended);
}

void finish_departed(Thread* t) {
  Guard guard(threads_lock);
  finish_departed_locked(t);
}

void release_counters(Thread* t) {
  channel::Thread& record = own_records.shared.thread(t->index);
  const u32 area = record.area;
  record.area = 0;  // first: a thread that is killed in between leaks the area instead of releasing it twice
  channel::release_area(own_records.shared, own_records.shared.header().free_counters, area);
}

void give_back(Thread* t) {
  Guard guard(threads_lock);
  t->next = pool;
  pool = t;
}

void finish_process(Thread* t) {
  {
    Guard guard(threads_lock);
    bool all = true;
    for (Thread* o = own_records.live; o != nullptr; o = o->next) {
      if (o->process != t->process) continue;
      if (o == t || __atomic_load_n(&o->where, __ATOMIC_SEQ_CST) != inside) {
        end_counting(o);
        // An execve may fail, and then the process continues.
        if (process_record(o).end != channel::End::executed) models_close(o);
      } else {
        all = false;
      }
    }
    // The command sums the threads that still run after the process has ended; it needs the vectors for that.
    if (all) set_state(process_record(t).state, State::ended);
  }
  core_finish(t);
}

bool map_steps() {
  Guard guard(threads_lock);
  const auto map_all = [](Thread* o) {
    while (o != nullptr && map_of_image(steps_table(o), jump_table_entries * 8, jump_table_at)) o = o->next;
    return o == nullptr;
  };
  return map_all(own_records.live) && map_all(pool);
}

void counts_to_records() {
  Guard guard(threads_lock);
  for (Thread *o = own_records.live, *next; o != nullptr; o = next) {
    next = o->next;
    if (o->where == killed) {
      finish_departed_locked(o);
      release_counters(o);
    }
    collect_running(o);
  }
  core_finish_locked(current());
  if (!code_log_restarts(own_records.segments)) return;
  translate::log_restarted();
  forget_executions();
  own_records.segments = channel::first_segment_of_code(own_records.settings);
  own_records.shared.process(own_records.process).segments = own_records.segments;
}

void finish_for_exec(Thread* t) {
  {
    Guard guard(threads_lock);
    end_counting(t);
    if (is_last_of(t->process)) set_state(process_record(t).state, State::ended);
  }
  core_finish(t);
}

void unmap_counters_of_others(const Thread* t) {
  Guard guard(threads_lock);
  for (Thread* o = own_records.live; o != nullptr; o = o->next)
    if (o != t && o->process == t->process) kernel(SYS_munmap, reinterpret_cast<u64>(counters(o)), counters_bytes);
}

void unmap_records() { kernel(SYS_munmap, records_at, channel::records_bytes); }

void unmap_block(Thread* t) { kernel(SYS_munmap, reinterpret_cast<u64>(t), counters_at); }

bool counting_has_ended(const Thread* t) {
  return __atomic_load_n(reinterpret_cast<u32*>(&own_records.shared.thread(t->index).state), __ATOMIC_ACQUIRE) ==
         static_cast<u32>(State::ended);
}

void release_areas(Thread* t) {
  channel::Process& p = process_record(t);
  if (p.state != State::ended || t->process != own_records.process) return;
  Guard guard(threads_lock);
  for (Thread* o = own_records.live; o != nullptr; o = o->next)
    if (o->process != t->process) return;  // a vfork child that outlives its parent still needs them
  for (Thread* o = own_records.live; o != nullptr; o = o->next) release_counters(o);
  channel::release_area(own_records.shared, own_records.shared.header().free_vectors, p.vectors);
  p.vectors = 0;
}

void reopen_process(Thread* t) {
  Guard guard(threads_lock);
  for (Thread* o = own_records.live; o != nullptr; o = o->next) {
    channel::Thread& record = own_records.shared.thread(o->index);
    if (o->process != t->process || record.state != State::ended) continue;
    record.base = record.final;
    set_state(record.state, State::running);
  }
  process_record(t).end = channel::End::unknown;
  set_state(process_record(t).state, State::running);
}

u32 before_fork(Thread* t) {
  publish_clock(t);
  models_drain(t);
  const u32 process = new_process_record(t->process);
  if (process == 0) return 0;
  // From here on the command sees a process that has not counted anything yet, instead of no process.
  channel::Process& p = own_records.shared.process(process);
  copy(p.name, process_record(t).name, sizeof p.name);
  set_state(p.state, State::running);
  models_before_fork(t, process);
  return process;
}

bool copy_vectors(u32 process) {
  const u32 area = channel::take_area(own_records.shared, own_records.shared.header().free_vectors);
  if (!vectors_copy(area) || !code_log_fork(process)) {
    channel::release_area(own_records.shared, own_records.shared.header().free_vectors, area);
    return false;
  }
  channel::Process& p = own_records.shared.process(process);
  p.vectors = area;
  p.segments = own_records.segments;
  return true;
}

void fork_failed(u32 process) {
  channel::Process& p = own_records.shared.process(process);
  vectors_copied();
  set_state(p.state, State::free);
  channel::release_area(own_records.shared, own_records.shared.header().free_vectors, p.vectors);
  p.vectors = 0;
}

void fork_done(u32 process, s32 pid) {
  vectors_copied();
  // Never overwrites the pid that the child has written itself: in a new pid namespace it is a different one.
  s32 none = 0;
  __atomic_compare_exchange_n(&own_records.shared.process(process).pid, &none, pid, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

bool after_fork(Thread* t, u32 process) {
  // The parent's counters are still mapped, but no program code runs before they are replaced.
  const u32 parent = t->process;
  channel::Process& p = own_records.shared.process(process);
  vectors_forked(p.vectors);
  p.pid = static_cast<s32>(kernel(SYS_getpid));
  p.parent_pid = static_cast<s32>(kernel(SYS_getppid));
  p.partial = own_records.shared.process(parent).partial & (channel::partial_undecoded | channel::partial_int80);
  own_records.process = process;
  models_after_fork();
  core_forget();
  code_log_forked();
  forget_executions();
  if (!give_counters(t, process, true)) return false;
  clock_after_fork(t);
  t->tid = kernel(SYS_gettid);
  t->tgid = p.pid;
  own_records.shared.thread(t->index).tid = static_cast<s32>(t->tid);
  name_thread(t);
  set_state(p.state, State::running);
  own_records.live = nullptr;
  own_records.threads = 0;
  link_in(t);
  t->vfork_child = 0;
  return true;
}

}  // namespace tally::engine::guest

void tally::engine::instrument::collect_counts(Thread* t) { guest::collect_running(t); }
