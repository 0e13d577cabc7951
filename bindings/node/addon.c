// The part of the package that calls libtally. Its functions are for index.js, which checks the arguments.
#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>
#include <stdlib.h>
#include <tally/tally.h>

enum { most_events = 16, most_arguments = 2 };

// Returns the text of a string; the caller frees it. Null if there is no memory for it.
static char* copy_text(napi_env env, napi_value string) {
  size_t length = 0;
  napi_get_value_string_utf8(env, string, NULL, 0, &length);
  char* const text = malloc(length + 1);
  if (text == NULL)
    napi_throw_error(env, NULL, "tally: out of memory");
  else
    napi_get_value_string_utf8(env, string, text, length + 1, NULL);
  return text;
}

static napi_value make_string(napi_env env, const char* text) {
  napi_value made = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &made);
  return made;
}

static napi_value make_undefined(napi_env env) {
  napi_value made = NULL;
  napi_get_undefined(env, &made);
  return made;
}

static void read_arguments(napi_env env, napi_callback_info info, napi_value arguments[most_arguments]) {
  size_t count = most_arguments;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
}

// lastError(): [message, hint] of the thread's last failed call.
static napi_value last_error(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value texts = NULL;
  napi_create_array_with_length(env, 2, &texts);
  napi_set_element(env, texts, 0, make_string(env, tally_error()));
  napi_set_element(env, texts, 1, make_string(env, tally_hint()));
  return texts;
}

// Calls a function of libtally with a text. Returns whether it succeeded.
static napi_value call_with_text(napi_env env, napi_callback_info info, int (*function)(const char*)) {
  napi_value arguments[most_arguments], succeeded = NULL;
  read_arguments(env, info, arguments);
  char* const text = copy_text(env, arguments[0]);
  if (text == NULL) return NULL;
  napi_get_boolean(env, function(text) == 0, &succeeded);
  free(text);
  return succeeded;
}

// begin(name), end(name): return whether the region began, or ended.
static napi_value begin(napi_env env, napi_callback_info info) { return call_with_text(env, info, tally_region_begin); }
static napi_value end(napi_env env, napi_callback_info info) { return call_with_text(env, info, tally_region_end); }

// dump(file): writes the regions so far. Returns whether that succeeded.
static napi_value dump(napi_env env, napi_callback_info info) { return call_with_text(env, info, tally_dump); }

static void close_counters(napi_env env, void* counters, void* hint) {
  (void)env, (void)hint;
  tally_close(counters);
}

// open(events): counters for count(). Returns null if tally does not know the events.
static napi_value open_counters(napi_env env, napi_callback_info info) {
  napi_value arguments[most_arguments], opened = NULL;
  read_arguments(env, info, arguments);
  char* const events = copy_text(env, arguments[0]);
  if (events == NULL) return NULL;
  tally_counters* const counters = tally_open(events);
  free(events);
  if (counters == NULL)
    napi_get_null(env, &opened);
  else
    napi_create_external(env, counters, close_counters, NULL, &opened);
  return opened;
}

static void set(napi_env env, napi_value object, const char* name, napi_value value) {
  napi_set_named_property(env, object, name, value);
}

static napi_value make_count(napi_env env, const tally_count* count, long long value) {
  napi_value made = NULL, number = NULL;
  napi_create_object(env, &made);
  napi_create_int64(env, value, &number);
  set(env, made, "event", make_string(env, count->event));
  set(env, made, "value", number);
  set(env, made, "trust", make_string(env, count->trust));
  set(env, made, "unit", make_string(env, count->unit));
  set(env, made, "reason", make_string(env, count->reason));
  return made;
}

// count(counters, function): [what the function returns, count, count, ...]. An absent count has the value 0.
static napi_value count(napi_env env, napi_callback_info info) {
  napi_value arguments[most_arguments], returned = NULL, counts = NULL;
  read_arguments(env, info, arguments);
  const napi_value undefined = make_undefined(env);
  void* counters = NULL;
  napi_get_value_external(env, arguments[0], &counters);
  tally_count before[most_events], after[most_events];
  tally_read(counters, before, most_events);
  const bool has_returned = napi_call_function(env, undefined, arguments[1], 0, NULL, &returned) == napi_ok;
  const int events = tally_read(counters, after, most_events);
  if (!has_returned) return NULL;
  napi_create_array(env, &counts);
  napi_set_element(env, counts, 0, returned);
  for (int i = 0; i < events; ++i)
    napi_set_element(env, counts, (uint32_t)i + 1, make_count(env, &after[i], after[i].value - before[i].value));
  return counts;
}

static void add_function(napi_env env, napi_value exports, const char* name, napi_callback function) {
  napi_value made = NULL;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, function, NULL, &made);
  set(env, exports, name, made);
}

NAPI_MODULE_INIT() {
  add_function(env, exports, "lastError", last_error);
  add_function(env, exports, "begin", begin);
  add_function(env, exports, "end", end);
  add_function(env, exports, "dump", dump);
  add_function(env, exports, "open", open_counters);
  add_function(env, exports, "count", count);
  return exports;
}
