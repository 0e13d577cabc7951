// A collector for Intel's ITT: tasks, frames and regions become tally's regions. INTEL_LIBITTNOTIFY64 names it.
#include "bindings/compat/ittnotify/ittnotify.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/library/tally.h"

namespace tally::compat::itt {
namespace {

enum class Kind { task, frame, region, collection };

// What a thread has begun and not ended.
struct Open {
  Kind kind;
  const Domain* domain;
  Id id;
  std::string region;
};
// Null until the thread first begins something; never freed.
thread_local constinit std::vector<Open>* open_regions __attribute__((tls_model("initial-exec"))) = nullptr;

std::string region_name(const Domain* domain, const char* name) {
  std::string made = domain == nullptr || domain->name == nullptr ? "" : domain->name;
  return made.append(":").append(name == nullptr ? "" : name);
}

void begin(Kind kind, const Domain* domain, const Id& id, std::string region) {
  if (open_regions == nullptr) open_regions = new std::vector<Open>;
  open_regions->push_back({kind, domain, id, std::move(region)});
  (void)tally_region_begin(open_regions->back().region.c_str());
}

// Ends the innermost one of its kind and domain, and of its id if there is one. What is open within it is dropped.
void end(Kind kind, const Domain* domain, const Id* id) {
  if (open_regions == nullptr) return;
  const auto is_meant = [&](const Open& open) {
    return open.kind == kind && open.domain == domain &&
           (id == nullptr || std::memcmp(open.id.words, id->words, sizeof id->words) == 0);
  };
  const auto found = std::find_if(open_regions->rbegin(), open_regions->rend(), is_meant);
  if (found == open_regions->rend()) return;
  (void)tally_region_end(found->region.c_str());
  open_regions->erase(found.base() - 1, open_regions->end());
}

const char* text_of(const StringHandle* name) { return name == nullptr ? nullptr : name->text; }

void task_begin(const Domain* domain, Id id, Id /*parent*/, StringHandle* name) {
  begin(Kind::task, domain, id, region_name(domain, text_of(name)));
}
void task_begin_fn(const Domain* domain, Id id, Id /*parent*/, void* /*function*/) {
  begin(Kind::task, domain, id, region_name(domain, "task"));
}
void task_end(const Domain* domain) { end(Kind::task, domain, nullptr); }

void region_begin(const Domain* domain, Id id, Id /*parent*/, StringHandle* name) {
  begin(Kind::region, domain, id, region_name(domain, text_of(name)));
}
void region_end(const Domain* domain, Id id) { end(Kind::region, domain, &id); }

void frame_begin(const Domain* domain, Id* id) {
  begin(Kind::frame, domain, id == nullptr ? Id{} : *id, region_name(domain, "frame"));
}
void frame_end(const Domain* domain, Id* id) { end(Kind::frame, domain, id); }

void resume() {
  const auto is_collection = [](const Open& one) { return one.kind == Kind::collection; };
  const bool is_on = open_regions != nullptr && std::any_of(open_regions->begin(), open_regions->end(), is_collection);
  if (is_on) return;
  begin(Kind::collection, nullptr, {}, "collected");
}
void pause() { end(Kind::collection, nullptr, nullptr); }

void thread_set_name(const char* name) {
  if (name == nullptr) return;
  constexpr std::size_t longest = 15;
  (void)pthread_setname_np(pthread_self(), std::string(std::string_view(name).substr(0, longest)).c_str());
}

struct Implemented {
  std::string_view name;
  void* function;
};
template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

// The function of this name, or null.
void* find_function(std::string_view name) {
  static const Implemented all[] = {
      {"__itt_task_begin", address(task_begin)},
      {"__itt_task_begin_fn", address(task_begin_fn)},
      {"__itt_task_end", address(task_end)},
      {"__itt_region_begin", address(region_begin)},
      {"__itt_region_end", address(region_end)},
      {"__itt_frame_begin_v3", address(frame_begin)},
      {"__itt_frame_end_v3", address(frame_end)},
      {"__itt_resume", address(resume)},
      {"__itt_pause", address(pause)},
      {"__itt_thread_set_name", address(thread_set_name)},
  };
  for (const Implemented& one : all)
    if (one.name == name) return one.function;
  return nullptr;
}

// Older static parts have a table without fallbacks.
bool has_fallbacks(const Global& global) {
  constexpr unsigned char magic[] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};
  constexpr unsigned long last_without = 20101001;
  return std::memcmp(global.magic, magic, sizeof magic) == 0 && global.major >= 3 && global.build > last_without;
}

}  // namespace
}  // namespace tally::compat::itt

// Called once by each static part, which passes itself and the groups of functions that it may call. Afterwards each
// function is one of this file, or the static part's own, which calls nothing.
extern "C" void __itt_api_init(tally::compat::itt::Global* global, int /*groups*/) {
  using namespace tally::compat::itt;
  if (global == nullptr || !has_fallbacks(*global)) return;
  for (Function* one = global->functions; one != nullptr && one->name != nullptr; ++one) {
    void* const function = find_function(one->name);
    __atomic_store_n(one->pointer, function != nullptr ? function : one->fallback, __ATOMIC_RELEASE);
  }
}
