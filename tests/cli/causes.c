// Programs that spend their cycles on one thing each, for causes_test.cpp: causes NAME. Each has a function of that
// name, and one line in it does it: the line that ends with a comment.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile unsigned long sink;

// Each address depends on the value before it, and is in a line that nothing has touched.
__attribute__((noinline)) static void chase(void) {
  const unsigned long bytes = 64ul << 20;
  const char* memory = mmap(0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  unsigned long at = 0;
  for (int i = 0; i < 20000; ++i) {
    at = (at + 50021 * 64) & (bytes - 1);
    at += *(const volatile unsigned long*)(memory + at);  // chase
  }
  sink = at;
}

static unsigned state = 1;
static unsigned next_random(void) { return state = state * 1664525 + 1013904223; }

__attribute__((noinline)) static void sort(int* data, long from, long to) {
  while (from < to) {
    const int middle = data[(from + to) / 2];
    long low = from, high = to;
    while (low <= high) {
      while (data[low] < middle) ++low;  // sort
      while (data[high] > middle) --high;
      if (low > high) break;
      const int kept = data[low];
      data[low++] = data[high];
      data[high--] = kept;
    }
    sort(data, from, high);
    from = low;
  }
}

__attribute__((noinline)) static void divide(void) {
  unsigned long value = ~0ul;
  for (int i = 0; i < 40000; ++i) {
    value = (value | 1ul << 62) / ((value & 7) + 3);  // divide
  }
  sink = value;
}

// Four chains, which the ports of shuffles cannot execute at the same time.
#define SHUFFLE " pshufb %%xmm8, %%xmm0\n pshufb %%xmm8, %%xmm1\n pshufb %%xmm8, %%xmm2\n pshufb %%xmm8, %%xmm3\n"
__attribute__((noinline)) static void shuffle(void) {
  for (int i = 0; i < 40000; ++i) {
    __asm__ volatile(SHUFFLE SHUFFLE SHUFFLE SHUFFLE ::: "xmm0", "xmm1", "xmm2", "xmm3");  // shuffle
  }
}

// More code than the first level of the instruction cache has, without a branch.
__attribute__((noinline)) static void fetch(void) {
  for (int i = 0; i < 40; ++i) {
    __asm__ volatile(".rept 20000\n movabs $1, %%rax\n .endr" ::: "rax");  // fetch
  }
}

__attribute__((noinline)) static void forward(void) {
  unsigned long value = 1;
  for (int i = 0; i < 100000; ++i) {
    __asm__ volatile("movb %b0, -64(%%rsp)\n movq -64(%%rsp), %0" : "+r"(value) : : "memory");  // forward
  }
  sink = value;
}

// Branches by random numbers in the first level; with `gathers`, independent loads of lines that nothing has touched in
// between, whose values decide no branch.
__attribute__((noinline)) static void classify(int gathers) {
  static int data[2048];
  const unsigned long bytes = 64ul << 20;
  const char* memory = mmap(0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  unsigned long sum = 0;
  for (unsigned round = 0; round < 20; ++round) {
    for (int i = 0; i < 2048; ++i) data[i] = (int)next_random();
    for (int i = 0; i < 2048; ++i)
      if (data[i] < 0)
        sink = sum;
      else
        sum = sink + 1;
    for (int i = 0; gathers != 0 && i < 2000; ++i) sum += (unsigned char)memory[next_random() % bytes];
  }
  sink = sum;
}

struct node {
  struct node* next;
  unsigned long value, rest[6];  // a line
};

// Walks over a list in random order, each of its own by what it does before it reads the pointer to the next node.
__attribute__((noinline)) static void walk(const char* before) {
  enum { nodes = 4096 };
  static struct node all[nodes] __attribute__((aligned(64)));
  static unsigned order[nodes];
  for (unsigned i = 0; i < nodes; ++i) order[i] = i;
  for (unsigned i = nodes - 1; i > 0; --i) {
    const unsigned other = (next_random() >> 8) % (i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (unsigned i = 0; i + 1 < nodes; ++i) all[order[i]].next = &all[order[i + 1]];
  struct node* const first = &all[order[0]];
  unsigned long sum = 0;
  for (unsigned long round = 0; round < 50; ++round) {
    if (strcmp(before, "walk-nothing") == 0) {
      for (struct node *node = first, *next; node != 0; node = next) {
        next = *(struct node* volatile*)&node->next;
        sum += node->value;
      }
    } else if (strcmp(before, "walk-load") == 0) {
      for (struct node* node = first; node != 0; node = node->next) sum += *(volatile unsigned long*)&node->value;
    } else if (strcmp(before, "walk-add") == 0) {
      for (struct node* node = first; node != 0; node = node->next) *(volatile unsigned long*)&node->value += 1;
    } else if (strcmp(before, "walk-ahead") == 0) {
      // As a walk that stops before the first node of another bucket: the pointer is copied after the load that misses.
      struct node* node = first;
      unsigned long kept;
      __asm__ volatile("1: mov (%0), %%rdi; test %%rdi, %%rdi; je 2f; mov 8(%%rdi), %1; mov %%rdi, %0; jmp 1b; 2:"
                       : "+r"(node), "=&r"(kept)
                       :
                       : "rdi", "cc", "memory");
    } else if (strcmp(before, "walk-store") == 0) {
      for (struct node* node = first; node != 0; node = node->next) *(volatile unsigned long*)&node->value = round;
    } else {
      for (struct node* volatile node = first; node != 0; node = node->next) sum += node->value;
    }
  }
  sink = sum;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "chase") == 0) chase();
  if (strcmp(name, "divide") == 0) divide();
  if (strncmp(name, "classify", 8) == 0) classify(name[8] != 0);
  if (strcmp(name, "shuffle") == 0) shuffle();
  if (strcmp(name, "fetch") == 0) fetch();
  if (strcmp(name, "forward") == 0) forward();
  if (strncmp(name, "walk-", 5) == 0) walk(name);
  if (strcmp(name, "sort") == 0) {
    static int data[20000];
    for (unsigned i = 0; i < sizeof data / sizeof *data; ++i) data[i] = (int)(next_random() >> 8);
    sort(data, 0, sizeof data / sizeof *data - 1);
  }
  return 0;
}
