#include "programs/watch/output/watch_result.hpp"

namespace tally::result {

const char* name(WatchKind kind) {
  switch (kind) {
    case WatchKind::core: return "core";
    case WatchKind::socket: return "socket";
    case WatchKind::system: return "system";
    case WatchKind::process: return "process";
    case WatchKind::group: return "group";
  }
  return "";
}

}  // namespace tally::result
