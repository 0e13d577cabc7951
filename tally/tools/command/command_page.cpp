#include "tally/tools/command/command_page.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/parallel_job.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/help_text.hpp"

namespace tally::command {
namespace {

// Extracts "tally stat" from "tally stat [options] …".
std::string command_name_of(const std::string& usage) { return usage.substr(0, usage.find(' ', usage.find(' ') + 1)); }

std::string not_a_number(const std::string& option, const std::string& value) {
  return fmt::format("{}: '{}' is not a number", option, printable(value));
}

// Rewrites CLI11's error messages.
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
    // CLI11 lists them in reverse order.
    std::vector<std::string> words = split(message.substr(extra.size()), ' ');
    const auto option = std::find_if(words.begin(), words.end(), [](const auto& one) { return one.starts_with('-'); });
    const std::string word = option != words.end() ? *option : words.back();
    if (word.starts_with("--")) unknown = word;
    message = fmt::format("{} '{}'", word.starts_with('-') ? "unknown option" : "unexpected argument", printable(word));
  }
  return {Code::bad_usage, std::move(message), page.options_hint(unknown), 0};
}

// Options by where the help describes them.
struct SortedOptions {
  std::vector<OptionDescription> arguments, own, grouped;

  explicit SortedOptions(const std::vector<OptionDescription>& options) {
    for (const OptionDescription& option : options)
      (option.is_positional() ? arguments : option.group == nullptr ? own : grouped).push_back(option);
  }
};

std::string head_of(const std::string& sentence, const std::string& usage) {
  return fmt::format("{}\nUsage: {}\n", in_lines("", sentence), usage);
}

}  // namespace

Option Option::value_name(const std::string& name) {
  option_->option_text(name);
  // An empty name is usually an unset variable of a script; without the check tally would silently ignore the option.
  if (name == "FILE")
    option_->check([](const std::string& value) { return std::string(value.empty() ? "the file name is empty" : ""); });
  return *this;
}

Option Option::check(ValueCheck check) {
  option_->check([check = std::move(check)](const std::string& value) { return check(value); });
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return this->words(words);
}

Option Option::renamed(const std::string& word, const std::string& current) {
  return check([word, current](const std::string& value) {
    return value == word ? fmt::format("'{}' is now called '{}'", word, current) : "";
  });
}

Option Option::output_file() {
  option_->transform([](const std::string& name) { return linux::name_of_process(name); });
  return value_name("FILE");
}

Option Option::words(std::vector<std::string> words) {
  details_->words = std::move(words);
  return *this;
}

Option Option::words_of(std::vector<std::string> (*read_words)()) {
  details_->read_words = read_words;
  return *this;
}

Option Option::repeated() {
  option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return one_value();
}

Option Option::one_value() {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::separated_by(char separator) {
  option_->delimiter(separator);
  return *this;
}

Option Option::hidden() {
  option_->group("");
  return *this;
}

Option Option::in(const OptionGroup& group) {
  details_->group = &group;
  return *this;
}

/// CLI11 compares each new option with all others, for which it copies their lists of names: that took a fifth of the
/// command's own time. Here it compares none; a test finds a name that a command has twice (shared_options_test.cpp).
class Page::App : public CLI::App {
 public:
  template <class Add>
  CLI::Option& add(Add&& add_to) {
    std::vector<CLI::Option_p> others;
    others.swap(options_);
    CLI::Option& option = *add_to(*this);
    others.push_back(std::move(options_.back()));
    options_.swap(others);
    return option;
  }
};

Page::Page() : app_(std::make_unique<App>()) {
  app_->set_help_flag("-h,--help", "print this help");
  app_->set_help_all_flag("--help-all")->group("");
}
Page::~Page() = default;

void Page::head(std::string sentence, std::string usage) {
  sentence_ = std::move(sentence);
  usage_ = std::move(usage);
}

Option Page::added(CLI::Option& option) {
  Option::Details& details = details_[&option];
  details.group = group_;
  return {option, details};
}

template <class T>
Option Page::add_option(const std::string& names, T& value, const std::string& text) {
  return added(app_->add([&](CLI::App& app) { return app.add_option(names, value, text); }));
}
// The types that options can have.
template Option Page::add_option(const std::string&, std::string&, const std::string&);
template Option Page::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Page::add_option(const std::string&, int&, const std::string&);
template Option Page::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Page::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Page::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Page::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option Page::add_option(const std::string&, std::optional<unsigned>&, const std::string&);
template Option Page::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option Page::add_option(const std::string&, std::optional<std::string>&, const std::string&);

Option Page::add_flag(const std::string& names, bool& value, const std::string& text) {
  return added(app_->add([&](CLI::App& app) { return app.add_flag(names, value, text); }));
}

void Page::prefix_command() { app_->prefix_command(); }
std::vector<std::string> Page::remaining() const { return app_->remaining(); }
bool Page::has(const std::string& name) const { return app_->count(name) > 0; }

Result<Page::Request> Page::parse(const std::vector<std::string>& arguments) {
  try {
    // CLI11 expects the arguments in reverse order.
    app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return Request::help;
  } catch (const CLI::CallForAllHelp&) {
    return Request::whole_help;
  } catch (const CLI::ParseError& error) {
    return fail(in_words(error, *this));
  }
  // CLI11 uses the next word as the value of "--name=". The remaining words are the program's.
  const std::size_t own = arguments.size() - std::min(arguments.size(), app_->remaining_size());
  for (std::size_t i = 0; i < own; ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1)
      return fail(Code::bad_usage, fmt::format("missing value after {}", printable(word)), options_hint(""));
  }
  return Request::measurement;
}

std::optional<int> Page::read(const std::vector<std::string>& arguments) {
  const auto request = parse(arguments);
  if (!request) return report_error(request.error());
  if (*request == Request::measurement) return std::nullopt;
  return print(*request == Request::help ? text() : whole_text());
}

std::vector<OptionDescription> Page::options() const {
  std::vector<OptionDescription> all;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    if (option->get_group().empty()) continue;
    OptionDescription& one = all.emplace_back();
    one.text = option->get_description();
    one.is_repeatable =
        option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll || option->get_items_expected_max() > 1;
    if (const auto details = details_.find(option); details != details_.end()) {
      const Option::Details& stored = details->second;
      one.words = stored.read_words != nullptr ? stored.read_words() : stored.words;
      one.group = stored.group;
    }
    if (option->get_positional()) {
      one.positional_name = option->get_name();
      continue;
    }
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    one.has_short_name = !one.names.empty();
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) one.value_name = option->get_option_text();
  }
  return all;
}

CommandDescription Page::description() const {
  return {"", "", sentence_, usage_, footer_, app_->get_prefix_command(), options()};
}

std::string Page::options_hint(const std::string& unknown) const {
  std::vector<std::string> names;
  for (const OptionDescription& option : options()) {
    for (const std::string& name : option.names)
      if (name.starts_with("--")) names.push_back(name);
  }
  auto near = unknown.starts_with("--") ? nearest(unknown, names) : std::vector<std::string>{};
  // A former name that has become shorter: --native-times is --native.
  if (near.empty())
    std::copy_if(names.begin(), names.end(), std::back_inserter(near),
                 [&](const std::string& name) { return unknown.starts_with(name + "-"); });
  return fmt::format("{}`{} --help` lists the options",
                     near.empty() ? "" : fmt::format("did you mean {}? ", near.front()), command_name_of(usage_));
}

std::string Page::text() const {
  const SortedOptions sorted(options());
  const std::string text = head_of(sentence_, usage_) + option_entries(sorted.arguments, "Arguments") +
                           option_entries(sorted.own, "Options") + group_entries(sorted.grouped);
  const std::string all = footer_.empty() ? text : fmt::format("{}\n{}", text, paragraphs(footer_));
  return line_count(all) <= two_screens ? all : brief_text();
}

std::string Page::brief_text() const {
  const SortedOptions sorted(options());
  const std::string text = head_of(sentence_, usage_) + brief_entries(sorted.arguments, "Arguments") +
                           brief_entries(sorted.own, "Options") + group_names(sorted.grouped);
  const std::string name = command_name_of(usage_);
  const std::string end =
      in_lines("", fmt::format("`tally help {}` prints all of it: whole texts, formats, exit codes.",
                               name.substr(name.find(' ') + 1)));
  const std::size_t used = line_count(text) + line_count(end) + 2;
  return text + "\n" + examples(footer_, two_screens - std::min(used, two_screens)) + "\n" + end;
}

std::string Page::whole_text() const {
  const SortedOptions sorted(options());
  const std::string text = head_of(sentence_, usage_) + option_entries(sorted.arguments, "Arguments") +
                           option_entries(sorted.own, "Options") + whole_groups(sorted.grouped);
  return footer_.empty() ? text : fmt::format("{}\n{}", text, paragraphs(footer_));
}

ValueCheck whole_number(std::int64_t lowest, std::int64_t highest) {
  return [lowest, highest](const std::string& input) -> std::string {
    std::int64_t value = 0;
    // CLI11 stores the nearest number that fits instead of reporting an error.
    errno = 0;
    const bool is_number = CLI::detail::lexical_cast(input, value);
    if (is_number && errno == ERANGE) return fmt::format("{} does not fit in 64 bits", printable(input));
    if (!is_number) return fmt::format("'{}' is not a whole number", printable(input));
    if (value >= lowest && value <= highest) return {};
    if (highest == std::numeric_limits<std::int64_t>::max())
      return fmt::format("{} is out of range: {} or more", printable(input), lowest);
    return fmt::format("{} is out of range: {} to {}", printable(input), lowest, highest);
  };
}

}  // namespace tally::command
