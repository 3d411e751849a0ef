#include "core/base/wait_clock.hpp"

#include <chrono>

namespace cambium {
namespace {

int clocks = 0;  ///< of all threads; the thread's own are checked only if there are any
thread_local int own_clocks = 0;
thread_local double waited = 0.0;
thread_local bool in_a_wait = false;

bool waits_are_counted() { return clocks > 0 && own_clocks > 0; }

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

WaitClock::WaitClock() : start_(waited) { ++clocks, ++own_clocks; }
WaitClock::~WaitClock() { --clocks, --own_clocks; }
double WaitClock::seconds() const { return waited - start_; }

Waiting::Waiting() {
  if (waits_are_counted() && !in_a_wait) {
    in_a_wait = true;
    start_ = steady_seconds();
  }
}
Waiting::~Waiting() {
  if (start_ < 0.0) return;
  waited += steady_seconds() - start_;
  in_a_wait = false;
}

}  // namespace cambium
