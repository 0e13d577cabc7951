/* PAPI's high-level calls over tally's regions, and its common low-level calls over tally's counters: programs that
 * call PAPI_hl_region_begin() or PAPI_start() are counted by tally.
 *
 *     cc -I PREFIX/include/tally/compat/papi prog.c -L PREFIX/lib/tally/compat -lpapi
 *     tally stat -e instructions,branches -- ./prog
 *
 * See docs/guides/from-papi.md. */
#ifndef PAPI_H
#define PAPI_H

#include "papiStdEventDefs.h"

/* Called directly: the dynamic linker would resolve the name at the first call, within a region. */
#if defined(__GNUC__) && !defined(__clang__)
#define TALLY_COMPAT_API __attribute__((noplt))
#else
#define TALLY_COMPAT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PAPI_OK 0
#define PAPI_EINVAL (-1)
#define PAPI_ENOMEM (-2)
#define PAPI_ESYS (-3)
#define PAPI_ECMP (-4)
#define PAPI_ECLOST (-5)
#define PAPI_EBUG (-6)
#define PAPI_ENOEVNT (-7)
#define PAPI_ECNFLCT (-8)
#define PAPI_ENOTRUN (-9)
#define PAPI_EISRUN (-10)
#define PAPI_ENOEVST (-11)
#define PAPI_ENOTPRESET (-12)
#define PAPI_ENOCNTR (-13)
#define PAPI_EMISC (-14)
#define PAPI_EPERM (-15)
#define PAPI_ENOINIT (-16)

#define PAPI_NULL (-1)
#define PAPI_MAX_STR_LEN 128
#define PAPI_PRESET_MASK ((int)0x80000000)
#define PAPI_NATIVE_MASK ((int)0x40000000)

#define PAPI_VERSION_NUMBER(major, minor, revision, increment) \
  ((major) << 24 | (minor) << 16 | (revision) << 8 | (increment))
#define PAPI_VER_CURRENT 0x07000000

/** Begin and end a region of the calling thread. Return PAPI_OK; PAPI_EMISC if nothing can be counted, or no region of
 * this name is open. */
TALLY_COMPAT_API int PAPI_hl_region_begin(const char* region);
TALLY_COMPAT_API int PAPI_hl_region_end(const char* region);

/** Begins a region within an open one, "NAME, after read N", that ends at the next read or at the end of NAME. Returns
 * as the others do. */
TALLY_COMPAT_API int PAPI_hl_read(const char* region);

/** Does nothing: regions count until the program ends. Returns PAPI_OK. */
TALLY_COMPAT_API int PAPI_hl_stop(void);

/** Returns `version`: the calls need no initialisation. */
TALLY_COMPAT_API int PAPI_library_init(int version);

/** Does nothing: every thread may have event sets. Returns PAPI_OK. */
TALLY_COMPAT_API int PAPI_thread_init(unsigned long (*thread_number)(void));

/** Closes all event sets. No thread may be using them. */
TALLY_COMPAT_API void PAPI_shutdown(void);

/** Returns what a code means: for PAPI_ENOEVNT and PAPI_EMISC the reason why the calling thread's last call failed. Do
 * not change the text; it is valid until the thread's next call. */
TALLY_COMPAT_API char* PAPI_strerror(int code);

/* Event sets, the low-level interface. A set counts the thread that starts it. It has its counters from the first event
 * to PAPI_cleanup_eventset(). All functions return PAPI_OK or a negative code. */

/** Writes the number of a new, empty set. PAPI_ENOMEM: there are 1024 sets. */
TALLY_COMPAT_API int PAPI_create_eventset(int* set);

/** Add an event: a preset, or the code or name of any event of tally. PAPI_ENOEVNT if it cannot be counted here or is
 * unknown, PAPI_ECNFLCT if it cannot be counted together with the events of the set, or is one of them. A set has at
 * most 8 events. */
TALLY_COMPAT_API int PAPI_add_event(int set, int code);
TALLY_COMPAT_API int PAPI_add_named_event(int set, const char* name);

/** Adds events. If one cannot be added, returns the number of events that were, or its error if it is the first. */
TALLY_COMPAT_API int PAPI_add_events(int set, int* codes, int number);

/** Return whether an event can be counted here: PAPI_OK or PAPI_ENOEVNT. */
TALLY_COMPAT_API int PAPI_query_event(int code);
TALLY_COMPAT_API int PAPI_query_named_event(const char* name);

/** Writes the code of an event that is known, whether or not it can be counted here. Other events than presets get
 * their codes at the first call. */
TALLY_COMPAT_API int PAPI_event_name_to_code(const char* name, int* code);

/** Writes the name of an event: at most PAPI_MAX_STR_LEN characters with the zero at the end. */
TALLY_COMPAT_API int PAPI_event_code_to_name(int code, char* name);

/** Returns the number of events of a set. */
TALLY_COMPAT_API int PAPI_num_events(int set);

/** Returns the largest number of events of a set, 8; 0 if instructions cannot be counted here. */
TALLY_COMPAT_API int PAPI_num_hwctrs(void);

/** Starts counting from zero in the calling thread. */
TALLY_COMPAT_API int PAPI_start(int set);

/** Writes the counts since the start or the last reset, in the order in which the events were added; of a set that does
 * not run, its counts when it stopped. PAPI_EINVAL in another thread than the one that started the set, PAPI_ECLOST if
 * counters were lost in between. */
TALLY_COMPAT_API int PAPI_read(int set, long long* counts);

/** Adds what PAPI_read() would write to the counts, and sets those of the set to zero. */
TALLY_COMPAT_API int PAPI_accum(int set, long long* counts);

/** Sets the counts of a set to zero. */
TALLY_COMPAT_API int PAPI_reset(int set);

/** Stops counting, and writes the counts as PAPI_read() does unless the pointer is null. */
TALLY_COMPAT_API int PAPI_stop(int set, long long* counts);

/** Removes all events of a set that does not run. */
TALLY_COMPAT_API int PAPI_cleanup_eventset(int set);

/** Removes an empty set; its number becomes PAPI_NULL. */
TALLY_COMPAT_API int PAPI_destroy_eventset(int* set);

/* Times since some moment of the past: of the system's clock, and of the time stamp counter (x86) or virtual counter
 * (Arm); and the CPU time of the calling thread. */
TALLY_COMPAT_API long long PAPI_get_real_usec(void);
TALLY_COMPAT_API long long PAPI_get_real_nsec(void);
TALLY_COMPAT_API long long PAPI_get_real_cyc(void);
TALLY_COMPAT_API long long PAPI_get_virt_usec(void);
TALLY_COMPAT_API long long PAPI_get_virt_nsec(void);

#ifdef __cplusplus
}
#endif

#endif
