// The options of `tally serve`.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::command {
class Page;
}

namespace tally::serve {

struct ServeOptions {
  std::string listen = "127.0.0.1:9797";
  int interval_ms = 1000;
  bool no_groups = false;
  std::vector<std::string> processes;  ///< names of processes that have series
  std::string root = "/";              ///< the directory that contains proc/ and sys/
};

/// Adds the options to the page, bound to `options`.
void describe(command::Page& page, ServeOptions& options);

/// The most names that --processes may have.
constexpr std::size_t most_process_names = 32;

/// Checks the value of --processes. Errors: bad_usage.
Result<void> check_processes(const std::vector<std::string>& names);

/// Converts the value of --listen to ADDRESS:PORT. Accepts only an address and a port, although the server library
/// would accept a richer syntax. Errors: bad_usage.
Result<std::string> address_of(const std::string& text);

}  // namespace tally::serve
