// Programs that deny themselves memory of key 0, which is the engine's.
#include "tally/engine/translate/protection_keys.hpp"

#include "tally/engine/guest/signals.hpp"

namespace tally::engine::guest {

extern "C" void own_key_denied(Thread* t) { leave(t, channel::partial_protection_keys); }

}  // namespace tally::engine::guest
