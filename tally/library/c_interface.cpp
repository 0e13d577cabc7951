// Implements tally.h: one Counters for the process, and a list of open regions for each thread.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>

#include "tally/core/base/text.hpp"
#include "tally/library/c_interface.hpp"
#include "tally/library/region_output.hpp"
#include "tally/library/region_thread.hpp"
#include "tally/library/tally.h"

namespace tally::detail {
namespace {

constexpr int failed = -1;

// Two texts, each with a zero at its end: an error and its hint, or an event and the reason of its count.
thread_local std::string last_texts;

int fail_with(std::string why) { return detail::fail_with({Code::cannot_measure, std::move(why), ""}); }

// Why the counters of all C regions did not open.
std::atomic<const Error*> why_not_opened = nullptr;

// The counters of all C regions; null until this thread first uses them.
thread_local constinit Shared* known __attribute__((tls_model("initial-exec"))) = nullptr;

// Calls as a program does: the fence keeps the last call from becoming a jump.
[[gnu::noinline]] void empty(Counters&) {
  tally_literal_begin(TALLY_NOTHING);
  tally_literal_end(TALLY_NOTHING);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

[[gnu::noinline]] void around(Counters&) {
  tally_literal_begin(TALLY_AROUND_NOTHING);
  tally_literal_begin(TALLY_NOTHING);
  tally_literal_end(TALLY_NOTHING);
  tally_literal_end(TALLY_AROUND_NOTHING);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

[[gnu::noinline]] void around_named_begin(Counters&) {
  tally_literal_begin(TALLY_AROUND_NOTHING);
  tally_region_begin(TALLY_NOTHING);
  tally_literal_end(TALLY_NOTHING);
  tally_literal_end(TALLY_AROUND_NOTHING);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

[[gnu::noinline]] void around_named(Counters&) {
  tally_literal_begin(TALLY_AROUND_NOTHING);
  tally_region_begin(TALLY_NOTHING);
  tally_region_end(TALLY_NOTHING);
  tally_literal_end(TALLY_AROUND_NOTHING);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

[[gnu::noinline]] void around_new(Counters&, const char* place) {
  tally_literal_begin(TALLY_AROUND_NOTHING);
  tally_literal_begin(place);
  tally_literal_end(place);
  tally_literal_end(TALLY_AROUND_NOTHING);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Never closed: threads may be in regions until the program's last instruction.
Expected<Counters>* open_counters_for_marks() {
  auto* const opened = new Expected<Counters>(Counters::open());
  if (*opened) {
    known = &Access::shared(**opened);
    calibrate(**opened, {empty, around, around_named_begin, around_named, around_new});
  } else {
    why_not_opened = &opened->error();
  }
  return opened;
}

// The first thread opens the counters and the others wait. Returns null to a signal handler that interrupts the
// opening.
[[gnu::noinline]] Shared* ask_for_counters() {
  static thread_local bool opening = false;
  if (opening) return nullptr;
  opening = true;
  static const auto* const opened = open_counters_for_marks();
  opening = false;
  if (*opened) return known = &Access::shared(**opened);
  (void)detail::fail_with(opened->error());
  return nullptr;
}

}  // namespace

Shared* shared_of_marks() { return known != nullptr ? known : ask_for_counters(); }

namespace {

inline Thread* marking_thread() {
  Shared* const shared = shared_of_marks();
  return shared == nullptr ? nullptr : this_thread(*shared);
}

void add_marks(Thread& thread) {
  const Excluded excluded(thread, &Overhead::making, is_observed(thread));
  std::unique_ptr<MarkBlock> block(new (std::nothrow) MarkBlock);
  if (block == nullptr) return;
  Mark* below = thread.top;
  for (Mark& mark : block->marks) {
    mark.below = below;
    below = below->above = &mark;
  }
  block->next = std::exchange(thread.marks, nullptr);
  thread.marks = std::move(block);
}

// Returns the mark after the innermost one, for a begin to use. Null without memory.
Mark* next_mark(Thread& thread) {
  if (thread.top->above == nullptr) add_marks(thread);
  return thread.top->above;
}

Record& by_place(Thread& thread, const char* name) { return find_record(thread, Access::in_place(name)); }
Record& by_letters(Thread& thread, const char* name) { return find_record(thread, name); }

// One function for both kinds of names, so that the code after the read is the same.
TALLY_ONE_COPY int begin_mark(const char* name, Record& (*find)(Thread&, const char*)) {
  Thread* const thread = marking_thread();
  if (thread == nullptr) return failed;
  Mark* const mark = next_mark(*thread);
  if (mark == nullptr) return fail_with("out of memory for another region");
  Record& record = find(*thread, name);
  mark->name = name;
  thread->top = mark;
  enter(mark->open, *thread, record);
  return 0;
}

bool is_named(const Mark& mark, const char* name, bool is_literal) {
  const Record* const record = mark.open.record;
  // An entry without a record has no name to compare, so any name ends it.
  return (is_literal && mark.name == name) || record->text == name || record == &mark.open.thread->unnamed;
}

// Returns the innermost mark of this name; the one before the outermost if there is none. What the search costs after
// the counters were read is excluded from the regions around the innermost one: all start values move, and so must the
// values that were read.
Mark* find_mark(Thread& thread, const char* name, bool is_literal, Reached& reached) {
  const Open& open = thread.top->open;
  Numbers start;
  std::copy_n(open.start, thread.events, start.begin());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Otherwise a signal handler has moved start values since, and leave() drops the entry.
  const bool unmoved = reached.moves == thread.moves;
  Mark* mark = thread.top;
  {
    const bool has_outer = thread.innermost != nullptr && thread.innermost->outer != nullptr;
    const Excluded excluded(thread, &Overhead::ending, has_outer || thread.has_readings);
    while (mark != &thread.bottom && !is_named(*mark, name, is_literal)) mark = mark->below;
  }
  if (unmoved) reached.moves = thread.moves;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < thread.events; ++i) reached.now[i] += open.start[i] - start[i];
  return mark;
}

// Reads the counters first: the search for the region that ends is not counted.
TALLY_ONE_COPY int end_mark(const char* name, bool is_literal) {
  Thread* const thread = marking_thread();
  if (thread == nullptr) return failed;
  Reached reached;
  read_end(*thread, reached);
  const bool is_top = is_literal && thread->top->name == name;
  Mark* const mark = is_top ? thread->top : find_mark(*thread, name, is_literal, reached);
  if (mark == &thread->bottom) {
    return fail_with("no region with the name '" + printable(name) + "' is open in this thread");
  }
  for (Mark* inner = thread->top; inner != mark; inner = inner->below) drop(inner->open);
  leave(mark->open, reached);
  thread->top = mark->below;  // not before: a signal handler's region would use the mark while it is open
  return 0;
}

}  // namespace

TwoTexts keep_texts(const std::string& first, const std::string& second) {
  std::string texts = first.c_str();  // up to a zero within it
  const std::size_t at = texts.size() + 1;
  texts.append(1, '\0').append(second);
  last_texts = std::move(texts);
  return {last_texts.c_str(), last_texts.c_str() + at};
}

int fail_with(const Error& error) {
  (void)keep_texts(error.message, error.hint);
  return failed;
}

const Error* why_no_regions() { return why_not_opened; }

}  // namespace tally::detail

using tally::detail::begin_mark;
using tally::detail::end_mark;

// In parentheses, because the header defines macros of these names for clang.
int(tally_region_begin)(const char* name) { return begin_mark(name, tally::detail::by_letters); }

int(tally_literal_begin)(const char* literal) { return begin_mark(literal, tally::detail::by_place); }

int(tally_region_end)(const char* name) { return end_mark(name, false); }

int(tally_literal_end)(const char* literal) { return end_mark(literal, true); }

int tally_dump(const char* place) {
  const auto written = tally::detail::write_regions(place == nullptr ? "table" : place);
  return written ? 0 : tally::detail::fail_with(written.error());
}

const char* tally_error(void) { return tally::detail::last_texts.c_str(); }

const char* tally_hint(void) {
  const std::string& texts = tally::detail::last_texts;
  const std::size_t end = texts.find('\0');
  return end == std::string::npos ? "" : texts.c_str() + end + 1;
}
