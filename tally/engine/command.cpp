#include "tally/engine/command.hpp"

#include "tally/engine/inherited.hpp"

namespace tally::engine {

bool ask_command(Thread* t, channel::Wish wish) {
  using channel::Answer;
  u32* word = &records().thread(t->index).answer;
  __atomic_store_n(word, static_cast<u32>(Answer::asked), __ATOMIC_RELEASE);
  const channel::Announcement a = {t->process,
                                   t->index,
                                   t->vfork_child == 0,
                                   static_cast<s32>(kernel(SYS_getpid)),
                                   static_cast<s32>(kernel(SYS_gettid)),
                                   wish,
                                   static_cast<s32>(inherited(channel::inherited_channel))};
  s64 sent = 0;
  {
    Guard guard(threads_lock);  // the socket's number stays what it is
    sent = kernel(SYS_sendto, inherited(channel::inherited_socket), reinterpret_cast<u64>(&a), sizeof a,
                  0x4000 /* MSG_NOSIGNAL */);
  }
  if (sent != sizeof a) return false;
  const u64 limit[2] = {10, 0};
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == static_cast<u32>(Answer::asked)) {
    const s64 r = kernel(SYS_futex, reinterpret_cast<u64>(word), 0, static_cast<u64>(Answer::asked),
                         reinterpret_cast<u64>(limit));
    if (r == -ETIMEDOUT) break;
  }
  return __atomic_load_n(word, __ATOMIC_ACQUIRE) == static_cast<u32>(Answer::granted);
}

}  // namespace tally::engine
