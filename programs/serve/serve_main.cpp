// tally-serve: reads the machine once a second, and answers Prometheus.
#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "programs/linux/capabilities.hpp"
#include "programs/serve/http_server.hpp"
#include "programs/serve/metric_series.hpp"
#include "programs/serve/never_falling.hpp"
#include "programs/serve/process_sums.hpp"
#include "programs/serve/serve_arguments.hpp"
#include "programs/watch/live/beat.hpp"
#include "programs/watch/watcher.hpp"
#include "tally/core/base/version.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/output/kit/gzip.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::serve {
namespace {

using command::report_error;

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
  HttpAnswer answer_scrape(bool accepts_gzip) {
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

HttpAnswer text_answer(int status, std::string text, std::string type = "text/plain; charset=utf-8") {
  return {status, std::move(type), std::make_shared<const std::string>(std::move(text)), false};
}

HttpAnswer answer(LatestReading& latest, const HttpRequest& request) {
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

// Answers in a thread of its own, because reading many control groups takes time.
class ServerThread {
 public:
  ServerThread(HttpServer& server, LatestReading& latest)
      : server_(server), thread_([&server, &latest] {
          server.serve([&latest](const HttpRequest& request) { return answer(latest, request); });
        }) {}
  ~ServerThread() {
    server_.stop();
    thread_.join();
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

 private:
  HttpServer& server_;
  std::thread thread_;
};

struct Reader {
  watch::Watcher watcher;
  Energy energy;
  NeverFalling counters;
  ExporterStats own;
  std::string root;
  ProcessSums processes;

  void read(LatestReading& latest) {
    const Nanoseconds begin = linux::now();
    (void)watcher.next();
    own.readings += 1;
    own.processor_seconds = static_cast<double>(watcher.reading().own_time.count()) / 1e9;
    if (!processes.sums().empty()) {
      processes.add(watch::read_processes(root));
      own.hides_processes = watch::hides_processes(root);
    }
    auto families = series_of(watcher.machine(), watcher.reading(), energy.add(watcher.machine(), watcher.reading()),
                              own, processes);
    counters.apply(families);
    latest.set(families);
    own.reading_seconds += static_cast<double>((linux::now() - begin).count()) / 1e9;
  }
};

int serve(const ServeOptions& options, const std::string& address) {
  watch::WatchRequest asked;
  asked.root = options.root;
  asked.shown.kinds = {result::WatchKind::system};
  if (!options.no_groups) asked.shown.kinds.push_back(result::WatchKind::group);
  auto watcher = watch::Watcher::open(asked);
  if (!watcher) return report_error(watcher.error());
  // Before any thread starts, because threads inherit blocked signals.
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  Reader reader{std::move(*watcher), {}, NeverFalling(), {}, options.root, ProcessSums(options.processes)};
  reader.own.version = version();
  LatestReading latest;
  reader.read(latest);

  auto server = HttpServer::listen(address);
  if (!server) {
    Error error = server.error();
    if (error.os_errno == EADDRINUSE)
      error.hint = "another program uses the port; `--listen 127.0.0.1:0` uses any free port";
    return report_error(error);
  }
  // Everything that needs more privileges is open now; the network thread keeps only CAP_PERFMON.
  if (const auto kept = linux::keep_only_perfmon(); !kept) return report_error(kept.error());
  if (!options.processes.empty() && watch::hides_processes(options.root)) {
    std::fputs("tally: /proc hides the processes of other users (hidepid), so --processes has no series\n", stderr);
    reader.read(latest);  // root saw them in the first reading
  }
  const std::string host = address.substr(0, address.rfind(':'));
  std::printf("tally serves http://%s:%d/metrics\n", host.c_str(), server->port());
  std::fflush(stdout);

  auto serving = std::make_unique<ServerThread>(*server, latest);
  const auto interval = std::chrono::milliseconds(options.interval_ms);
  Nanoseconds due = reader.watcher.reading().time + interval;
  const int wake_descriptor = signals->fd();
  for (;;) {
    if (watch::wait_until(due, {&wake_descriptor, 1}) == watch::woken_by_time) {
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

void describe_serve(command::Page& page) {
  static ServeOptions unused;
  describe(page, unused);
}

int run_serve(const std::vector<std::string>& arguments) {
  ServeOptions options;
  command::Page page;
  describe(page, options);
  if (const auto done = page.read(arguments)) return *done;
  if (const auto checked = check_processes(options.processes); !checked) return report_error(checked.error());
  const auto address = address_of(options.listen);
  return address ? serve(options, *address) : report_error(address.error());
}

}  // namespace
}  // namespace tally::serve

int main(int argc, char** argv) {
  constexpr tally::command::Program serve{"serve", tally::serve::describe_serve, tally::serve::run_serve};
  return tally::command::run_program(serve, argc, argv);
}
