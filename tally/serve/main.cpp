// tally-serve: reads the machine once a second, and answers Prometheus. `tally serve` starts it, with options that it
// has checked: FOLDER ADDRESS MILLISECONDS GROUPS.
#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>

#include "tally/base/text.hpp"
#include "tally/base/version.hpp"
#include "tally/linux/live/beat.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/serve/series.hpp"
#include "tally/watch/watcher.hpp"

namespace tally::serve {
namespace {

constexpr int exit_cannot_measure = 125;

// What was read last; scrapes take it, however many there are.
class Latest final : public prometheus::Collectable {
 public:
  void set(std::vector<prometheus::MetricFamily> families) {
    auto fresh = std::make_shared<const std::vector<prometheus::MetricFamily>>(std::move(families));
    const std::lock_guard<std::mutex> lock(mutex_);
    families_ = std::move(fresh);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::shared_ptr<const std::vector<prometheus::MetricFamily>> families;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      families = families_;
    }
    return families ? *families : std::vector<prometheus::MetricFamily>{};
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<prometheus::MetricFamily>> families_;
};

int complain(const std::string& message, const std::string& hint = {}) {
  std::fputs(fmt::format("tally: {}\n{}", message, hint.empty() ? "" : "       " + hint + "\n").c_str(), stderr);
  return exit_cannot_measure;
}

// A client that is slow to ask or to take has two seconds and one of the threads; the others go on. What it asks may
// take a page. (civetweb's UserManual.md, "Configuration Options")
std::vector<std::string> server_options(const std::string& address) {
  return {"listening_ports",  address, "num_threads",       "32", "request_timeout_ms", "2000",
          "max_request_size", "8192",  "enable_keep_alive", "no", "linger_timeout_ms",  "100",
          "listen_backlog",   "128",   "connection_queue",  "128"};
}

struct Reader {
  watch::Watcher watcher;
  Energy energy;
  Own own;

  void read(Latest& latest) {
    const Nanoseconds begin = linux::now();
    (void)watcher.next();
    own.readings += 1;
    own.processor_seconds = static_cast<double>(watcher.reading().own_time.count()) / 1e9;
    latest.set(series_of(watcher.machine(), watcher.reading(), energy.add(watcher.machine(), watcher.reading()), own));
    own.reading_seconds += static_cast<double>((linux::now() - begin).count()) / 1e9;
  }
};

int serve(const std::string& root, const std::string& address, std::int64_t interval_ms, bool with_groups) {
  watch::Asked asked;
  asked.root = root;
  asked.shown.kinds = {result::WatchKind::system};
  if (with_groups) asked.shown.kinds.push_back(result::WatchKind::group);
  auto watcher = watch::Watcher::open(asked);
  if (!watcher) return complain(watcher.error().message, watcher.error().hint);
  // Before any thread: they inherit what is blocked.
  auto signals = linux::Signals::watch();
  if (!signals) return complain(signals.error().message, signals.error().hint);
  Reader reader{std::move(*watcher), {}, {}};
  reader.own.version = version();
  const auto latest = std::make_shared<Latest>();
  reader.read(*latest);

  std::unique_ptr<prometheus::Exposer> exposer;
  try {
    exposer = std::make_unique<prometheus::Exposer>(server_options(address));
  } catch (const std::exception& failure) {
    return complain(fmt::format("cannot listen on {}: {}", printable(address), printable(failure.what())),
                    "is the port taken? `tally serve --listen 127.0.0.1:0` takes any");
  }
  exposer->RegisterCollectable(latest);
  const auto ports = exposer->GetListeningPorts();
  const std::string host = address.substr(0, address.rfind(':'));
  std::printf("tally serves http://%s:%d/metrics\n", host.c_str(), ports.empty() ? 0 : ports.front());
  std::fflush(stdout);

  const auto interval = std::chrono::milliseconds(interval_ms);
  Nanoseconds due = reader.watcher.reading().time + interval;
  const int woken_by = signals->fd();
  for (;;) {
    if (linux::wait_until(due, {&woken_by, 1}) == linux::woken_by_time) {
      reader.read(*latest);
      due = std::max(due + interval, linux::now());
      continue;
    }
    signals->settle();
    if (signals->interrupted_by()) break;
  }
  exposer.reset();
  const int signal = *signals->interrupted_by();
  // A service is told to end by SIGTERM: that is no failure.
  if (signal != SIGTERM) linux::die_of(signal);
  return 0;
}

}  // namespace
}  // namespace tally::serve

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("tally-serve is started by `tally serve`\n", stderr);
    return 2;
  }
  const auto interval = tally::parse_integer(argv[3]);
  try {
    return tally::serve::serve(argv[1], argv[2], interval.value_or(1000), std::string_view(argv[4]) == "groups");
  } catch (const std::exception& failure) {
    return tally::serve::complain(failure.what());
  }
}
