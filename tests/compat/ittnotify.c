// A program with a static part of ITT, reduced to what its loader does: it finds the library that the environment
// names, and passes its table of functions to __itt_api_init. Calls without a library return at once.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct domain {
  volatile int flags;
  const char* name;
  void* wide_name;
  int extra;
  void* more;
  struct domain* next;
} domain;
typedef struct string_handle {
  const char* text;
  void* wide_text;
  int extra;
  void* more;
  struct string_handle* next;
} string_handle;
typedef struct {
  unsigned long long a, b, c;
} id;

static domain* static_domain_create(const char* name);

static domain* (*domain_create)(const char*) = static_domain_create;
static void (*task_begin)(const domain*, id, id, string_handle*);
static void (*task_end)(const domain*);
static void (*region_begin)(const domain*, id, id, string_handle*);
static void (*region_end)(const domain*, id);
static void (*frame_begin_v3)(const domain*, id*);
static void (*frame_end_v3)(const domain*, id*);
static void (*resume)(void);
static void (*pause_collection)(void);
static void (*thread_set_name)(const char*);
static void (*sync_create)(void*, const char*, const char*, int);

struct function {
  const char* name;
  void** pointer;
  void* initial;
  void* fallback;
  int group;
};
#define FUNCTION(name, pointer, fallback) \
  { "__itt_" #name, (void**)(void*)&(pointer), NULL, (void*)(fallback), 1 }
static struct function functions[] = {FUNCTION(domain_create, domain_create, static_domain_create),
                                      FUNCTION(task_begin, task_begin, NULL),
                                      FUNCTION(task_end, task_end, NULL),
                                      FUNCTION(region_begin, region_begin, NULL),
                                      FUNCTION(region_end, region_end, NULL),
                                      FUNCTION(frame_begin_v3, frame_begin_v3, NULL),
                                      FUNCTION(frame_end_v3, frame_end_v3, NULL),
                                      FUNCTION(resume, resume, NULL),
                                      FUNCTION(pause, pause_collection, NULL),
                                      FUNCTION(thread_set_name, thread_set_name, NULL),
                                      FUNCTION(sync_create, sync_create, NULL),
                                      {NULL, NULL, NULL, NULL, 0}};

static struct {
  unsigned char magic[8];
  unsigned long major, minor, build;
  volatile long initialized, has_mutex, count;
  pthread_mutex_t mutex;
  void* collector;
  void* error_handler;
  const char** path;
  struct function* functions;
  void* lists[8];
} global = {{0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
            3,
            0,
            20180723,
            0,
            0,
            0,
            PTHREAD_MUTEX_INITIALIZER,
            NULL,
            NULL,
            NULL,
            functions,
            {NULL}};

static domain* static_domain_create(const char* name) {
  domain* const made = calloc(1, sizeof *made);
  made->flags = 1;
  made->name = strdup(name);
  return made;
}
static string_handle* string_handle_create(const char* text) {
  string_handle* const made = calloc(1, sizeof *made);
  made->text = strdup(text);
  return made;
}

static void initialize(void) {
  const char* const name = getenv("INTEL_LIBITTNOTIFY64");
  if (name == NULL) return;
  global.collector = dlopen(name, RTLD_LAZY);
  if (global.collector == NULL) fprintf(stderr, "%s\n", dlerror()), exit(1);
  void (*const init)(void*, int) = (void (*)(void*, int))dlsym(global.collector, "__itt_api_init");
  if (init != NULL) init(&global, 0x7fffffff);
  global.initialized = 1;
}

// 2 n + 1 instructions.
__attribute__((noinline, noipa)) static void work(long n) { __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n)); }

static const id none;
static domain* app;
static string_handle *parse, *inner;

static void task(string_handle* name, long n) {
  if (app->flags && task_begin) task_begin(app, none, none, name);
  work(n);
  if (app->flags && task_end) task_end(app);
}

static void* in_thread(void* unused) {
  if (thread_set_name) thread_set_name("a worker with a long name");
  task(parse, 7000);
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (thread_set_name) puts(name);
  return unused;
}

int main(void) {
  initialize();
  app = domain_create("app");
  parse = string_handle_create("parse");
  inner = string_handle_create("inner");
  if (sync_create) sync_create(&app, "lock", "a lock", 0);  // not implemented: has no address
  if (pause_collection) pause_collection();
  for (int i = 0; i < 3; i++) task(parse, 1000);
  if (resume) resume();
  work(2000);
  // A second resume has no effect.
  if (task_begin) task_begin(app, none, none, string_handle_create("kept"));
  if (resume) resume();
  work(100);
  if (task_end) task_end(app);
  if (pause_collection) pause_collection();
  if (task_begin) task_begin(app, none, none, parse);
  task(inner, 3000);
  task(inner, 4000);
  if (task_end) task_end(app);
  if (task_end) task_end(app);  // no task is open
  const id first = {1, 0, 0}, second = {2, 0, 0};
  if (region_begin) region_begin(app, first, none, string_handle_create("outer region"));
  if (region_begin) region_begin(app, second, none, string_handle_create("inner region"));
  work(500);
  if (region_end) region_end(app, second);
  work(600);
  if (region_end) region_end(app, first);
  for (int i = 0; i < 2; i++) {
    if (frame_begin_v3) frame_begin_v3(app, NULL);
    work(800);
    if (frame_end_v3) frame_end_v3(app, NULL);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}
