// tally-serve: reads the machine once a second, and answers Prometheus. `tally serve` starts it with checked options:
// DIRECTORY ADDRESS MILLISECONDS GROUPS.
#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "programs/serve/metric_series.hpp"
#include "programs/serve/never_falling.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/linux/live/beat.hpp"
#include "tally/linux/live/http_server.hpp"
#include "tally/linux/process/capabilities.hpp"
#include "tally/linux/process/large_stack.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/output/kit/gzip.hpp"
#include "tally/tools/watch/watcher.hpp"

namespace tally::serve {
namespace {

constexpr int exit_cannot_measure = 125;

// The last reading as text, shared by all scrapes.
class LatestReading {
 public:
  void set(const std::vector<prometheus::MetricFamily>& families) {
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, families);
    const std::lock_guard<std::mutex> lock(mutex_);
    text_ = std::move(text).str();
  }

  // The last reading, with the server's own counters.
  linux::HttpAnswer answer_scrape(bool accepts_gzip) {
    std::string text;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      text = text_;
    }
    text += fmt::format(
        "# HELP exposer_scrapes_total Scrapes that were answered.\n# TYPE exposer_scrapes_total counter\n"
        "exposer_scrapes_total {}\n# HELP exposer_transferred_bytes_total Bytes of the answers.\n"
        "# TYPE exposer_transferred_bytes_total counter\nexposer_transferred_bytes_total {}\n",
        scrapes_, bytes_);
    if (accepts_gzip) text = output::gzipped(text);
    ++scrapes_;
    bytes_ += text.size();
    return {200, "text/plain; version=0.0.4; charset=utf-8", std::make_shared<const std::string>(std::move(text)),
            accepts_gzip};
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::uint64_t scrapes_ = 0, bytes_ = 0;  // used by the server's thread only
};

linux::HttpAnswer text_answer(int status, std::string text, std::string type = "text/plain; charset=utf-8") {
  return {status, std::move(type), std::make_shared<const std::string>(std::move(text)), false};
}

linux::HttpAnswer answer(LatestReading& latest, const linux::HttpRequest& request) {
  if (request.path == "/metrics") return latest.answer_scrape(request.accepts_gzip);
  if (request.path == "/health") return text_answer(200, "ok\n");
  if (request.path == "/") {
    return text_answer(200,
                       "<!doctype html><title>tally</title><p>tally serves <a href=\"/metrics\">/metrics</a> for "
                       "Prometheus, and <a href=\"/health\">/health</a>.\n",
                       "text/html; charset=utf-8");
  }
  return text_answer(404, "not found: the metrics are at /metrics\n");
}

int report_error(const std::string& message, const std::string& hint = {}) {
  std::fputs(fmt::format("tally: {}\n{}", message, hint.empty() ? "" : "       " + hint + "\n").c_str(), stderr);
  return exit_cannot_measure;
}

// Answers in a thread of its own, because reading many control groups takes time.
class ServerThread {
 public:
  ServerThread(linux::HttpServer& server, LatestReading& latest)
      : server_(server), thread_([&server, &latest] {
          server.serve([&latest](const linux::HttpRequest& request) { return answer(latest, request); });
        }) {}
  ~ServerThread() {
    server_.stop();
    thread_.join();
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

 private:
  linux::HttpServer& server_;
  std::thread thread_;
};

struct Reader {
  watch::Watcher watcher;
  Energy energy;
  NeverFalling counters;
  ExporterStats own;

  void read(LatestReading& latest) {
    const Nanoseconds begin = linux::now();
    (void)watcher.next();
    own.readings += 1;
    own.processor_seconds = static_cast<double>(watcher.reading().own_time.count()) / 1e9;
    auto families =
        series_of(watcher.machine(), watcher.reading(), energy.add(watcher.machine(), watcher.reading()), own);
    counters.apply(families);
    latest.set(families);
    own.reading_seconds += static_cast<double>((linux::now() - begin).count()) / 1e9;
  }
};

int serve(const std::string& root, const std::string& address, std::int64_t interval_ms, bool with_groups) {
  watch::WatchRequest asked;
  asked.root = root;
  asked.shown.kinds = {result::WatchKind::system};
  if (with_groups) asked.shown.kinds.push_back(result::WatchKind::group);
  auto watcher = watch::Watcher::open(asked);
  if (!watcher) return report_error(watcher.error().message, watcher.error().hint);
  // Before any thread starts, because threads inherit blocked signals.
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error().message, signals.error().hint);
  Reader reader{std::move(*watcher), {}, NeverFalling(), {}};
  reader.own.version = version();
  LatestReading latest;
  reader.read(latest);

  auto server = linux::HttpServer::listen(address);
  if (!server) {
    return report_error(server.error().message,
                        server.error().os_errno == EADDRINUSE
                            ? "another program uses the port; `--listen 127.0.0.1:0` uses any free port"
                            : "");
  }
  // Everything that needs more privileges is open now; the network thread keeps only CAP_PERFMON.
  if (const auto kept = linux::keep_only_perfmon(); !kept) return report_error(kept.error().message);
  const std::string host = address.substr(0, address.rfind(':'));
  std::printf("tally serves http://%s:%d/metrics\n", host.c_str(), server->port());
  std::fflush(stdout);

  auto serving = std::make_unique<ServerThread>(*server, latest);
  const auto interval = std::chrono::milliseconds(interval_ms);
  Nanoseconds due = reader.watcher.reading().time + interval;
  const int wake_descriptor = signals->fd();
  for (;;) {
    if (linux::wait_until(due, {&wake_descriptor, 1}) == linux::woken_by_time) {
      reader.read(latest);
      due = std::max(due + interval, linux::now());
      continue;
    }
    signals->settle();
    if (signals->interrupted_by()) break;
  }
  serving.reset();
  const int signal = *signals->interrupted_by();
  // SIGTERM is the usual way to stop a service, so it is no failure.
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
  return tally::linux::on_large_stack([&] {
    try {
      return tally::serve::serve(argv[1], argv[2], interval.value_or(1000), std::string_view(argv[4]) == "groups");
    } catch (const std::exception& failure) {
      return tally::serve::report_error(failure.what());
    }
  });
}
