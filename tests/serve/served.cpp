#include "tests/serve/served.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tally/core/base/text.hpp"

namespace tally::test {

FakeMachine::FakeMachine(int groups) {
  write("sys/devices/system/cpu/online", "0");
  write("proc/stat", "cpu 100 0 50 1000 0 0 0 30 0 0\ncpu0 100 0 50 1000 0 0 0 30 0 0\nctxt 4711\nprocs_running 2");
  write("proc/vmstat", "pgfault 12345\npgmajfault 6");
  write("sys/fs/cgroup/cgroup.controllers", "cpu memory");
  for (int group = 0; group < groups; ++group) {
    const std::string folder = "sys/fs/cgroup/group" + std::to_string(group);
    write(folder + "/cpu.stat", "usage_usec " + std::to_string(group * 1'000'000) + "\nthrottled_usec 0");
    write(folder + "/memory.current", std::to_string(4096 * group));
    write(folder + "/memory.stat", "pgfault 1\npgmajfault 0");
  }
}

void FakeMachine::write(const std::string& path, const std::string& text) const {
  const auto file = std::filesystem::path(root()) / path;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

Served::Served(const std::string& root, int port, const Words& options) {
  Words words{"serve", "--listen", "127.0.0.1:" + std::to_string(port), "--interval", "100", "--root", root};
  words.insert(words.end(), options.begin(), options.end());
  running_ = std::make_unique<Running>(tally_words(words));
  EXPECT_TRUE(running_->wait_for_output("/metrics\n"));
  const std::string& output = running_->output();
  port_ = std::atoi(output.c_str() + output.find("127.0.0.1:") + 10);
}

std::optional<std::string> Served::scrape() const {
  const std::string answer = get(port_, "/metrics");
  const std::size_t body = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 200") || body == std::string::npos) return std::nullopt;
  return answer.substr(body + 4);
}

int connect_to(int port) {
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return one;
  close(one);
  return -1;
}

std::string read_all(int socket) {
  std::string all;
  char part[65536];
  for (ssize_t got = 0; (got = read(socket, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(got));
  close(socket);
  return all;
}

std::string get(int port, const std::string& path) {
  const int one = connect_to(port);
  if (one < 0) return {};
  const std::string asked = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (send(one, asked.data(), asked.size(), MSG_NOSIGNAL) < 0) return close(one), "";
  return read_all(one);
}

std::optional<double> value_of(const std::string& text, const std::string& series) {
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(series + " ")) return std::strtod(line.c_str() + series.size(), nullptr);
  }
  return std::nullopt;
}

long resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  long all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace tally::test
