#include "programs/serve/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::serve {
namespace {

constexpr std::size_t most_connections = 512, most_of_address = 128;
constexpr std::size_t most_request_bytes = 8192, most_drained_bytes = 16 << 20;
constexpr Nanoseconds time_to_ask = std::chrono::seconds(2), time_to_take = std::chrono::seconds(10),
                      time_to_drain = std::chrono::seconds(1);

tl::unexpected<Error> cannot_listen(const std::string& where) {
  const std::string hint = errno == EACCES          ? "ports below 1024 need root or CAP_NET_BIND_SERVICE"
                           : errno == EADDRNOTAVAIL ? "no network interface has this address: `ip address` lists them"
                           : errno == EADDRINUSE    ? "another program listens there: choose another port"
                                                    : "";
  return linux::system_failure(Code::cannot_measure, fmt::format("cannot listen on {}", printable(where)), hint);
}

/// Returns the key for the limit on connections: the address, or with IPv6 the network, because a host has many
/// addresses.
std::string origin_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr), 4};
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  constexpr std::size_t of_network = 8, of_mapped_ipv4 = 16;
  return {reinterpret_cast<const char*>(&six),
          static_cast<std::size_t>(IN6_IS_ADDR_V4MAPPED(&six) ? of_mapped_ipv4 : of_network)};
}

bool add(const linux::Descriptor& events, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return epoll_ctl(events.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

const char* reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 431: return "Request Header Fields Too Large";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

HttpAnswer refusal(int status) {
  return {status, "text/plain; charset=utf-8",
          std::make_shared<const std::string>(std::string(reason_of(status)) + "\n"), false};
}

}  // namespace

ParsedRequest parse_request(std::string_view head) {
  ParsedRequest parsed;
  const auto lines = split(head, '\n');
  const auto words = split(trimmed(lines.empty() ? "" : lines.front()), ' ');
  const bool is_request = words.size() == 3 && !words[1].empty() && words[1].front() == '/' &&
                          words[2].starts_with("HTTP/") && head.find('\0') == std::string_view::npos;
  if (!is_request) {
    parsed.refused = 400;
  } else if (!words[2].starts_with("HTTP/1.")) {
    parsed.refused = 505;
  } else if (words[0] != "GET" && words[0] != "HEAD") {
    parsed.refused = 405;
  }
  if (parsed.refused != 0) return parsed;
  parsed.request.method = words[0];
  parsed.request.path = words[1].substr(0, words[1].find('?'));
  for (const std::string& line : lines) {
    const std::string field = lower(line);
    if (field.starts_with("accept-encoding:") && field.find("gzip") != std::string::npos)
      parsed.request.accepts_gzip = true;
  }
  return parsed;
}

Result<HttpServer> HttpServer::listen(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  std::string host = where.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = getaddrinfo(host.c_str(), where.substr(colon + 1).c_str(), &wanted, &found); failed != 0)
    return fail(Code::cannot_measure, fmt::format("cannot listen on {}: {}", printable(where), gai_strerror(failed)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, freeaddrinfo);
  linux::Descriptor made(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // A client that has left without taking all data must not block the port.
  if (!made || setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(made.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(made.get(), SOMAXCONN) != 0)
    return cannot_listen(where);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  linux::Descriptor events(epoll_create1(EPOLL_CLOEXEC)), bell(eventfd(0, EFD_CLOEXEC));
  if (!events || !bell || getsockname(made.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0 ||
      !add(events, made.get()) || !add(events, bell.get()))
    return cannot_listen(where);
  const auto port = bound.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(bound).sin_port
                                               : reinterpret_cast<const sockaddr_in6&>(bound).sin6_port;
  return HttpServer(std::move(made), std::move(events), std::move(bell), ntohs(port));
}

void HttpServer::stop() const {
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

void HttpServer::serve(const std::function<HttpAnswer(const HttpRequest&)>& answer) {
  constexpr int tick_ms = 100;
  std::array<epoll_event, 64> happened{};
  while (true) {
    const int n = epoll_wait(events_.get(), happened.data(), happened.size(), connections_.empty() ? -1 : tick_ms);
    for (int i = 0; i < n; ++i) {
      const int fd = happened[static_cast<std::size_t>(i)].data.fd;
      if (fd == bell_.get()) return;
      if (fd == socket_.get()) {
        accept_all();
      } else if (const auto known = by_socket_.find(fd); known != by_socket_.end()) {
        if (!goes_on(known->second, answer)) close(known->second);
      }
    }
    close_late();
  }
}

void HttpServer::accept_all() {
  constexpr int at_once = 256;  // afterwards, existing connections are served
  for (int i = 0; i < at_once; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    linux::Descriptor made(
        accept4(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!made && (errno == EMFILE || errno == ENFILE) && make_room("")) continue;
    if (!made) return;
    const std::string from = origin_of(address);
    const auto of_address = of_address_.find(from);
    if (of_address != of_address_.end() && of_address->second >= most_of_address && !make_room(from)) continue;
    if (connections_.size() >= most_connections && !make_room("")) continue;
    Connection& one = connections_.emplace_back();
    one.socket = std::move(made);
    one.from = from;
    one.deadline = linux::now() + time_to_ask;
    by_socket_[one.socket.get()] = std::prev(connections_.end());
    ++of_address_[from];
    if (!add(events_, one.socket.get())) close(std::prev(connections_.end()));
  }
}

/// Closes the oldest connection of an address (of any, if empty) that is not being answered.
bool HttpServer::make_room(const std::string& from) {
  for (auto one = connections_.begin(); one != connections_.end(); ++one) {
    if ((!from.empty() && one->from != from) || one->state == Connection::State::is_answered) continue;
    close(one);
    return true;
  }
  return false;
}

bool HttpServer::goes_on(Position position, const std::function<HttpAnswer(const HttpRequest&)>& answer) {
  switch (position->state) {
    case Connection::State::asks: return receives(*position, answer);
    case Connection::State::is_answered: return sends(*position);
    case Connection::State::is_drained: return drains(*position);
  }
  return false;
}

bool HttpServer::receives(Connection& one, const std::function<HttpAnswer(const HttpRequest&)>& answer) {
  std::array<char, 4096> part;
  const ssize_t n = linux::retry([&] { return recv(one.socket.get(), part.data(), part.size(), 0); });
  if (n < 0 && errno == EAGAIN) return true;
  if (n <= 0) return false;
  const std::size_t before = one.in.size();
  one.in.append(part.data(), static_cast<std::size_t>(n));
  const std::size_t end = one.in.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  const bool is_whole = end != std::string::npos && end <= most_request_bytes;
  if (!is_whole && one.in.size() <= most_request_bytes) return true;
  const ParsedRequest parsed =
      is_whole ? parse_request(std::string_view(one.in).substr(0, end)) : ParsedRequest{{}, 431};
  const HttpAnswer made = parsed.refused != 0 ? refusal(parsed.refused) : answer(parsed.request);
  one.body = made.body;
  one.head =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}{}Connection: close\r\n\r\n",
                  made.status, reason_of(made.status), made.type, made.body ? made.body->size() : 0,
                  made.is_gzip ? "Content-Encoding: gzip\r\n" : "", made.status == 405 ? "Allow: GET, HEAD\r\n" : "");
  if (parsed.request.method == "HEAD") one.body.reset();
  one.in.clear();
  one.in.shrink_to_fit();
  one.state = Connection::State::is_answered;
  one.deadline = linux::now() + time_to_take;
  watch(one, EPOLLOUT);
  return sends(one);
}

bool HttpServer::sends(Connection& one) {
  while (true) {
    const std::string_view body = one.body ? std::string_view(*one.body) : std::string_view();
    const bool in_head = one.sent < one.head.size();
    const std::string_view left =
        in_head ? std::string_view(one.head).substr(one.sent) : body.substr(one.sent - one.head.size());
    if (left.empty()) break;
    const ssize_t n = linux::retry([&] { return send(one.socket.get(), left.data(), left.size(), MSG_NOSIGNAL); });
    if (n < 0) return errno == EAGAIN;
    one.sent += static_cast<std::size_t>(n);
  }
  // Closing a connection with unread bytes resets it, and the answer may be lost.
  shutdown(one.socket.get(), SHUT_WR);
  one.body.reset();
  one.state = Connection::State::is_drained;
  one.deadline = linux::now() + time_to_drain;
  watch(one, EPOLLIN);
  return true;
}

bool HttpServer::drains(Connection& one) {
  std::array<char, 16384> part;
  const ssize_t n = linux::retry([&] { return recv(one.socket.get(), part.data(), part.size(), 0); });
  if (n < 0) return errno == EAGAIN;
  one.drained += static_cast<std::size_t>(n);
  return n > 0 && one.drained <= most_drained_bytes;
}

void HttpServer::watch(Connection& one, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = one.socket.get();
  epoll_ctl(events_.get(), EPOLL_CTL_MOD, one.socket.get(), &event);
}

void HttpServer::close(Position position) {
  by_socket_.erase(position->socket.get());
  if (const auto of = of_address_.find(position->from); of != of_address_.end() && --of->second == 0)
    of_address_.erase(of);
  connections_.erase(position);
}

void HttpServer::close_late() {
  const Nanoseconds time = linux::now();
  for (auto one = connections_.begin(); one != connections_.end();) {
    const auto next = std::next(one);
    if (one->deadline <= time) close(one);
    one = next;
  }
}

}  // namespace tally::serve
