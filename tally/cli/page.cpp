#include "tally/cli/page.hpp"

#include <fmt/format.h>

#include <memory>

#include "tally/cli/command.hpp"

namespace tally::cli {
namespace {

// "tally stat" of "tally stat [options] …".
std::string name_of(const std::string& usage) { return usage.substr(0, usage.find(' ', usage.find(' ') + 1)); }

class Format final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    return fmt::format("\nUsage: {}\n\n", static_cast<const Page*>(app)->usage());
  }
};

}  // namespace

Page::Page() {
  formatter(std::make_shared<Format>());
  set_help_flag("-h,--help", "this text");
}

void Page::head(std::string sentence, std::string usage) {
  description(std::move(sentence));
  usage_ = std::move(usage);
}

std::optional<int> Page::read(const std::vector<std::string>& arguments) {
  try {
    // CLI11 takes the arguments from the back.
    parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return print(text());
  } catch (const CLI::ParseError& error) {
    return report_error(
        {Code::bad_usage, error.what(), fmt::format("`{} --help` lists the options", name_of(usage_)), 0});
  }
  return std::nullopt;
}

std::string Page::text() const { return help(); }

}  // namespace tally::cli
