#include "programs/serve/serve_arguments.hpp"

#include <fmt/format.h>

#include <set>

#include "programs/serve/process_sums.hpp"
#include "tally/core/base/text.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::serve {
namespace {

constexpr const char* serve_footer =
    R"(Run one exporter per machine; Prometheus reads http://ADDRESS/metrics. The machine is read once per interval, however
many clients ask. A metric without a source on this machine has no series; tally_absent_info gives the reason. Names
and units follow Prometheus (seconds, bytes, joules, _total).

By default it listens on the loopback interface only. It has no passwords and no TLS: use a proxy on networks that you
do not trust. It needs no privileges; with CAP_PERFMON it also exports instructions, cycles, cache misses, memory
traffic and energy. A systemd unit that grants only CAP_PERFMON (tally-serve.service), a Grafana dashboard
(grafana.json) and alert rules of Prometheus (alerts.yml) are installed with tally. SIGTERM ends it with exit code 0.

Examples:
  tally serve
  tally serve --listen 0.0.0.0:9797
  tally serve --processes nginx,postgres
  curl http://127.0.0.1:9797/metrics
)";

}  // namespace

void describe(command::Page& page, ServeOptions& options) {
  page.head("Export the metrics of tally watch to Prometheus over HTTP.", "tally serve [options]");
  page.add_option("--listen", options.listen, "address and port, or a port on 127.0.0.1 (default: 127.0.0.1:9797)")
      .value_name("ADDRESS");
  page.add_option("-I,--interval", options.interval_ms, "read the machine every MS milliseconds (default: 1000)")
      .value_name("MS")
      .check(command::whole_number(100, 3'600'000));
  page.add_flag("--no-groups", options.no_groups, "do not export control groups");
  page.add_option("--processes", options.processes,
                  "also export the sum of the processes with each of these names, separated by commas; at most 32")
      .repeated()
      .separated_by(',')
      .value_name("NAMES");
  page.add_option("--root", options.root, "the directory that contains proc/ and sys/").value_name("FOLDER").hidden();
  page.footer(serve_footer);
}

Result<void> check_processes(const std::vector<std::string>& names) {
  const std::string example = "for example: --processes nginx,postgres";
  if (names.size() > most_process_names)
    return fail(Code::bad_usage, fmt::format("--processes has {} names; at most {}", names.size(), most_process_names),
                "the control groups of services are exported, too");
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) return fail(Code::bad_usage, "--processes: a name is empty", example);
    if (name.find('/') != std::string::npos)
      return fail(Code::bad_usage, fmt::format("--processes: '{}' is not the name of a process", printable(name)),
                  example);
    if (!seen.insert(kernel_name(name)).second)
      return fail(Code::bad_usage,
                  fmt::format("--processes: '{}' names the same processes as another name", printable(name)),
                  "the kernel's names of processes have 15 characters");
  }
  return {};
}

Result<std::string> address_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const auto port = parse_integer(colon == std::string::npos ? text : text.substr(colon + 1));
  if (host == "localhost") host = "127.0.0.1";
  const bool is_six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool fits = !host.empty() &&
                    host.find_first_not_of(is_six ? "0123456789abcdefABCDEF:.[]" : "0123456789.") == std::string::npos;
  if (!fits || !port || *port < 0 || *port > 65535) {
    return fail(Code::bad_usage, fmt::format("'{}' is not an address and port", printable(text)),
                "for example: 127.0.0.1:9797, 0.0.0.0:9797, [::1]:9797, or 9797");
  }
  return fmt::format("{}:{}", host, *port);
}

}  // namespace tally::serve
