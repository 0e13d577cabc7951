#include "programs/results/bench_suite.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "programs/results/bench_frameworks.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/setting.hpp"

namespace tally::results {
namespace {

// Measured in docs/guides/ci.md. With --clock counted, timers of the runtime depend on what the program executes.
constexpr Language languages[] = {
    {"go", "GOGC", "off", "", ""},
    {"java", "JAVA_TOOL_OPTIONS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xbatch -XX:CICompilerCount=1", "", ""},
    {"node", "", "", "--predictable",
     "--perf-basic-prof --no-logfile-per-isolate --logfile=+"},  // without its log, a file isolate*.log
};

constexpr const char* suite_example =
    "for example: [[benchmark]] and below it: name = \"parse\" and command = [\"./prog\", \"-p\"]";

class Suite {
 public:
  explicit Suite(const std::string& name) : name_(printable(name)) {}

  Result<std::vector<Benchmark>> parse(std::string_view text, std::vector<std::string>* removed) {
    try {
      const toml::table document = toml::parse(text, name_);
      if (auto read = read_document(document); !read) return fail(read.error());
    } catch (const toml::parse_error& error) {
      return fail(wrong(error.source(), printable(std::string(error.description())), suite_example));
    }
    if (benchmarks_.empty())
      return fail(Code::bad_usage, fmt::format("{}: the file has no benchmark", name_), suite_example);
    if (removed != nullptr) *removed = std::move(removed_);
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
      if (key == "removed") {
        if (auto read = read_list(key, value, removed_); !read) return read;
        continue;
      }
      if (key != "benchmark")
        return fail(wrong(key.source(), fmt::format("unknown key '{}'", printable(std::string(key.str()))),
                          "the tables are [defaults] and [[benchmark]]; above them, a list 'removed'"));
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
    if (std::any_of(benchmarks_.begin(), benchmarks_.end(),
                    [&](const Benchmark& other) { return other.file_name() == one.file_name(); }))
      return fail(wrong(node.source(), fmt::format("two benchmarks are called '{}'", printable(one.name)),
                        "use another name for one of them"));
    if (const auto conflict = set_framework(one)) return fail(wrong(node.source(), conflict->message, conflict->hint));
    // Languages with settings have several threads, whose counts need five runs to be compared.
    if (one.repeats == 0 && one.language != nullptr) one.repeats = repeats_that_decide;
    set_language(one);
    benchmarks_.push_back(std::move(one));
    return {};
  }

  /// Sets the framework's clock. Returns why another key cannot be combined with the framework.
  static std::optional<Error> set_framework(Benchmark& benchmark) {
    if (benchmark.framework == nullptr) return std::nullopt;
    const std::string fixed(benchmark.framework->clock);
    if (!fixed.empty()) benchmark.settings.try_emplace("clock", fixed);
    const auto refuse = [&](const char* key, const char* hint) {
      return Error{
          Code::bad_usage,
          fmt::format("'{}' has a framework, which cannot be combined with {}", printable(benchmark.name), key), hint,
          0};
    };
    if (fixed == "counted" && benchmark.settings.find("clock")->second != fixed)
      return refuse("another clock than \"counted\"", "omit clock");
    if (benchmark.is_profile) return refuse("profile", "write profile = false");
    if (benchmark.language != nullptr) return refuse("language", "omit one of them");
    return std::nullopt;
  }

  /// Applies the settings of the language, except those that the suite has.
  static void set_language(Benchmark& benchmark) {
    if (benchmark.language == nullptr) return;
    const Language& language = *benchmark.language;
    benchmark.settings.try_emplace("clock", "counted");
    std::string& environment = benchmark.settings.try_emplace("environment", "own").first->second;
    if (environment.starts_with("fixed") && !language.variable.empty())
      environment += fmt::format(",{}", language.variable);
    if (!language.option.empty()) benchmark.command.insert(benchmark.command.begin() + 1, std::string(language.option));
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
      else if (key == "timeout" && value.is_integer() && value.as_integer()->get() > 0)
        to.timeout_s = value.as_integer()->get();
      else if (key == "stdin")
        read = read_text(key, value, to.input);
      else if (key == "accept")
        read = read_text(key, value, to.accepted);
      else if (key == "language")
        read = read_language(key, value, to);
      else if (key == "framework")
        read = read_framework(key, value, to);
      else if (key == "profile" && value.is_boolean())
        to.is_profile = value.as_boolean()->get();
      else if (const auto* const setting = setting_of(key))
        read = read_setting(key, value, *setting, to);
      else
        read = fail(unknown(key));
      if (!read) return read;
    }
    return {};
  }

  Error unknown(const toml::key& key) const {
    if (key == "repeats") return wrong(key.source(), "'repeats' is not a number above 0", "for example: repeats = 5");
    if (key == "timeout")
      return wrong(key.source(), "'timeout' is not a whole number of seconds above 0", "for example: timeout = 60");
    if (key == "profile") return no_boolean(key);
    std::string keys =
        "the keys are name, command, directory, stdin, timeout, events, profile, repeats, language, framework, "
        "fail-above, warn-above, accept";
    for (const result::RunSetting& setting : result::run_settings) keys += fmt::format(", {}", setting.name);
    return wrong(key.source(), fmt::format("unknown key '{}'", printable(std::string(key.str()))), keys);
  }

  Error no_boolean(const toml::key& key) const {
    return wrong(key.source(), fmt::format("'{}' is neither true nor false", key.str()),
                 fmt::format("for example: {} = true", key.str()));
  }

  static const result::RunSetting* setting_of(const toml::key& key) {
    const auto* const setting = std::ranges::find(result::run_settings, key.str(), &result::RunSetting::name);
    return setting == std::end(result::run_settings) ? nullptr : setting;
  }

  Result<void> read_language(const toml::key& key, const toml::node& value, Benchmark& to) const {
    std::string name;
    if (auto read = read_text(key, value, name); !read) return read;
    const auto* const language = std::ranges::find(languages, name, &Language::name);
    std::vector<std::string> names;
    for (const Language& other : languages) names.emplace_back(other.name);
    if (language == std::end(languages))
      return fail(wrong(key.source(), fmt::format("unknown language '{}'", printable(name)),
                        fmt::format("the languages are {}; others need no settings", join(names, ", "))));
    to.language = language;
    return {};
  }

  Result<void> read_framework(const toml::key& key, const toml::node& value, Benchmark& to) const {
    std::string name;
    if (auto read = read_text(key, value, name); !read) return read;
    to.framework = framework_named(name);
    if (to.framework != nullptr) return {};
    return fail(wrong(key.source(), fmt::format("unknown framework '{}'", printable(name)),
                      fmt::format("tally lists the benchmarks of {}", framework_names())));
  }

  Result<void> read_setting(const toml::key& key, const toml::node& value, const result::RunSetting& setting,
                            Benchmark& to) const {
    std::string& text = to.settings[std::string(setting.name)];
    if (setting.is_flag && !value.is_boolean()) return fail(no_boolean(key));
    if (setting.is_flag) {
      text = value.as_boolean()->get() ? "on" : "off";
      return {};
    }
    if (value.is_integer())
      text = std::to_string(value.as_integer()->get());
    else if (auto read = read_text(key, value, text); !read)
      return read;
    return {};
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
                                    name == "command"   ? "./prog\", \"--fast"
                                    : name == "removed" ? "parse"
                                    : name == "events"  ? "instructions"
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
  std::vector<std::string> removed_;
  std::vector<Benchmark> benchmarks_;
};

}  // namespace

std::vector<std::string> Benchmark::setting_options() const {
  std::vector<std::string> words;
  for (const result::RunSetting& setting : result::run_settings) {
    const auto value = settings.find(setting.name);
    if (value == settings.end() || (setting.is_flag && value->second == "off")) continue;
    words.push_back(fmt::format("--{}", setting.name));
    if (!setting.is_flag) words.push_back(value->second);
  }
  return words;
}

std::string Benchmark::file_name() const {
  std::string file = name;
  for (char& character : file)
    if (std::string_view("\":<>|*?\r\n").find(character) != std::string_view::npos) character = '-';
  return file;
}

std::optional<Nanoseconds> Benchmark::timeout_of(std::int64_t runs) const {
  if (timeout_s == 0) return std::nullopt;
  return std::chrono::seconds(timeout_s * runs);
}

std::string Benchmark::language_text() const {
  if (language == nullptr) return "";
  std::vector<std::string> words;
  if (!language->variable.empty()) words.push_back(fmt::format("{}={}", language->variable, language->value));
  if (!language->option.empty()) words.emplace_back(language->option);
  words.push_back(fmt::format("--clock {}", settings.find("clock")->second));
  return fmt::format("{}: {}", language->name, join(words, ", "));
}

Result<std::vector<Benchmark>> parse_suite(std::string_view text, const std::string& name,
                                           std::vector<std::string>* removed) {
  return Suite(name).parse(text, removed);
}

}  // namespace tally::results
