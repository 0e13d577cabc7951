// Marks of other tools, as their headers write them, around code whose instructions are known. A section of n counts
// 2 n + 2 instructions between its two marks.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long Words[6];
enum { dump = 0x43540000, zero, toggle, dump_at, start, stop };

#define SEQUENCE "rol $3, %rdi; rol $13, %rdi; rol $61, %rdi; rol $51, %rdi; xchg %rbx, %rbx\n"

// request(words, otherwise): as VALGRIND_DO_CLIENT_REQUEST. section(n, first, second): a request, a loop, a request.
// middle(words): jumps into the sequence. read_lines(n, first, second, lines): a request, loads of n cache lines, a
// request. move_bytes(n, first, second, from, to): a request, a string instruction, a request.
__asm__(
    ".text\n.globl request, request_sequence, section, section_end, middle, read_lines, move_bytes\n"
    ".globl ssc, sniper, sniper_name, sniper_marker\n"
    "request: mov %rdi, %rax\n mov %rsi, %rdx\nrequest_sequence: " SEQUENCE
    " mov %rdx, %rax\n ret\n"
    "middle: mov %rdi, %rax\n xor %edx, %edx\n jmp request_sequence + 4\n"
    "section: mov %rsi, %rax\n mov %rdx, %rcx\n " SEQUENCE
    " mov %rdi, %rsi\n1: sub $1, %rsi\n jne 1b\n mov %rcx, %rax\n " SEQUENCE
    " ret\nsection_end:\n"
    "read_lines: mov %rsi, %rax\n mov %rcx, %rsi\n mov %rdx, %rcx\n " SEQUENCE
    "1: mov (%rsi), %r8\n add $64, %rsi\n sub $1, %rdi\n jne 1b\n mov %rcx, %rax\n " SEQUENCE
    " ret\n"
    "move_bytes: mov %rsi, %rax\n mov %rdx, %r9\n mov %rdi, %r10\n " SEQUENCE
    " mov %rcx, %rsi\n mov %r8, %rdi\n mov %r10, %rcx\n rep movsb\n mov %r9, %rax\n " SEQUENCE
    " ret\n"
    "ssc: push %rbx\n mov $0x111, %ebx\n .byte 0x64, 0x67, 0x90\n mov %rdi, %rsi\n1: sub $1, %rsi\n jne 1b\n"
    " mov $0x222, %ebx\n .byte 0x64, 0x67, 0x90\n pop %rbx\n ret\n"
    "sniper: push %rbx\n mov $1, %eax\n xchg %bx, %bx\n mov %rdi, %rsi\n1: sub $1, %rsi\n jne 1b\n"
    " mov $2, %eax\n xchg %bx, %bx\n pop %rbx\n ret\n"
    "sniper_name: push %rbx\n mov $13, %eax\n xor %ebx, %ebx\n mov %rdi, %rcx\n xchg %bx, %bx\n pop %rbx\n ret\n"
    "sniper_marker: push %rbx\n mov $4, %eax\n mov %rdi, %rbx\n mov %rsi, %rcx\n xchg %bx, %bx\n pop %rbx\n ret\n");
long request(const unsigned long* words, long otherwise);
void middle(const unsigned long* words);
void section(long n, const unsigned long* first, const unsigned long* second);
void read_lines(long n, const unsigned long* first, const unsigned long* second, const void* lines);
void move_bytes(long n, const unsigned long* first, const unsigned long* second, const void* from, void* to);
extern const char section_end[];
void ssc(long n);
void sniper(long n);
void sniper_name(const char* name);
void sniper_marker(unsigned long a, unsigned long b);

static const Words starts = {start}, stops = {stop}, toggles = {toggle}, zeroes = {zero}, dumps = {dump};

static void name(const char* text) {
  const Words words = {dump_at, (unsigned long)text};
  request(words, 0);
}

static void* toggled(void* unused) {
  section(1000, toggles, toggles);
  return unused;
}

static void* busy(void* unused) {
  section(100000, zeroes + 1, zeroes + 1);  // request 0 has no meaning
  return unused;
}

static void in_threads(void* (*run)(void*)) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, run, NULL);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

static void with_sections(const unsigned long* first, const unsigned long* second) {
  section(1000, first, second);
  name("first");
  section(500, first, second);
  section(500, first, second);
  name("second");
  section(20, first, second);
  request(zeroes, 0);
  section(30, first, second);
  request(dumps, 0);
  section(10, first, second);
}

static char lines[4096][64] __attribute__((aligned(64)));

/// Reads cache lines that were not read before, then some again.
static void read_new_lines(void) {
  request(starts, 0);
  read_lines(300, stops, starts, lines[3000]);
  read_lines(5, zeroes + 1, zeroes + 1, lines[2000]);
  request(stops, 0);
  request(zeroes, 0);
  read_lines(100, starts, stops, lines[0]);
  name("new");
  read_lines(20, starts, stops, lines[100]);
  read_lines(30, starts, stops, lines[120]);
  name("new twice");
  move_bytes(64, starts, stops, lines[0], lines[1]);
  name("moved");
  read_lines(150, starts, stops, lines[0]);
}

static void* read_toggled(void* first) {
  read_lines(100, toggles, toggles, first);
  return NULL;
}

static void read_in_threads(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, read_toggled, lines[1000 * i]);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  name("threads");
  if (fork() == 0) {
    read_lines(7, toggles, toggles, lines[2000]);
    _exit(0);
  }
  wait(NULL);
  read_lines(11, toggles, toggles, lines[3000]);
}

static void handle_by_section(int unused) {
  section(50, starts, stops);
  name("handler");
  (void)unused;
}

static volatile int ticks;
static void count_tick(int unused) {
  ticks++;
  (void)unused;
}

static void interrupted(void) {
  signal(SIGUSR1, handle_by_section);
  raise(SIGUSR1);
  signal(SIGALRM, count_tick);
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 2000 || ticks < 20; i++) {
    section(200, starts, stops);
    name("interrupted");
  }
  setitimer(ITIMER_REAL, &never, NULL);
}

static void generated(void) {
  const size_t bytes = (size_t)(section_end - (const char*)section);
  char* const code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, (const void*)section, bytes);
  void (*const run)(long, const unsigned long*, const unsigned long*) =
      (void (*)(long, const unsigned long*, const unsigned long*))(void*)code;
  run(100, starts, stops);
  name("as copied");
  // After two moves of three bytes: another rotation is no mark.
  code[6 + 3] = 4;
  run(100, starts, stops);
  code[6 + 3] = 3;
  run(200, starts, stops);
  name("as before");
}

static void forked(void) {
  const pid_t child = fork();
  section(child == 0 ? 300 : 200, starts, stops);
  name(child == 0 ? "child" : "parent");
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "instrumentation") == 0) with_sections(starts, stops);
  if (strcmp(what, "collection") == 0) with_sections(toggles, toggles);
  if (strcmp(what, "misses") == 0) read_new_lines();
  if (strcmp(what, "misses of threads") == 0) read_in_threads();
  if (strcmp(what, "answers") == 0) {
    const Words running = {0x1001};
    printf("%ld %ld\n", request(running, 0), request(running, 7));
  }
  if (strcmp(what, "threads") == 0) {
    in_threads(toggled);
    name("toggled");
    request(toggles, 0);
    in_threads(busy);
    name("main");
  }
  if (strcmp(what, "all threads") == 0) {
    request(starts, 0);
    in_threads(busy);
    request(stops, 0);
    name("busy");
  }
  if (strcmp(what, "fork") == 0) forked();
  if (strcmp(what, "signals") == 0) interrupted();
  if (strcmp(what, "middle") == 0) {
    middle(starts);
    section(10, toggles, toggles);
    name("middle");
  }
  if (strcmp(what, "generated") == 0) generated();
  if (strcmp(what, "ssc") == 0) ssc(100);
  if (strcmp(what, "sniper") == 0) {
    sniper(100);
    sniper_name("named");
    sniper(10);
    sniper_marker(3, -1ul);
    sniper(20);
  }
  if (strcmp(what, "start") == 0) {
    request(starts, 0);
    raise(SIGKILL);
  }
  return 0;
}
