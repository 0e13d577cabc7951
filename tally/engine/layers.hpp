/// The layers of the engine above its common base. Each layer sees the declarations of those before it.
///
/// - translate   decoding, traces, the code cache, reoptimization, the program's executable memory
/// - instrument  code that is added to traces: machine models, marks
/// - persist     translations that are stored for other programs and later runs
/// - guest       the program's threads, processes, signals, system calls and memory; the engine's main loop
#pragma once

namespace tally::engine {

namespace translate {}

namespace instrument {
using namespace translate;
}

namespace persist {
using namespace translate;
using namespace instrument;
}  // namespace persist

namespace guest {
using namespace translate;
using namespace instrument;
using namespace persist;
}  // namespace guest

}  // namespace tally::engine
