#include "tally/engine/guest/timer_signals.hpp"

#include "tally/engine/guest_thread.hpp"

namespace tally::engine::guest {
namespace {

/// struct siginfo of a timer's signal.
struct TimerInfo {
  s32 signal, error, code, pad;
  s32 timer, overruns;
};
constexpr s32 code_timer = -2;  // SI_TIMER
constexpr s32 taken_back = -1;  // replaces the timer's number

const TimerInfo& timer_info(const u8* info) { return *reinterpret_cast<const TimerInfo*>(info); }

/// The result of timer_getoverrun(2) for a timer.
struct Overruns {
  u32 used;
  s32 timer, last;
};
Overruns overruns[16];

/// Reads the first two numbers of the kernel's release.
void read_version(u32 (&version)[2]) {
  char names[6][65] = {};  // struct new_utsname; the third is the release
  kernel(SYS_uname, reinterpret_cast<u64>(names));
  for (u32 i = 0, k = 0; i < sizeof names[2] && k < 2; i++) {
    const char c = names[2][i];
    if (c >= '0' && c <= '9')
      version[k] = version[k] * 10 + static_cast<u32>(c - '0');
    else if (c == '.')
      k++;
    else
      break;
  }
}

}  // namespace

bool is_of_timer(const u8* info, u64 timer) {
  return timer_info(info).code == code_timer && static_cast<u32>(timer_info(info).timer) == static_cast<u32>(timer);
}

bool timers_take_signals_back() {
  constexpr u32 major = 6, minor = 13;
  static u32 version[2];
  if (version[0] == 0) read_version(version);
  return version[0] > major || (version[0] == major && version[1] >= minor);
}

void mark_taken_back(u8* info) { reinterpret_cast<TimerInfo*>(info)->timer = taken_back; }
bool is_taken_back(const u8* info) { return is_of_timer(info, static_cast<u64>(taken_back)); }

void add_overruns(u8* pending, const u8* info) {
  const TimerInfo& more = timer_info(info);
  if (more.code != code_timer || !is_of_timer(pending, static_cast<u64>(more.timer))) return;
  constexpr s64 most = 0x7fffffff;
  s32& sum = reinterpret_cast<TimerInfo*>(pending)->overruns;
  const s64 exact = s64{sum} + more.overruns + 1;
  sum = static_cast<s32>(exact < most ? exact : most);
}

void note_overruns(const u8* info) {
  const TimerInfo& of = timer_info(info);
  if (of.code != code_timer) return;
  Overruns* slot = nullptr;
  for (Overruns& entry : overruns) {
    if (entry.used != 0 && entry.timer == of.timer) slot = &entry;
    if (entry.used == 0 && slot == nullptr) slot = &entry;
  }
  if (slot != nullptr) *slot = {1, of.timer, of.overruns};
}

s64 last_overruns(u64 timer, s64 of_kernel) {
  for (const Overruns& entry : overruns)
    if (entry.used != 0 && static_cast<u32>(entry.timer) == static_cast<u32>(timer)) return entry.last;
  return of_kernel;
}

void forget_overruns(u64 timer) {
  for (Overruns& entry : overruns)
    if (static_cast<u32>(entry.timer) == static_cast<u32>(timer)) entry.used = 0;
}

void forget_all_overruns() {
  for (Overruns& entry : overruns) entry.used = 0;
}

}  // namespace tally::engine::guest
