// Threads that share a mutex and a condition variable, each with storage of its own.
#include <pthread.h>

#include <cstdint>
#include <cstdio>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
int items = 0;
int taken = 0;
thread_local int mine = 0;

void* take(void*) {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    while (items == 0) pthread_cond_wait(&filled, &mutex);
    --items;
    ++taken;
    ++mine;
    pthread_mutex_unlock(&mutex);
  }
  return reinterpret_cast<void*>(static_cast<intptr_t>(mine));
}

}  // namespace

int main() {
  pthread_t threads[4];
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, nullptr, take, nullptr) != 0) return 1;
  }
  for (int i = 0; i < 4000; ++i) {
    pthread_mutex_lock(&mutex);
    ++items;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
  intptr_t sum = 0;
  for (pthread_t& thread : threads) {
    void* result = nullptr;
    pthread_join(thread, &result);
    sum += reinterpret_cast<intptr_t>(result);
  }
  std::printf("%d %d\n", taken, static_cast<int>(sum));
  return 0;
}
