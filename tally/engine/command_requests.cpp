#include "tally/engine/command_requests.hpp"

#include <sys/socket.h>

#include "tally/engine/inherited.hpp"

namespace tally::engine {

namespace {

/// A control message with one descriptor: the kernel's struct cmsghdr and its data.
struct SentFile {
  u64 bytes;
  s32 level, type;
  s32 fd;
  u32 reserved;
};

s64 send_to_command(const channel::Announcement& a, s64 file) {
  iovec part{const_cast<channel::Announcement*>(&a), sizeof a};
  SentFile sent{offsetof(SentFile, reserved), SOL_SOCKET, SCM_RIGHTS, static_cast<s32>(file), 0};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = &sent;
    message.msg_controllen = sizeof sent;
  }
  return kernel(SYS_sendmsg, inherited(channel::inherited_socket), reinterpret_cast<u64>(&message), MSG_NOSIGNAL);
}

}  // namespace

bool ask_command(Thread* t, channel::EngineRequest request, s64 file) {
  using channel::Answer;
  u32* word = &records().thread(t->index).answer;
  __atomic_store_n(word, static_cast<u32>(Answer::asked), __ATOMIC_RELEASE);
  const channel::Announcement a = {t->process,
                                   t->index,
                                   t->vfork_child == 0,
                                   static_cast<s32>(kernel(SYS_getpid)),
                                   static_cast<s32>(kernel(SYS_gettid)),
                                   request,
                                   static_cast<s32>(inherited(channel::inherited_channel))};
  s64 sent = 0;
  {
    Guard guard(threads_lock);  // the socket's number must not change meanwhile
    sent = send_to_command(a, file);
  }
  // Free the number: the program may need it.
  if (file >= 0) kernel(SYS_close, static_cast<u64>(file));
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
