/* tally's front door for C, and for every language that calls C: counts of parts of a program, by the program itself.
 *
 *     tally_region_begin("parse");
 *     parse(input);
 *     tally_region_end("parse");
 *     tally_dump("table");
 *
 * What is counted stands in the environment: TALLY_EVENTS=instructions,branches; instructions and cycles where it is
 * not set. With TALLY_OUTPUT=table, FILE.json or FILE.csv there, regions are told when the program ends, without
 * tally_dump(). Counters are opened by the first call of any thread. docs/guides/regions.md tells more.
 *
 * Threads: each has regions of its own; all functions may be called by all. */
#ifndef TALLY_H
#define TALLY_H

/* Called without a detour: what looks up a name at a first call would be counted. */
#ifdef __clang__
#define TALLY_C_API __attribute__((visibility("default")))
#else
#define TALLY_C_API __attribute__((visibility("default"), noplt))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A region of the calling thread begins. Its name is looked up by its letters, and copied at the first entry. Regions
 * lie within each other and call themselves. Returns 0, or -1 where nothing can be counted: tally_error() says why. */
TALLY_C_API int tally_region_begin(const char* name);

/** The innermost open region of this name ends. Those that were begun within it and not ended are dropped: not counted,
 * and told. Returns 0, or -1 where none of this name is open. */
TALLY_C_API int tally_region_end(const char* name);

/** Writes what all regions of the process, those of C++ too, have counted so far. `place`: "table" for standard error,
 * or a file whose name ends with .json or .csv; %p in it is the number of the process. Returns 0, or -1 where it cannot
 * be written: tally_error() says why. */
TALLY_C_API int tally_dump(const char* place);

/** Why the calling thread's last call returned -1; "" where none did. Valid until its next call. */
TALLY_C_API const char* tally_error(void);

/** The same as tally_region_begin() and _end() for a name that stands in the program's text: it is looked up by its
 * place, without a look at its letters. The macros below call them. */
TALLY_C_API int tally_literal_begin(const char* literal);
TALLY_C_API int tally_literal_end(const char* literal);

#ifdef __clang__
/* It has no noplt: these pointers are filled in when the program is loaded. Weak, so that every file may have them. */
#define TALLY_POINTER __attribute__((weak, visibility("hidden")))
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

/** For marks that stay in the source: they are nothing at all where TALLY_ENABLE is not defined, and then need no
 * library. Names are literals. */
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
