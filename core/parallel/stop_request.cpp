#include "core/parallel/stop_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium {

namespace {

// A signal handler can access only globals; they are confined to this file.
volatile std::sig_atomic_t received = 0;
volatile std::time_t received_at = 0;
std::atomic<std::atomic<int>*> noted{nullptr};
static_assert(std::atomic<std::atomic<int>*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void on_signal(int number) {
  if (received == number && number == SIGINT) {  // a second Ctrl-C means it
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  // A program that is still running some seconds after the first request hangs in a library; the second one ends it.
  constexpr std::time_t patience = 5;
  if (received == number && number == SIGTERM && std::time(nullptr) - received_at >= patience) {
    std::signal(SIGTERM, SIG_DFL);
    std::raise(SIGTERM);
  }
  if (received != number) received_at = std::time(nullptr);
  received = number;
  if (std::atomic<int>* const place = noted) *place = 1;
}

constexpr std::array<int, 3> watched{SIGTERM, SIGUSR1, SIGINT};

std::string name_of(int number) { return number == SIGTERM ? "SIGTERM" : number == SIGUSR1 ? "SIGUSR1" : "SIGINT"; }

}  // namespace

StopRequest::StopRequest(const Comm& comm, double start, double wall_limit)
    : comm_(comm), start_(start), wall_limit_(wall_limit), last_agreement_(wall_seconds()) {
  listen();
}

void StopRequest::listen() {
  for (int number : watched) std::signal(number, on_signal);
}

void StopRequest::note_in(std::atomic<int>* place) { noted = place; }

StopRequest::~StopRequest() {
  received = 0;
  for (int number : watched) std::signal(number, SIG_DFL);
}

void StopRequest::require_directory(bool look) const {
  if (const std::string text = lost_ ? lost_(look) : ""; !text.empty()) throw InputError(text);
}

bool StopRequest::agreed_before_stage() {
  last_step_ = 0;
  interval_ = 1;
  const bool stop = agreed(1);
  last_step_ = 0;
  interval_ = 1;
  return stop;
}

bool StopRequest::agreed(std::int64_t step) {
  if (step - last_step_ < interval_) return false;
  const double now = wall_seconds();
  // Rank 0's clock decides, so that every rank waits the same number of steps.
  const double since = now - last_agreement_, per_step = since / static_cast<double>(step - last_step_);
  const bool out_of_time = wall_limit_ > 0.0 && now - start_ > wall_limit_;
  const std::string lost = lost_ ? lost_(false) : "";
  std::array<double, 4> notes{static_cast<double>(received), out_of_time ? 1.0 : 0.0,
                              comm_.root() ? std::clamp(0.5 / std::max(per_step, 1e-9), 1.0, 1e6) : 0.0,
                              lost.empty() ? 0.0 : 1.0};
  comm_.max(notes);
  if (notes[3] > 0.0)
    throw InputError(lost);  // the lowest rank holds the directory, and its message is the one
                             // reported
  interval_ = static_cast<std::int64_t>(std::min(notes[2], 4.0 * static_cast<double>(interval_)));
  if (interval_ < 1) interval_ = 1;
  last_step_ = step;
  last_agreement_ = now;
  if (notes[0] > 0.0)
    reason_ = "signal " + name_of(static_cast<int>(notes[0]));
  else if (notes[1] > 0.0)
    reason_ = fmt::format("the wall-time limit of {:g} s", wall_limit_);
  return !reason_.empty();
}

bool StopRequest::asked() const {
  return received != 0 || (wall_limit_ > 0.0 && wall_seconds() - start_ > wall_limit_);
}

}  // namespace cambium
