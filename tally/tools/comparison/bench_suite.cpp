#include "tally/tools/comparison/bench_suite.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::comparison {
namespace {

constexpr const char* suite_example =
    "for example: [[benchmark]] and below it: name = \"parse\" and command = [\"./prog\", \"-p\"]";

class Suite {
 public:
  explicit Suite(const std::string& name) : name_(printable(name)) {}

  Result<std::vector<Benchmark>> parse(std::string_view text) {
    try {
      const toml::table document = toml::parse(text, name_);
      if (auto read = read_document(document); !read) return fail(read.error());
    } catch (const toml::parse_error& error) {
      return fail(wrong(error.source(), printable(std::string(error.description())), suite_example));
    }
    if (benchmarks_.empty())
      return fail(Code::bad_usage, fmt::format("{}: the file has no benchmark", name_), suite_example);
    return std::move(benchmarks_);
  }

 private:
  Error wrong(const toml::source_region& where, const std::string& what, std::string hint) const {
    return {Code::bad_usage, fmt::format("{}:{}: {}", name_, static_cast<unsigned>(where.begin.line), what),
            std::move(hint), 0};
  }

  Result<void> read_document(const toml::table& document) {
    // The defaults first, wherever they are in the file.
    if (const toml::node* const node = document.get("defaults")) {
      if (!node->is_table()) return fail(wrong(node->source(), "'defaults' is not a table", "write [defaults]"));
      if (auto read = read_table(*node->as_table(), defaults_, false); !read) return read;
    }
    for (const auto& [key, value] : document) {
      if (key == "defaults") continue;
      if (key != "benchmark")
        return fail(wrong(key.source(), fmt::format("unknown key '{}'", printable(std::string(key.str()))),
                          "the tables are [defaults] and [[benchmark]]"));
      const toml::array* const list = value.as_array();
      if (list == nullptr)
        return fail(wrong(key.source(), "'benchmark' is not a list of tables", "write [[benchmark]]"));
      for (const toml::node& one : *list)
        if (auto added = add(one); !added) return added;
    }
    return {};
  }

  Result<void> add(const toml::node& node) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return fail(wrong(node.source(), "a benchmark is not a table", "write [[benchmark]]"));
    Benchmark one = defaults_;
    if (auto read = read_table(*table, one, true); !read) return read;
    if (one.name.empty()) return fail(wrong(node.source(), "the benchmark has no name", suite_example));
    if (one.name.find('/') != std::string::npos || one.name.starts_with('.'))
      return fail(wrong(node.source(), fmt::format("the name '{}' is no file name", printable(one.name)),
                        "use a name without '/' that does not begin with '.'"));
    if (one.command.empty())
      return fail(wrong(node.source(), fmt::format("'{}' has no command", printable(one.name)), suite_example));
    if (one.is_profile && one.repeats > 1)
      return fail(wrong(node.source(), fmt::format("'{}' has several repeats and a profile", printable(one.name)),
                        "a profile records one run: remove 'repeats' or 'profile'"));
    if (std::any_of(benchmarks_.begin(), benchmarks_.end(),
                    [&](const Benchmark& other) { return other.name == one.name; }))
      return fail(wrong(node.source(), fmt::format("two benchmarks are called '{}'", printable(one.name)),
                        "use another name for one of them"));
    benchmarks_.push_back(std::move(one));
    return {};
  }

  Result<void> read_table(const toml::table& table, Benchmark& to, bool is_benchmark) {
    for (const auto& [key, value] : table) {
      Result<void> read;
      if (key == "name" && is_benchmark)
        read = read_text(key, value, to.name);
      else if (key == "command" && is_benchmark)
        read = read_list(key, value, to.command);
      else if (key == "directory")
        read = read_text(key, value, to.directory);
      else if (key == "events")
        read = read_list(key, value, to.events);
      else if (key == "fail-above")
        read = read_list(key, value, to.fail_above);
      else if (key == "warn-above")
        read = read_list(key, value, to.warn_above);
      else if (key == "repeats" && value.is_integer() && value.as_integer()->get() > 0)
        to.repeats = value.as_integer()->get();
      else if (key == "repeatable" && value.is_boolean())
        to.is_repeatable = value.as_boolean()->get();
      else if (key == "profile" && value.is_boolean())
        to.is_profile = value.as_boolean()->get();
      else
        read = fail(unknown(key));
      if (!read) return read;
    }
    return {};
  }

  Error unknown(const toml::key& key) const {
    if (key == "repeats") return wrong(key.source(), "'repeats' is not a number above 0", "for example: repeats = 5");
    for (const char* const flag : {"repeatable", "profile"})
      if (key == flag)
        return wrong(key.source(), fmt::format("'{}' is neither true nor false", flag),
                     fmt::format("for example: {} = true", flag));
    return wrong(
        key.source(), fmt::format("unknown key '{}'", printable(std::string(key.str()))),
        "the keys are name, command, directory, events, profile, repeats, repeatable, fail-above and warn-above");
  }

  Result<void> read_text(const toml::key& key, const toml::node& value, std::string& to) const {
    if (!value.is_string())
      return fail(wrong(key.source(), fmt::format("'{}' is not a text", std::string(key.str())), suite_example));
    to = value.as_string()->get();
    return {};
  }

  Result<void> read_list(const toml::key& key, const toml::node& value, std::vector<std::string>& to) const {
    const auto refuse = [&] {
      const std::string name(key.str());
      return fail(wrong(key.source(), fmt::format("'{}' is not a list of texts", name),
                        fmt::format("for example: {} = [\"{}\"]", name,
                                    name == "command"  ? "./prog\", \"--fast"
                                    : name == "events" ? "instructions"
                                                       : "instructions=1%")));
    };
    if (!value.is_array()) return refuse();
    to.clear();
    for (const toml::node& one : *value.as_array()) {
      if (!one.is_string()) return refuse();
      to.push_back(one.as_string()->get());
    }
    return {};
  }

  std::string name_;
  Benchmark defaults_;
  std::vector<Benchmark> benchmarks_;
};

}  // namespace

Result<std::vector<Benchmark>> parse_suite(std::string_view text, const std::string& name) {
  return Suite(name).parse(text);
}

}  // namespace tally::comparison
