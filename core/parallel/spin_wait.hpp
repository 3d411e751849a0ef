#pragma once
#include <thread>

#include "core/base/recorder.hpp"
#include "core/base/wait_clock.hpp"

namespace cambium {

/// Polls `there()`; soon yields the core, which the awaited ranks may need.
template <class F>
void spin_wait(F&& there) {
  if (there()) return;
  const Waiting waiting;
  const Region region("shared memory: wait for other ranks", WorkKind::communication);
  constexpr int patience = 2000;
  for (int turn = 0; !there(); ++turn) {
    if (turn > patience) std::this_thread::yield();
#if defined(__x86_64__)
    else
      __builtin_ia32_pause();
#endif
  }
}

}  // namespace cambium
