// An HTTP/1.1 server for short answers that slow, idle and hostile clients cannot block.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::serve {

struct HttpRequest {
  std::string method, path;  ///< the path without the query string
  bool accepts_gzip = false;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  ///< null: no body
  bool is_gzip = false;
};

/// One thread serves all connections. Each has one request, and none waits for another. A request has two seconds and 8
/// KiB, an answer ten seconds. An address may have 128 connections, all together 512; above that, the oldest one that
/// is not being answered is closed, so that a client with a request is always answered.
class HttpServer {
 public:
  /// Listens on "ADDRESS:PORT", "[ADDRESS]:PORT"; port 0 is any free one. Errors: cannot_measure, with the system's
  /// words.
  static Result<HttpServer> listen(const std::string& where);

  std::uint16_t port() const { return port_; }

  /// Serves until another thread calls stop().
  void serve(const std::function<HttpAnswer(const HttpRequest&)>& answer);
  void stop() const;

 private:
  struct Connection {
    linux::Descriptor socket;
    std::string from;  // key for the limit on connections
    std::string in;    // received part of the request
    std::string head;
    std::shared_ptr<const std::string> body;
    std::size_t sent = 0;
    std::size_t drained = 0;  // bytes after the request
    Nanoseconds deadline{0};
    enum class State { asks, is_answered, is_drained } state = State::asks;
  };
  using Position = std::list<Connection>::iterator;

  HttpServer(linux::Descriptor socket, linux::Descriptor events, linux::Descriptor bell, std::uint16_t port)
      : socket_(std::move(socket)), events_(std::move(events)), bell_(std::move(bell)), port_(port) {}
  void accept_all();
  bool make_room(const std::string& from);
  bool goes_on(Position position, const std::function<HttpAnswer(const HttpRequest&)>& answer);
  bool receives(Connection& one, const std::function<HttpAnswer(const HttpRequest&)>& answer);
  bool sends(Connection& one);
  bool drains(Connection& one);
  void watch(Connection& one, std::uint32_t events);
  void close(Position position);
  void close_late();

  linux::Descriptor socket_, events_, bell_;
  std::uint16_t port_ = 0;
  std::list<Connection> connections_;  // oldest first
  std::map<int, Position> by_socket_;
  std::map<std::string, std::size_t> of_address_;
};

/// Parses the bytes up to the first empty line. If they are not a valid request, `refused` is the status of the answer:
/// 400, 405 or 505.
struct ParsedRequest {
  HttpRequest request;
  int refused = 0;
};
ParsedRequest parse_request(std::string_view head);

}  // namespace tally::serve
