// Functions with known counts, for the tests of `tally profile`. Arguments: what to do.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Eleven instructions, one of them a load and two of them stores.
__asm__(
    "        .globl eleven\n"
    "        .type eleven, @function\n"
    "eleven: movl %esi, -4(%rsp)\n"
    "        movl -4(%rsp), %eax\n"
    "        movl %eax, -8(%rsp)\n"
    "        nop; nop; nop; nop; nop; nop; nop\n"
    "        ret\n"
    "        .size eleven, . - eleven\n");
void eleven(void);

// A linkage table with one entry, whose pointer has a page of its own; and a function of three instructions.
__asm__(
    "        .globl three, linked, linked_pointer\n"
    "        .type linked, @function\n"
    "        .type three, @function\n"
    "three:  nop; nop; ret\n"
    "        .size three, . - three\n"
    "linked: jmp *linked_pointer(%rip)\n"
    "        .size linked, . - linked\n"
    "        .data\n"
    "        .balign 4096\n"
    "linked_pointer: .quad eleven\n"
    "        .balign 4096\n"
    "        .text\n");
void linked(void);
void three(void);
extern void (*linked_pointer)(void);

__attribute__((noinline)) static void call_linked(int n) {
  while (n-- > 0) linked();
}

static void allow(int protection) { mprotect(&linked_pointer, 4096, protection); }

__attribute__((noinline)) static void times(int n) {
  while (n-- > 0) eleven();
}

static void* thread(void* n) {
  times((int)(long)n);
  return NULL;
}

// Code that is generated here, and named as just-in-time compilers name theirs.
static void make_and_call(void) {
  char* code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, (const void*)eleven, 64);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx 40 made here\n", (unsigned long)code);
  fclose(map);
  for (int i = 0; i < 20; i++) ((void (*)(void))code)();
}

static jmp_buf back;

// Leaves ten calls of its own at once.
__attribute__((noinline)) static int deep(int n) {
  times(n);
  if (n == 10) longjmp(back, 1);
  return deep(n + 1) + 1;
}

int main(int argc, char** argv) {
  times(1000);
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    if (fork() == 0) {
      times(200);
      _exit(0);
    }
    wait(NULL);
  }
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    pthread_t one, other;
    pthread_create(&one, NULL, thread, (void*)30L);
    pthread_create(&other, NULL, thread, (void*)4L);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
  }
  if (argc > 1 && strcmp(argv[1], "jump") == 0) {
    if (setjmp(back) == 0) deep(1);
    times(50);
  }
  if (argc > 1 && strcmp(argv[1], "link") == 0) {
    allow(PROT_READ);
    call_linked(30);
    allow(PROT_READ | PROT_WRITE);
    linked_pointer = three;
    call_linked(5);
    allow(PROT_READ);
    call_linked(2);
  }
  if (argc > 1 && strcmp(argv[1], "make") == 0) make_and_call();
  if (argc > 1 && strcmp(argv[1], "time") == 0) {
    struct timespec now;
    for (int i = 0; i < 100; i++) clock_gettime(CLOCK_MONOTONIC, &now);
  }
  if (argc > 1 && strcmp(argv[1], "kill") == 0) kill(getpid(), SIGKILL);
  if (argc > 1 && strcmp(argv[1], "remove") == 0) unlink(argv[0]);
  return argc > 1 && strcmp(argv[1], "fail") == 0 ? 3 : 0;
}
