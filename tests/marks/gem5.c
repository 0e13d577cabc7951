// Operations of gem5, as its library has them, around code whose instructions are known. A section of n counts 2 n + 1
// instructions between its two operations.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define OPERATION(name, number) #name ": .byte 0x0f, 0x04\n .word " #number "\n ret\n"
#define BYTES(number) ".byte 0x0f, 0x04\n .word " #number "\n"

// section(id, n): work item `id` around a loop. statistics(n): a reset, a loop, a dump.
__asm__(
    ".text\n.globl m5_exit, m5_reset_stats, m5_dump_stats, m5_dump_reset_stats, m5_work_begin, m5_work_end, m5_unknown\n"
    ".globl section, section_end, statistics\n.type section, @function\n"  //
    OPERATION(m5_exit, 0x21) OPERATION(m5_reset_stats, 0x40) OPERATION(m5_dump_stats, 0x41)
        OPERATION(m5_dump_reset_stats, 0x42) OPERATION(m5_work_begin, 0x5a) OPERATION(m5_work_end, 0x5b)
            OPERATION(m5_unknown, 0x7b)                                                                //
    "section: " BYTES(0x5a) " mov %rsi, %rdx\n1: sub $1, %rdx\n jne 1b\n" BYTES(0x5b) " ret\nsection_end:\n"  //
    "statistics: mov %rdi, %rdx\n" BYTES(0x40) "1: sub $1, %rdx\n jne 1b\n nop\n" BYTES(0x41) " ret\n");
long m5_exit(unsigned long delay);
void m5_reset_stats(unsigned long delay, unsigned long period);
void m5_dump_stats(unsigned long delay, unsigned long period);
void m5_dump_reset_stats(unsigned long delay, unsigned long period);
void m5_work_begin(unsigned long id, unsigned long thread);
void m5_work_end(unsigned long id, unsigned long thread);
void m5_unknown(void);
void section(unsigned long id, unsigned long n);
void statistics(unsigned long n);
extern const char section_end[];
typedef void Section(unsigned long id, unsigned long n);

static pthread_barrier_t barrier;
static void* shares(void* unused) {
  m5_work_begin(5, 1);
  pthread_barrier_wait(&barrier);
  section(6, 1000);  // within item 5
  m5_work_end(5, 1);
  return unused;
}

static volatile int ticks;
static void count_tick(int unused) {
  ticks++;
  (void)unused;
}
static void handle_by_section(int unused) {
  section(8, 50);
  (void)unused;
}

static void interrupted(void) {
  signal(SIGUSR1, handle_by_section);
  raise(SIGUSR1);
  signal(SIGALRM, count_tick);
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 2000 || ticks < 20; i++) section(9, 20);
  setitimer(ITIMER_REAL, &never, NULL);
}

// The program handles illegal instructions itself: it reports each and continues after it.
static volatile int illegal;
static void skip_illegal(int unused, siginfo_t* info, void* context) {
  ucontext_t* const c = (ucontext_t*)context;
  if ((greg_t)info->si_addr == c->uc_mcontext.gregs[REG_RIP]) illegal++;
  c->uc_mcontext.gregs[REG_RIP] += 4;
  (void)unused;
}
static void handle_illegal(void) {
  const struct sigaction handler = {.sa_sigaction = skip_illegal, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &handler, NULL);
}

static char* code_page(void) {
  char* const pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  return pages;
}

// The mark becomes another one, an instruction, an unknown operation, and the mark again.
static void changes(void) {
  handle_illegal();
  char* const code = code_page();
  memcpy(code, (const void*)section, (size_t)(section_end - (const char*)section));
  Section* const run = (Section*)(void*)code;
  run(1, 100);
  const char nop[] = {0x0f, 0x1f, 0x40, 0x00};
  memcpy(code, nop, 4);
  run(1, 200);  // no work item begins
  memcpy(code, (const void*)section, 4);
  code[2] = 0x7b;
  run(1, 300);
  code[2] = 0x5a;
  run(1, 400);
  printf("%d\n", illegal);
}

static void fault(int signal, siginfo_t* info, void* context) {
  ucontext_t* const c = (ucontext_t*)context;
  printf("%s %lld\n", signal == SIGILL ? "illegal" : "fault", (long long)(c->uc_mcontext.gregs[REG_RIP] & 0xfff));
  fflush(stdout);
  _exit(0);
  (void)info;
}

// The last bytes of a mapping: the whole mark, or only its opcode.
static void at_end(size_t bytes) {
  static char stack[65536];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  const struct sigaction handler = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGILL, &handler, NULL);
  sigaction(SIGSEGV, &handler, NULL);
  char* const code = code_page();
  memcpy(code + 4096 - bytes, (const void*)m5_dump_stats, bytes);
  ((void (*)(unsigned long, unsigned long))(void*)(code + 4096 - bytes))(0, 0);
}

static void forked(void) {
  const pid_t child = fork();
  section(child == 0 ? 1 : 2, child == 0 ? 300 : 200);
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "work") == 0) {
    section(1, 100);
    section(2, 10);
    section(1, 300);
    section(-1ul, 20);
  }
  if (strcmp(what, "statistics") == 0) {
    statistics(100);
    m5_dump_reset_stats(0, 0);
    statistics(30);
  }
  if (strcmp(what, "shared") == 0) {
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, shares, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  }
  if (strcmp(what, "nested") == 0) {
    m5_work_begin(1, 0);
    section(2, 1000);
    section(2, 1000);
    m5_work_end(7, 0);  // has not begun
    m5_work_end(1, 0);
  }
  if (strcmp(what, "exit") == 0) {
    const long result = m5_exit(0);
    printf("%s\n", result == 0x21 ? "" : "continues");
  }
  if (strcmp(what, "unknown") == 0) {
    handle_illegal();
    m5_unknown();
    m5_work_begin(1, 0);
    m5_work_end(1, 0);
    printf("%d\n", illegal);
  }
  if (strcmp(what, "signals") == 0) interrupted();
  if (strcmp(what, "changes") == 0) changes();
  if (strcmp(what, "last four") == 0) at_end(4);
  if (strcmp(what, "last two") == 0) at_end(2);
  if (strcmp(what, "fork") == 0) forked();
  return 0;
}
