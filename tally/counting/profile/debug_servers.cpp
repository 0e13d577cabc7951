#include "tally/counting/profile/debug_servers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/tool.hpp"

namespace tally::profile {
namespace {

constexpr const char* tool = "debuginfod-find";
constexpr Nanoseconds patience = std::chrono::seconds(30);

struct Servers {
  bool are_asked = false;
  std::function<void(const std::string&)> report;
};
Servers& servers() {
  static Servers all;
  return all;
}

}  // namespace

Result<void> ask_debug_servers(std::function<void(const std::string& line)> report) {
  const char* const urls = secure_getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || trimmed(urls).empty())
    return fail(Code::bad_usage, "--debuginfod: DEBUGINFOD_URLS names no server",
                "for example: export DEBUGINFOD_URLS=https://debuginfod.debian.net");
  if (!linux::find_program(tool, linux::search_path()))
    return fail(Code::not_found, fmt::format("--debuginfod needs the program {}, which is not installed", tool),
                "install the package debuginfod (Fedora: elfutils-debuginfod-client)");
  servers() = {true, std::move(report)};
  return {};
}

bool are_debug_servers_asked() { return servers().are_asked; }

std::optional<std::string> debug_file_from_servers(const std::string& build_id, const std::string& of_file) {
  Servers& all = servers();
  if (!all.are_asked || build_id.empty()) return std::nullopt;
  all.report(fmt::format("asking debuginfod for the debug file of {}", printable(of_file)));
  const auto ended = linux::run_tool({tool, "debuginfo", build_id}, patience);
  if (!ended || ended->was_stopped) {
    // The next file would take as long.
    all.are_asked = false;
    all.report(fmt::format("no answer from debuginfod within {:.0f} s: tally does not ask it again",
                           std::chrono::duration<double>(patience).count()));
    return std::nullopt;
  }
  const std::string path = trimmed(ended->output);
  if (ended->exit_code != 0 || !path.starts_with('/') || path.find('\n') != std::string::npos) return std::nullopt;
  return path;
}

}  // namespace tally::profile
