// `tally serve`: reads the options and starts tally-serve, a program of its own (tally/tools/serve/CMakeLists.txt says
// why).
#include <fmt/format.h>

#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/program.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::string listen = "127.0.0.1:9797";
  int interval_ms = 1000;
  bool no_groups = false;
  std::string root = "/";
};

constexpr const char* footer =
    R"(One exporter for each machine: Prometheus, and whatever understands its text, asks for http://ADDRESS/metrics. The
machine is read once in an interval, however many ask. What has no source on this machine has no series, and
tally_absent_info says why; names and units are Prometheus's (seconds, bytes, joules, _total).

It listens on the loopback interface unless --listen names another one; it has no passwords and no TLS: put a proxy in
front where the network is not yours. It takes no privilege; with CAP_PERFMON it counts instructions, cycles, cache
misses, memory traffic and energy as well. A unit for systemd that gives it that alone, tally-serve.service, and a
dashboard for Grafana, grafana.json, are installed with it. SIGTERM ends it with exit code 0.

Examples:
  tally serve
  tally serve --listen 0.0.0.0:9797
  curl http://127.0.0.1:9797/metrics
)";

void describe(Page& page, Options& options) {
  page.head("The figures of tally watch for a fleet: an endpoint that Prometheus scrapes.", "tally serve [options]");
  page.add_option("--listen", options.listen, "address and port; 127.0.0.1:9797, and 127.0.0.1 for a port alone")
      .value_name("ADDRESS");
  page.add_option("-I,--interval", options.interval_ms, "read the machine every MS milliseconds; 1000")
      .value_name("MS")
      .check(whole_number(100, 3'600'000));
  page.add_flag("--no-groups", options.no_groups, "without series of control groups");
  page.add_option("--root", options.root, "where proc/ and sys/ lie").value_name("FOLDER").hidden();
  page.footer(footer);
}

// What the server library takes is a small language: only an address and a port go through.
Result<std::string> address_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const auto port = parse_integer(colon == std::string::npos ? text : text.substr(colon + 1));
  if (host == "localhost") host = "127.0.0.1";
  const bool is_six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool fits = !host.empty() &&
                    host.find_first_not_of(is_six ? "0123456789abcdefABCDEF:.[]" : "0123456789.") == std::string::npos;
  if (!fits || !port || *port < 0 || *port > 65535) {
    return fail(Code::bad_usage, fmt::format("'{}' is no address and port", printable(text)),
                "for example: 127.0.0.1:9797, 0.0.0.0:9797, [::1]:9797, or 9797");
  }
  return fmt::format("{}:{}", host, *port);
}

Result<std::string> find_serve() {
  const std::string folder = linux::own_folder();
  for (const std::string& path : {folder + "/tally-serve", folder + "/" TALLY_LAB_FOLDER "/tally-serve"}) {
    if (linux::exists(path)) return path;
  }
  return fail(Code::cannot_measure, "the exporter is not built: no 'tally-serve' beside tally",
              "it needs Prometheus's library: sudo apt-get install prometheus-cpp-dev, then build again");
}

}  // namespace

void describe_serve(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_serve(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto done = page.read(arguments)) return *done;
  const auto address = address_of(options.listen);
  if (!address) return report_error(address.error());
  const auto program = find_serve();
  if (!program) return report_error(program.error());
  return report_error(linux::become(*program, {options.root, *address, std::to_string(options.interval_ms),
                                               options.no_groups ? "no-groups" : "groups"}));
}

}  // namespace tally::cli
