#include "tally/output/data/chrome_trace.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tally/core/base/json_text.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {
namespace {

class ChromeTrace final : public WindowWriter {
 public:
  void begin(const result::WindowsHead& head, std::string& to) override {
    head_ = head;
    for (const result::EventCount& event : head.events)
      names_.push_back(json_text(nlohmann::ordered_json(event.name.text())));
    for (const result::WindowTrigger& trigger : head.triggers)
      triggers_.push_back(json_text(nlohmann::ordered_json(trigger.event.text())));
    nlohmann::ordered_json absent;
    for (const result::EventCount& event : head.events)
      if (event.count.trust == Trust::absent) absent[event.name.text()] = "absent: " + event.count.reason;
    if (!absent.empty()) to += R"({"otherData":)" + json_text(absent) + ",";
    to += chrome_trace_begin.substr(absent.empty() ? 0 : 1);
  }

  void row(const result::Window& window, std::string& to) override {
    const auto [before, is_first] = ends_.try_emplace({window.pid, window.tid}, first_begin(window));
    const double end = microseconds(window.time), begin = microseconds(before->second);
    before->second = window.time;
    auto out = std::back_inserter(to);
    fmt::format_to(
        out,
        R"({}{{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":"window {}","args":{{"ended by":{},"length":{})",
        std::exchange(between_, ",\n"), window.pid, window.tid, begin, end - begin, window.number,
        window.trigger ? triggers_[*window.trigger] : R"("end")", window.length);
    if (window.address != 0) fmt::format_to(out, R"(,"address":"{:#x}")", window.address);
    if (window.lost != 0) fmt::format_to(out, R"(,"lost":{})", window.lost);
    for (std::size_t i = 0; i < head_.places.size(); ++i)
      if (head_.places[i]) fmt::format_to(out, ",{}:{}", names_[i], window.counts[*head_.places[i]]);
    to += "}}";
    if (end <= begin) return;
    for (std::size_t i = 0; i < head_.places.size(); ++i) {
      if (!head_.places[i]) continue;
      fmt::format_to(out,
                     ",\n"
                     R"({{"ph":"C","pid":{},"tid":{},"id":{},"ts":{:.3f},"name":{},"args":{{"for each us":{:.6g}}}}})",
                     window.pid, window.tid, window.tid, begin, names_[i],
                     static_cast<double>(window.counts[*head_.places[i]]) / (end - begin));
    }
  }

  void end(const result::WindowsHead& /*head*/, std::string& to) override { to += "\n]}\n"; }

 private:
  /// Returns when the first window of a thread began. The command's first thread begins with the measurement; for other
  /// threads the begin is not recorded, so their first slice has no length.
  Nanoseconds first_begin(const result::Window& window) const {
    const bool is_of_command = !head_.command.empty() && file_name(head_.command.front()) == window.program;
    const bool is_first_thread = ends_.empty() && window.pid == window.tid && head_.start.empty();
    return is_of_command && is_first_thread ? Nanoseconds{0} : window.time;
  }
  static double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

  result::WindowsHead head_;
  std::vector<std::string> names_, triggers_;
  std::map<std::pair<std::int64_t, std::int64_t>, Nanoseconds> ends_;
  const char* between_ = "\n";
};

}  // namespace

std::unique_ptr<WindowWriter> make_chrome_trace() { return std::make_unique<ChromeTrace>(); }

}  // namespace tally::output
