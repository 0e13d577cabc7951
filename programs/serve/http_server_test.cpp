#include "programs/serve/http_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace tally::serve {
namespace {

class Serving : public testing::Test {
 protected:
  void SetUp() override {
    auto made = HttpServer::listen("127.0.0.1:0");
    ASSERT_TRUE(made) << made.error().message;
    server_.emplace(*std::move(made));
    thread_ = std::thread([this] {
      server_->serve([](const HttpRequest& request) {
        return HttpAnswer{request.path == "/yes" ? 200 : 404, "text/plain",
                          std::make_shared<const std::string>(request.path == "/yes" ? "it is" : "it is not"), false};
      });
    });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }
  int connected() const {
    const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return one;
  }
  std::string asked(const std::string& text) const {
    const int one = connected();
    (void)send(one, text.data(), text.size(), MSG_NOSIGNAL);
    std::string all;
    char part[4096];
    for (ssize_t n = 0; (n = read(one, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(n));
    close(one);
    return all;
  }

  std::optional<HttpServer> server_;
  std::thread thread_;
};

TEST_F(Serving, answers) {
  const std::string answer = asked("GET /yes?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nit is")) << answer;
  EXPECT_TRUE(asked("HEAD /yes HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));
  EXPECT_TRUE(asked("GET /no HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(asked("POST /yes HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
  EXPECT_TRUE(asked("GET /yes HTTP/9.9\r\n\r\n").starts_with("HTTP/1.1 505"));
  EXPECT_TRUE(asked("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_TRUE(asked("GET /yes HTTP/1.1\r\nX: " + std::string(9000, 'a')).starts_with("HTTP/1.1 431"));
}

TEST_F(Serving, an_address_with_very_many_idle_connections_is_answered) {
  std::vector<int> idle;
  for (int i = 0; i < 600; ++i) idle.push_back(connected());
  for (const int one : idle) (void)send(one, "GET /y", 6, MSG_NOSIGNAL);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(asked("GET /yes HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200")) << i;
  for (const int one : idle) close(one);
}

TEST(HttpServer, reports_why_it_cannot_listen) {
  const auto first = HttpServer::listen("127.0.0.1:0");
  ASSERT_TRUE(first);
  const auto second = HttpServer::listen("127.0.0.1:" + std::to_string(first->port()));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("Address already in use"), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace tally::serve
