/* The C interface of libtally, for C and languages that can call it: a program counts events in parts of itself.
 *
 *     tally_region_begin("parse");
 *     parse(input);
 *     tally_region_end("parse");
 *     tally_dump("table");
 *
 * The environment selects the events: TALLY_EVENTS=instructions,branches; by default instructions and cycles. With
 * TALLY_OUTPUT=table, FILE.json or FILE.csv, the regions are printed or written when the program ends, without
 * tally_dump(). The first call of any thread opens the counters. See docs/guides/regions.md.
 *
 * Each thread has its own regions. All threads may call all functions. */
#ifndef TALLY_H
#define TALLY_H

/* Called directly: the dynamic linker would resolve the name at the first call, and that would be counted. */
#ifdef __clang__
#define TALLY_C_API __attribute__((visibility("default")))
#else
#define TALLY_C_API __attribute__((visibility("default"), noplt))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Begins a region of the calling thread. Compares the characters of the name, and copies it at the first entry.
 * Regions can be nested and recursive. Returns 0, or -1 if nothing can be counted: see tally_error(). */
TALLY_C_API int tally_region_begin(const char* name);

/** Ends the innermost open region of this name. Open regions within it are dropped: they are not counted, and
 * reported as dropped. Returns 0, or -1 if no region of this name is open. */
TALLY_C_API int tally_region_end(const char* name);

/** Writes the counts so far of all regions of the process, including those of C++. `place`: "table" for standard
 * error, or a file whose name ends with .json or .csv; %p in it becomes the process ID. Returns 0, or -1 if it cannot
 * be written: see tally_error(). */
TALLY_C_API int tally_dump(const char* place);

/** Returns why the calling thread's last failed call returned -1; "" if none did. Valid until its next call. */
TALLY_C_API const char* tally_error(void);

/** Returns what to do about the failure that tally_error() reports; "" if nothing is known. */
TALLY_C_API const char* tally_hint(void);

/** A count of an event. `value` is 0 where there is no number: `trust` is then "absent" and `reason` says why. `event`
 * is the full name ("instructions:u"), `unit` is "events", "ns" or "bytes", and `trust` a word of the reference:
 * "exact", "counted", "modelled", "partial", "absent". `reason` is "" if the count is complete. The texts of
 * tally_read() are valid until the counters are closed, others until the calling thread's next call. */
typedef struct tally_count {
  long long value;
  const char* event;
  const char* unit;
  const char* trust;
  const char* reason;
} tally_count;

/** Counters for tally_read(). */
typedef struct tally_counters tally_counters;

/** Opens counters for events, separated by commas. For NULL or "", chooses them as the first region does: TALLY_EVENTS,
 * else those of the `tally stat` that runs the program, else instructions and cycles. Returns NULL for an unknown event
 * or too many of them: see tally_error(). If the events cannot be counted here, the counters open, and every count is
 * absent, with the reason. */
TALLY_C_API tally_counters* tally_open(const char* events);

/** Closes counters. No thread may be using them. */
TALLY_C_API void tally_close(tally_counters* counters);

/** Writes what the calling thread has counted since its first reading, without this library's own work: the difference
 * of two readings is what the program counted in between. Writes at most `room` counts, in the order of the events.
 * Returns the number of events, at most 16, but no more than `room`, or than 8 if `room` is smaller. */
TALLY_C_API int tally_read(tally_counters* counters, tally_count* counts, int room);

/** A region's count of one event, over all threads: the sum over all ended entries, and the smallest and the largest
 * entry. */
typedef struct tally_region_count {
  tally_count total;
  long long entries;
  long long least;
  long long most;
} tally_region_count;

/** Writes a region's count of an event so far. The event's name may omit the mode. If nothing can be counted here, or
 * the event was not requested, the total is absent, with the reason. Returns 0, or -1 if no region of this name was
 * entered or there is no such event: see tally_error(). */
TALLY_C_API int tally_count_region(const char* region, const char* event, tally_region_count* count);

/** Writes the calling thread's counts of a region so far, of every event in the order in which they are counted, at
 * most `room`. A region that the thread has not entered has 0 entries. The texts are valid until the thread's next call
 * of this function. Returns the number of events as tally_read() does, or -1 if nothing can be counted: see
 * tally_error(). */
TALLY_C_API int tally_read_region(const char* region, tally_region_count* counts, int room);

/** A thread's counts of a region. `thread` is the kernel's thread ID, `openmp_thread` what omp_get_thread_num()
 * returned in its first region, or -1 without OpenMP. */
typedef struct tally_thread_region {
  const char* region;
  int thread;
  int openmp_thread;
  int events;
  const tally_region_count* counts;
} tally_thread_region;

/** Calls a function with the counts so far of each region in each thread that entered it, also in threads that have
 * ended: by region, in the order of first entries. What it gets is valid until it returns. Returns 0, or -1 if nothing
 * can be counted: see tally_error(). */
TALLY_C_API int tally_visit_regions(void (*visit)(const tally_thread_region* region, void* data), void* data);

/** Discards the calling thread's counts and entries of a region. Returns 0, or -1 while an entry is open. */
TALLY_C_API int tally_reset_region(const char* region);

/** The same as tally_region_begin() and tally_region_end() for a name that is a string literal: it is found by its
 * address, without reading its characters. The macros below call them. */
TALLY_C_API int tally_literal_begin(const char* literal);
TALLY_C_API int tally_literal_end(const char* literal);

#ifdef __clang__
/* clang has no noplt: these pointers are filled in when the program is loaded. A file that does not use one does not
 * have it, and needs no library. The annotation keeps clang from calling the function directly. */
#define TALLY_POINTER static __attribute__((unused, annotate("tally")))
TALLY_POINTER int (*tally_region_begin_pointer)(const char*) = tally_region_begin;
TALLY_POINTER int (*tally_region_end_pointer)(const char*) = tally_region_end;
TALLY_POINTER int (*tally_literal_begin_pointer)(const char*) = tally_literal_begin;
TALLY_POINTER int (*tally_literal_end_pointer)(const char*) = tally_literal_end;
#undef TALLY_POINTER
#define tally_region_begin(name) (tally_region_begin_pointer(name))
#define tally_region_end(name) (tally_region_end_pointer(name))
#define tally_literal_begin(name) (tally_literal_begin_pointer(name))
#define tally_literal_end(name) (tally_literal_end_pointer(name))
#endif

#ifdef __cplusplus
}
#endif

/** For regions that stay in the source: without TALLY_ENABLE the macros expand to nothing and need no library. Names
 * are string literals. */
#ifdef TALLY_ENABLE
#define TALLY_BEGIN(name) ((void)tally_literal_begin("" name))
#define TALLY_END(name) ((void)tally_literal_end("" name))
#define TALLY_DUMP(place) ((void)tally_dump(place))
#else
#define TALLY_BEGIN(name) ((void)0)
#define TALLY_END(name) ((void)0)
#define TALLY_DUMP(place) ((void)0)
#endif

#endif
