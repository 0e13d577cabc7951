#include "tally/cli/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/wrap.hpp"

namespace tally::cli {
namespace {

// "tally stat" of "tally stat [options] …".
std::string name_of(const std::string& usage) { return usage.substr(0, usage.find(' ', usage.find(' ') + 1)); }

// "-e, --event EVENTS", or a positional argument's name.
std::string entry_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name();
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string text = join(names, ", ");
  // In line with those that have a short name.
  if (option.get_snames().empty()) text.insert(0, "    ");
  if (option.get_items_expected_max() > 0) text += " " + option.get_option_text();
  return text;
}

std::string entries(const Page& page, const char* heading, bool positional) {
  constexpr std::size_t widest = 32;
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : page.get_options()) {
    if (option->get_positional() == positional && !option->get_group().empty()) shown.push_back(option);
  }
  if (shown.empty()) return {};
  std::size_t width = 0;
  for (const CLI::Option* option : shown) width = std::max(width, std::min(entry_of(*option).size(), widest));
  std::string text = fmt::format("\n{}:\n", heading);
  for (const CLI::Option* option : shown) {
    text += hanging(fmt::format("  {:<{}}  ", entry_of(*option), width), option->get_description());
  }
  return text;
}

// The footer's paragraphs in lines of the terminal; what is indented stays as it is.
std::string paragraphs(const std::string& footer) {
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += hanging("", paragraph);
    paragraph.clear();
  };
  for (const std::string& line : split(trimmed(footer), '\n')) {
    if (line.empty() || line.starts_with("  ")) {
      end_paragraph();
      text += line + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  return text;
}

std::string not_a_number(const std::string& option, const std::string& value) {
  return fmt::format("{}: '{}' is not a number", option, printable(value));
}

// CLI11's error in the words of this project.
Error in_words(const CLI::ParseError& error, const Page& page) {
  std::string message = error.what();
  std::string unknown;
  if (const auto at = message.find(": 1 required"); at != std::string::npos) {
    message = fmt::format("missing value after {}", message.substr(0, at));
  }
  constexpr std::string_view not_converted = "Could not convert: ";
  if (message.starts_with(not_converted)) {
    const std::string rest = message.substr(not_converted.size());
    const std::size_t sign = rest.find(" = ");
    if (sign != std::string::npos) message = not_a_number(rest.substr(0, sign), rest.substr(sign + 3));
  }
  for (const std::string_view extra :
       {"The following argument was not expected: ", "The following arguments were not expected: "}) {
    if (!message.starts_with(extra)) continue;
    // CLI11 lists them from the last to the first.
    std::vector<std::string> words = split(message.substr(extra.size()), ' ');
    const auto option = std::find_if(words.begin(), words.end(), [](const auto& one) { return one.starts_with('-'); });
    const std::string word = option != words.end() ? *option : words.back();
    if (word.starts_with("--")) unknown = word;
    message = fmt::format("{} '{}'", word.starts_with('-') ? "unknown option" : "unexpected argument", printable(word));
  }
  return {Code::bad_usage, std::move(message), page.options_hint(unknown), 0};
}

}  // namespace

Page::Page() { set_help_flag("-h,--help", "this text"); }

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
    return report_error(in_words(error, *this));
  }
  // CLI11 takes the next word for the value of "--name="; what remains are the words of the program.
  const std::size_t own = arguments.size() - std::min(arguments.size(), remaining_size());
  for (std::size_t i = 0; i < own; ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1)
      return report_error(
          {Code::bad_usage, fmt::format("missing value after {}", printable(word)), options_hint(""), 0});
  }
  return std::nullopt;
}

std::string Page::options_hint(const std::string& unknown) const {
  std::vector<std::string> names;
  for (const CLI::Option* option : get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const auto near = unknown.starts_with("--") ? nearest(unknown, names) : std::vector<std::string>{};
  return fmt::format("{}`{} --help` lists the options",
                     near.empty() ? "" : fmt::format("did you mean {}? ", near.front()), name_of(usage_));
}

std::string Page::text() const {
  std::string text = fmt::format("{}\nUsage: {}\n", hanging("", get_description()), usage_);
  text += entries(*this, "Arguments", true) + entries(*this, "Options", false);
  return get_footer().empty() ? text : fmt::format("{}\n{}", text, paragraphs(get_footer()));
}

CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest) {
  const auto refuse = [lowest, highest](std::string& input) -> std::string {
    std::int64_t value = 0;
    if (!CLI::detail::lexical_cast(input, value)) return fmt::format("'{}' is not a whole number", printable(input));
    if (value >= lowest && value <= highest) return {};
    if (highest == std::numeric_limits<std::int64_t>::max())
      return fmt::format("{} is out of range: {} or more", printable(input), lowest);
    return fmt::format("{} is out of range: {} to {}", printable(input), lowest, highest);
  };
  return CLI::Validator(refuse, "");
}

void repeated(CLI::Option* option, const char* text) {
  option->option_text(text)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
}

}  // namespace tally::cli
