#include "tally/hardware/event/list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::event {
namespace {

constexpr const char* list_usage =
    "separate names with commas and put groups in braces: -e instructions,{loads,stores}";

class Splitter {
 public:
  Splitter(std::string_view list, int group) : list_(list), last_group_(group) {}

  Result<std::vector<Item>> run() {
    for (at_ = 0; at_ < list_.size(); ++at_) {
      if (auto error = take(list_[at_])) return fail(*std::move(error));
    }
    if (in_slashes_) return wrong("the second '/' of an event is missing");
    if (group_ != 0) return wrong("a '}' is missing");
    if (auto error = end_item()) return fail(*std::move(error));
    return std::move(items_);
  }

 private:
  Error wrong_here(std::string_view what) const {
    return {Code::bad_usage, fmt::format("{} in '{}'", what, printable(list_)), list_usage, 0};
  }
  tl::unexpected<Error> wrong(std::string_view what) const { return fail(wrong_here(what)); }

  std::optional<Error> take(char c) {
    if (c == '/') in_slashes_ = !in_slashes_;
    if (in_slashes_ || (c != ',' && c != '{' && c != '}')) {
      if (after_group_ && c != ' ' && c != ':' && !in_modifiers_) return wrong_here("a comma is missing after a '}'");
      if (after_group_ && c == ':') in_modifiers_ = true;
      text_ += c;
      return std::nullopt;
    }
    if (c == ',') return end_item();
    if (c == '{') return begin_group();
    return end_group();
  }

  std::optional<Error> begin_group() {
    if (group_ != 0) return wrong_here("a group is inside another group");
    if (!trimmed(text_).empty() || after_group_) return wrong_here("a comma is missing before a '{'");
    text_.clear();
    group_ = ++last_group_;
    first_of_group_ = items_.size();
    return std::nullopt;
  }

  std::optional<Error> end_group() {
    if (group_ == 0) return wrong_here("a '}' closes nothing");
    if (auto error = end_item()) return error;
    group_ = 0;
    after_group_ = true;
    return std::nullopt;
  }

  // Called at a comma, a closing brace, or the end.
  std::optional<Error> end_item() {
    const std::string text = trimmed(text_);
    text_.clear();
    if (after_group_) {
      after_group_ = in_modifiers_ = false;
      if (text == ":") return wrong_here("missing modifier after ':'");
      for (std::size_t i = first_of_group_; i < items_.size(); ++i)
        items_[i].modifiers = text.empty() ? "" : text.substr(1);
      return std::nullopt;
    }
    if (text.empty()) return wrong_here("missing event name");
    if (text.find('/') == std::string::npos && text.find_first_of(" \t\n") != std::string::npos)
      return wrong_here("an event name contains a space");
    items_.push_back({text, group_, {}});
    return std::nullopt;
  }

  std::string_view list_;
  std::vector<Item> items_;
  std::string text_;
  std::size_t at_ = 0;
  std::size_t first_of_group_ = 0;
  int group_ = 0;
  int last_group_;
  bool in_slashes_ = false;
  bool after_group_ = false;
  bool in_modifiers_ = false;
};

}  // namespace

Result<std::vector<Item>> split_list(std::string_view list, int groups_before) {
  return Splitter(list, groups_before).run();
}

}  // namespace tally::event
