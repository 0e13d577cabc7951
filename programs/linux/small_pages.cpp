#include "programs/linux/small_pages.hpp"

#include <sys/prctl.h>

namespace tally::linux {

SmallPages::SmallPages() : before_(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0)) {
  if (before_ == 0) (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

SmallPages::~SmallPages() {
  if (before_ == 0) (void)prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

}  // namespace tally::linux
