#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tally/core/base/text.hpp"
#include "tests/serve/served.hpp"

namespace tally::test {
namespace {

std::string shell_output(const std::string& command) { return Running({"/bin/sh", "-c", command}).finish().out; }

// Waits until the condition is true; false if it never is.
template <class Condition>
bool wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + longest_wait;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    usleep(20'000);
  }
  return true;
}

TEST(Serve, exports_the_values_of_the_files) {
  const FakeMachine machine(3);
  const Served served(machine.root());
  const std::string text = served.scrape().value_or("");
  EXPECT_EQ(value_of(text, R"(tally_cpu_seconds_total{cpu="0",socket="0",mode="busy"})"), 1.5) << text;
  EXPECT_EQ(value_of(text, R"(tally_cpu_seconds_total{cpu="0",socket="0",mode="steal"})"), 0.3);
  EXPECT_EQ(value_of(text, "tally_context_switches_total"), 4711);
  EXPECT_EQ(value_of(text, R"(tally_page_faults_total{kind="major"})"), 6);
  EXPECT_EQ(value_of(text, R"(tally_cgroup_cpu_seconds_total{cgroup="/group2"})"), 2);
  EXPECT_EQ(value_of(text, R"(tally_cgroup_memory_bytes{cgroup="/group2"})"), 8192);
  EXPECT_EQ(text.find("tally_cpu_instructions_total"), std::string::npos) << "absent, not 0";
  EXPECT_NE(text.find(R"(tally_absent_info{column="IPC",rows="core",reason="no-pmu"} 1)"), std::string::npos) << text;
  machine.write("proc/vmstat", "pgfault 20000\npgmajfault 7");
  EXPECT_TRUE(wait_until([&] {
    return value_of(served.scrape().value_or(""), R"(tally_page_faults_total{kind="all"})") == 20000;
  })) << "it is read again and again";
  EXPECT_GT(value_of(served.scrape().value_or(""), "exposer_scrapes_total").value_or(0), 0) << "its own scrapes";
}

TEST(Serve, promtool_finds_nothing_wrong) {
  if (shell_output("command -v promtool").empty()) GTEST_SKIP() << "promtool is not installed (package prometheus)";
  const FakeMachine machine(3);
  for (const std::string& root : {machine.root(), std::string("/")}) {
    const Served served(root);
    const TemporaryFile text("metrics", served.scrape().value_or(""));
    EXPECT_EQ(shell_output("promtool check metrics < " + text.path() + " 2>&1"), "");
  }
}

TEST(Serve, listens_on_the_loopback_only_or_on_the_given_address) {
  for (const char* wrong : {"", "x", "1.2.3.4", "127.0.0.1:99999", "127.0.0.1:80,81", "127.0.0.1:80s", "host:9797"}) {
    EXPECT_EQ(tally({"serve", "--listen", wrong}).code(), 2) << wrong;
  }
  const FakeMachine machine(0);
  const Served served(machine.root());
  char port[8];
  snprintf(port, sizeof port, "%04X", static_cast<unsigned>(served.port()));
  const std::string sockets = TemporaryFile::read("/proc/net/tcp").value_or("");
  EXPECT_NE(sockets.find(std::string("0100007F:") + port), std::string::npos) << sockets;
  const Finished taken = tally({"serve", "--listen", std::to_string(served.port()), "--root", machine.root()});
  EXPECT_EQ(taken.code(), 125);
  EXPECT_NE(taken.err.find("cannot listen"), std::string::npos) << taken.err;
  EXPECT_NE(taken.err.find("another program uses the port"), std::string::npos) << taken.err;
}

TEST(Serve, ends_as_a_service_does) {
  const FakeMachine machine(0);
  Served served(machine.root());
  served.running().signal(15);
  EXPECT_EQ(served.running().finish().code(), 0);
}

TEST(Serve, answers_while_other_clients_are_slow_many_huge_or_invalid) {
  const FakeMachine machine(10);
  Served served(machine.root());
  std::vector<int> open;
  for (int i = 0; i < 20; ++i) {  // send a part of a request, and wait
    open.push_back(connect_to(served.port()));
    ASSERT_GE(send(open.back(), "GET /met", 8, MSG_NOSIGNAL), 0);
  }
  EXPECT_TRUE(served.scrape()) << "slow clients block nobody";
  for (int i = 0; i < 10; ++i) {  // send a request, and read no answer
    open.push_back(connect_to(served.port()));
    const std::string query_prometheus = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
    ASSERT_GE(send(open.back(), query_prometheus.data(), query_prometheus.size(), MSG_NOSIGNAL), 0);
  }
  EXPECT_TRUE(wait_until([&] { return served.scrape().has_value(); }));
  const std::string huge = "GET /metrics HTTP/1.1\r\nX: " + std::string(1 << 20, 'a');
  const std::string garbage("\0\xff\x16\x03\x01garbage\r\n\r\n", 16);
  for (const std::string& text :
       {huge, garbage, std::string("POST /metrics HTTP/9.9\r\nContent-Length: 999999999\r\n\r\n"),
        std::string("GET /../../etc/passwd HTTP/1.1\r\n\r\n")}) {
    const int one = connect_to(served.port());
    ASSERT_GE(one, 0);
    (void)send(one, text.data(), text.size(), MSG_NOSIGNAL);
    const std::string answer = read_all(one);
    EXPECT_EQ(answer.find("root:"), std::string::npos);
  }
  for (int i = 0; i < 500; ++i) {  // connect and disconnect
    if (const int one = connect_to(served.port()); one >= 0) close(one);
  }
  EXPECT_TRUE(wait_until([&] { return served.scrape().has_value(); }));
  for (const int one : open) close(one);
  EXPECT_TRUE(wait_until([&] { return served.scrape().has_value(); }));
  served.running().signal(15);
  EXPECT_EQ(served.running().finish().code(), 0);
}

TEST(Serve, answers_despite_many_idle_connections) {
  const FakeMachine machine(1);
  const Served served(machine.root());
  std::vector<int> idle;
  for (int i = 0; i < 800; ++i) idle.push_back(connect_to(served.port()));
  EXPECT_TRUE(served.scrape());
  for (const int one : idle) (void)send(one, "GET /met", 8, MSG_NOSIGNAL);
  EXPECT_TRUE(served.scrape());
  for (const int one : idle) close(one);
}

TEST(Serve, reports_its_health_and_its_series) {
  const FakeMachine machine(0);
  const Served served(machine.root());
  EXPECT_TRUE(get(served.port(), "/health").ends_with("\r\n\r\nok\n"));
  EXPECT_NE(get(served.port(), "/").find("/metrics"), std::string::npos);
  EXPECT_TRUE(get(served.port(), "/nothing").starts_with("HTTP/1.1 404"));
}

TEST(Serve, drops_the_rights_of_root_that_it_does_not_need) {
  const FakeMachine machine(0);
  Served served(machine.root());
  const std::string status =
      TemporaryFile::read("/proc/" + std::to_string(served.running().pid()) + "/status").value_or("");
  for (const char* set : {"CapEff:\t", "CapPrm:\t", "CapAmb:\t"}) {
    const std::size_t at = status.find(set);
    ASSERT_NE(at, std::string::npos);
    constexpr std::uint64_t perfmon = std::uint64_t{1} << 38;
    EXPECT_EQ(std::stoull(status.substr(at + 8, 16), nullptr, 16) & ~perfmon, 0u) << set;
  }
  EXPECT_NE(status.find("NoNewPrivs:\t1"), std::string::npos);
}

// The first value that a Prometheus server has for a query; nullopt if it has none.
std::optional<std::string> query_prometheus(int prometheus, const std::string& query) {
  const std::string answer = get(prometheus, "/api/v1/query?query=" + query);
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos) return std::nullopt;  // it is not ready yet
  const auto json = nlohmann::json::parse(answer.substr(body + 4), nullptr, false);
  if (!json.is_object() || !json.contains("data") || json["data"]["result"].empty()) return std::nullopt;
  return json["data"]["result"][0]["value"][1].get<std::string>();
}

// A port that the kernel has just assigned, and that nobody uses now.
int free_port() {
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  (void)bind(one, reinterpret_cast<sockaddr*>(&address), sizeof address);
  (void)getsockname(one, reinterpret_cast<sockaddr*>(&address), &size);
  close(one);
  return ntohs(address.sin_port);
}

TEST(Serve, a_prometheus_server_has_the_values_and_sees_a_restart) {
  if (shell_output("command -v prometheus").empty()) GTEST_SKIP() << "prometheus is not installed";
  const FakeMachine machine(2);
  auto served = std::make_unique<Served>(machine.root());
  const int port = served->port();
  const TemporaryFile config("prometheus.yml",
                             "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n- job_name: "
                             "tally\n  static_configs:\n  - targets: ['127.0.0.1:" +
                                 std::to_string(port) + "']\n");
  const int own = free_port();
  ASSERT_GT(own, 0);
  Running prometheus({"/bin/sh", "-c",
                      "exec prometheus --config.file=" + config.path() + " --storage.tsdb.path=" + config.folder() +
                          "/data --web.listen-address=127.0.0.1:" + std::to_string(own)});
  // On a busy machine a scrape may take longer than its limit, and the server has no values until the next one.
  const auto becomes = [&](const std::string& query, const std::string& value) {
    return wait_until([&] { return query_prometheus(own, query) == value; });
  };
  if (!becomes("tally_context_switches_total", "4711")) {
    prometheus.signal(15);
    FAIL() << prometheus.finish().err << served->scrape().value_or("no answer");
  }
  EXPECT_TRUE(becomes("tally_cgroup_cpu_seconds_total%7Bcgroup=%22/group1%22%7D", "1"));
  EXPECT_TRUE(becomes("tally_cpu_seconds_total%7Bmode=%22steal%22%7D", "0.3"));
  EXPECT_TRUE(becomes("up", "1"));
  EXPECT_EQ(query_prometheus(own, "tally_cpu_instructions_total"), std::nullopt);
  EXPECT_TRUE(
      wait_until([&] { return std::atof(query_prometheus(own, "tally_readings_total").value_or("0").c_str()) > 3; }));
  served.reset();
  EXPECT_TRUE(becomes("up", "0"));
  served = std::make_unique<Served>(machine.root(), port);
  EXPECT_TRUE(becomes("resets(tally_readings_total%5B1h%5D)", "1"));
  EXPECT_EQ(query_prometheus(own, "resets(tally_context_switches_total%5B1h%5D)"), "0")
      << "the kernel continues to count";
  prometheus.signal(15);
  prometheus.finish();
}

TEST(Serve, its_unit_and_its_dashboard_are_valid) {
  const auto dashboard = nlohmann::json::parse(TemporaryFile::read(TALLY_DASHBOARD).value_or(""), nullptr, false);
  ASSERT_TRUE(dashboard.is_object());
  const FakeMachine machine(1);
  const Served served(machine.root());
  EXPECT_GE(dashboard.at("panels").size(), 6u);
  for (const auto& panel : dashboard.at("panels")) {
    const std::string expression = panel.at("targets").at(0).at("expr");
    const bool is_optional = expression.find("tally_cpu_seconds_total") == std::string::npos;
    EXPECT_EQ(panel.at("fieldConfig").at("defaults").contains("noValue"), is_optional) << panel.at("title");
  }
  EXPECT_NE(TemporaryFile::read(TALLY_SERVE_UNIT).value_or("").find("AmbientCapabilities=CAP_PERFMON\n"),
            std::string::npos);
  if (shell_output("command -v systemd-analyze").empty()) GTEST_SKIP() << "systemd-analyze is not installed";
  const std::string verdict =
      shell_output(std::string("systemd-analyze security --offline=true ") + TALLY_SERVE_UNIT + " 2>&1 | tail -1");
  EXPECT_NE(verdict.find("OK"), std::string::npos) << verdict;
}

TEST(Serve, its_alert_rules_are_valid_and_fire) {
  if (shell_output("command -v promtool").empty()) GTEST_SKIP() << "promtool is not installed (package prometheus)";
  const TemporaryFile rules("alerts.yml", TemporaryFile::read(TALLY_ALERTS).value_or(""));
  const TemporaryFile cases("cases.yml", "rule_files: [" + rules.path() + R"(]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'tally_cpu_seconds_total{instance="a",cpu="0",mode="busy"}', values: '0+57x60'}
  - {series: 'tally_cpu_seconds_total{instance="b",cpu="0",mode="busy"}', values: '0+30x60'}
  - {series: 'tally_processes{instance="a",name="nginx"}', values: '2x10 0x50'}
  - {series: 'tally_pressure_waiting_seconds_total{instance="a",resource="memory"}', values: '0+12x60'}
  alert_rule_test:
  - eval_time: 40m
    alertname: ProcessorsBusy
    exp_alerts:
    - exp_labels: {severity: warning, instance: a}
      exp_annotations: {summary: 'a: 95% of the processor time is in use'}
  - eval_time: 5m
    alertname: ProcessIsMissing
  - eval_time: 40m
    alertname: ProcessIsMissing
    exp_alerts:
    - exp_labels: {severity: warning, instance: a, name: nginx}
      exp_annotations: {summary: 'a: no process is called nginx'}
  - eval_time: 40m
    alertname: TasksWaitForMemory
    exp_alerts:
    - exp_labels: {severity: warning, instance: a, resource: memory}
      exp_annotations: {summary: 'a: tasks wait for memory 20% of the time'}
)");
  const std::string messages = shell_output("promtool test rules " + cases.path() + " 2>&1");
  EXPECT_NE(messages.find("SUCCESS"), std::string::npos) << messages;
}

TEST(Serve, has_series_of_named_processes) {
  const FakeMachine machine(1);
  machine.write("proc/10/stat", "10 (nginx) S 1 10 10 0 -1 4194560 9 0 1 0 50 25 0 0 20 0 3 0 77 4096 2 0 0");
  const Served served(machine.root(), 0, {"--processes", "nginx,postgres"});
  const std::string text = served.scrape().value_or("");
  EXPECT_EQ(value_of(text, "tally_processes{name=\"nginx\"}"), 1) << text;
  EXPECT_EQ(value_of(text, "tally_process_threads{name=\"nginx\"}"), 3);
  EXPECT_EQ(value_of(text, "tally_processes{name=\"postgres\"}"), 0);
  EXPECT_EQ(value_of(text, "tally_process_cpu_seconds_total{name=\"nginx\"}"), 0) << "from the first reading on";
  EXPECT_EQ(tally({"serve", "--processes", "a,a"}).code(), 2);
  EXPECT_EQ(tally({"serve", "--processes", "a/b"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
