#include "tally/counting/backend/perf/count/attached.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tally/linux/process/process_watch.hpp"

namespace tally::backend::perf {
namespace {

constexpr std::size_t pages = 256;

// Touches `pages` new pages.
void touch_pages() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, pages * page);
}

// Threads that start after the counters of their creator were to be opened. They touch pages when finish() wakes them.
class Latecomers {
 public:
  Latecomers() = default;
  Latecomers(const Latecomers&) = delete;
  Latecomers& operator=(const Latecomers&) = delete;
  ~Latecomers() { finish(); }

  void begin() {
    threads_.emplace_back([this] {
      std::unique_lock lock(mutex_);
      wake_up_.wait(lock, [this] { return is_awake_; });
      touch_pages();
    });
  }
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      is_awake_ = true;
    }
    wake_up_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_up_;
  bool is_awake_ = false;
  std::vector<std::thread> threads_;
};

class Attaching : public testing::Test {
 protected:
  void SetUp() override {
    Counters tried = counters_.another();
    tried.open({});
    if (tried.first_errno() != 0) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  }
  Counters counters_{*event::parse_lists({"{page-faults,task-clock}"}), {}};
  std::vector<AttachedThread> members_;
  Latecomers latecomers_;
};

// Three times a thread starts between the listing and the opening of the first counter.
TEST_F(Attaching, threads_that_start_in_the_meantime_are_counted_once) {
  int listed = 0;
  const auto now = [&] {
    std::vector<pid_t> threads = linux::threads_of(getpid());
    if (++listed <= 3) latecomers_.begin();
    return threads;
  };
  EXPECT_EQ(open_threads(now, counters_, members_), 0u);
  EXPECT_EQ(members_.size(), 4u);
  EXPECT_EQ(counters_.targets(), 4u);
  counters_.enable();
  latecomers_.finish();
  const Count faults = counters_.read()[0];
  EXPECT_EQ(faults.trust, Trust::counted) << faults.reason;
  EXPECT_GE(*faults.value, static_cast<std::int64_t>(3 * pages));
  EXPECT_LT(*faults.value, static_cast<std::int64_t>(4 * pages)) << "one of them twice";
}

TEST_F(Attaching, if_threads_start_continuously_some_may_be_missing) {
  std::vector<pid_t> listed = linux::threads_of(getpid());
  const auto now = [&] {
    listed.push_back(2147483600 + static_cast<pid_t>(listed.size()));
    return listed;
  };
  EXPECT_EQ(open_threads(now, counters_, members_), 1u);
  counters_.doubt("a thread may be missing");
  counters_.enable();
  touch_pages();
  const Count faults = counters_.read()[0];
  EXPECT_EQ(faults.trust, Trust::partial);
  EXPECT_EQ(faults.reason, "a thread may be missing");
  EXPECT_GE(*faults.value, static_cast<std::int64_t>(pages));
}

TEST_F(Attaching, earlier_targets_stay) {
  counters_.open({});
  members_.resize(1);
  int listed = 0;
  const auto now = [&] {
    std::vector<pid_t> threads = linux::threads_of(getpid());
    if (++listed == 1) latecomers_.begin();
    return threads;
  };
  EXPECT_EQ(open_threads(now, counters_, members_), 0u);
  EXPECT_EQ(counters_.targets(), 3u);
  EXPECT_EQ(members_.size(), 3u);
  touch_pages();
  (void)counters_.read();
  EXPECT_GE(*counters_.of({0})[0].value, static_cast<std::int64_t>(pages));
}

}  // namespace
}  // namespace tally::backend::perf
