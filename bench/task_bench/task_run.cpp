#include "bench/task_bench/task_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::tasks {

/// No-op if there is one thread.
class TaskRun::Lock {
 public:
  explicit Lock(TaskRun& run) : mutex_(run.options_.threads > 1 ? &run.mutex_ : nullptr) {
    if (mutex_) mutex_->lock();
  }
  ~Lock() {
    if (mutex_) mutex_->unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::mutex* mutex_;
};

TaskRun::TaskRun(const TaskGraph& graph, const Comm& comm, TaskRunOptions options)
    : graph_(graph), options_(options), plan_(graph, comm.rank(), comm.size()), comm_(comm.handle()),
      exchange_(comm_, plan_.largest_sent(), options.shared_memory), states_(plan_.values()) {
  urgent_.reserve(plan_.own_tasks());
  others_.reserve(plan_.own_tasks());
}

/// Everything as before the first task; the barrier keeps values of this run from ranks that are still in the last one.
void TaskRun::begin() {
  for (std::uint32_t v = 0; v < plan_.own_tasks(); ++v)  // values kept from the last run
    if (states_[v].data) heap_.give(const_cast<std::byte*>(states_[v].data), plan_.value(v).bytes);
  for (std::uint32_t v = 0; v < plan_.values(); ++v)
    states_[v] = {nullptr, plan_.value(v).readers + plan_.value(v).ranks, false};
  urgent_.clear();
  others_.clear();
  urgent_taken_ = others_taken_ = 0;
  missing_.resize(plan_.own_tasks());
  for (std::uint32_t k = 0; k < plan_.own_tasks(); ++k) {
    missing_[k] = plan_.own(k).inputs;
    if (missing_[k] == 0) ready(k);
  }
  left_ = plan_.own_tasks();
  lent_ = 0;
  running_ = 0;
  ended_ = false;
  failure_ = nullptr;
  comm_.barrier();
}

TaskRunReport TaskRun::run() {
  begin();
  const std::int64_t messages = exchange_.messages(), bytes = exchange_.bytes();
  const double start = wall_seconds();
  std::vector<std::thread> threads;
  for (int k = 1; k < options_.threads; ++k) threads.emplace_back([this] { work_beside(); });
  try {
    work();
  } catch (...) {
    const Lock lock(*this);
    if (!failure_) failure_ = std::current_exception();
  }
  ended_ = true;
  for (std::thread& thread : threads) thread.join();
  if (failure_) std::rethrow_exception(failure_);
  exchange_.finish();
  return {wall_seconds() - start, plan_.own_tasks(), exchange_.messages() - messages, exchange_.bytes() - bytes};
}

void TaskRun::work() {
  std::vector<Input> inputs;
  double since = 0.0;
  const std::function<void()> serve = [this] {
    receive();
    deliver();
  };
  for (;;) {
    const bool came = receive();
    const bool ran = run_one(inputs, serve);
    deliver();
    {
      const Lock lock(*this);
      if (failure_ || (left_ == 0 && lent_ == 0 && errands_.empty() && returns_.empty())) return;
    }
    if (came || ran)
      since = 0.0;
    else
      idle(since);
  }
}

void TaskRun::work_beside() {
  std::vector<Input> inputs;
  const std::function<void()> nothing = [] {};  // messages are those of the thread that called
  try {
    while (!ended_ && left_ > 0)
      if (!run_one(inputs, nothing)) std::this_thread::yield();
  } catch (...) {
    const Lock lock(*this);
    if (!failure_) failure_ = std::current_exception();
  }
}

/// False when no task is ready.
bool TaskRun::run_one(std::vector<Input>& inputs, const std::function<void()>& breathe) {
  std::uint32_t own = 0;
  std::byte* output = nullptr;
  {
    const Lock lock(*this);
    if (!take(own)) return false;
    inputs.clear();
    for (const std::uint32_t v : plan_.inputs(own)) inputs.emplace_back(states_[v].data, plan_.value(v).bytes);
    output = room_for(own);
    ++running_;
  }
  graph_.run_long(plan_.value(own).task, inputs, {output, plan_.value(own).bytes}, breathe);
  const Lock lock(*this);
  --running_;
  complete(own);
  return true;
}

/// A value too large for a note, and read elsewhere, is allocated in shared memory.
std::byte* TaskRun::room_for(std::uint32_t own) {
  const auto& value = plan_.value(own);
  State& state = states_[own];
  std::byte* room = value.ranks > 0 && value.bytes > Note::room ? exchange_.take_shared(value.bytes) : nullptr;
  state.shared = room != nullptr;
  if (!room) room = heap_.take(value.bytes);
  state.data = room;
  return room;
}

void TaskRun::ready(std::uint32_t own) { (plan_.value(own).ranks > 0 ? urgent_ : others_).push_back(own); }

bool TaskRun::take(std::uint32_t& own) {
  if (urgent_taken_ < urgent_.size())
    own = urgent_[urgent_taken_++];
  else if (others_taken_ < others_.size())
    own = others_[others_taken_++];
  else
    return false;
  return true;
}

void TaskRun::complete(std::uint32_t own) {
  for (const int rank : plan_.ranks_of(own)) errands_.push_back({own, rank});
  for (const std::uint32_t reader : plan_.readers(own))
    if (--missing_[reader] == 0) ready(reader);
  for (const std::uint32_t v : plan_.inputs(own)) drop_use(v);
  --left_;
}

/// The last use of a value frees its room.
void TaskRun::drop_use(std::uint32_t v) {
  State& state = states_[v];
  if (--state.uses > 0) return;
  auto* const data = const_cast<std::byte*>(state.data);
  const auto& value = plan_.value(v);
  const bool of_others = v >= plan_.own_tasks();
  if (!state.shared)
    heap_.give(data, value.bytes);
  else if (of_others)
    returns_.push_back({v, value.home});
  else
    exchange_.give_shared(data, value.bytes);
  state.data = nullptr;
}

/// Sends pending values. If a queue is full, incoming messages are received first: their senders may be waiting for
/// that.
void TaskRun::deliver() {
  for (;;) {
    Errand errand{};
    State state;
    bool giving_back = false;
    {
      const Lock lock(*this);
      if (errands_.empty() && returns_.empty()) return;
      giving_back = errands_.empty();
      auto& list = giving_back ? returns_ : errands_;
      errand = list.back();
      list.pop_back();
      state = states_[errand.value];  // if it is sent, it has a use left: this errand
    }
    const auto& value = plan_.value(errand.value);
    if (giving_back) {
      while (!exchange_.give_back(errand.rank, value.task)) receive();
      continue;
    }
    auto sent = TaskExchange::Sent::no_room;
    while ((sent = exchange_.send(errand.rank, value.task, {state.data, value.bytes}, state.shared)) ==
           TaskExchange::Sent::no_room)
      receive();
    const Lock lock(*this);
    if (sent == TaskExchange::Sent::lent)
      ++lent_;  // its return cannot have been received yet
    else
      drop_use(errand.value);
  }
}

bool TaskRun::receive() {
  const auto room = [this](std::size_t bytes) {
    const Lock lock(*this);
    return heap_.take(bytes);
  };
  return exchange_.receive(room, [this](const TaskExchange::Arrival& arrival) {
    const Lock lock(*this);
    arrived(arrival);
  });
}

void TaskRun::arrived(const TaskExchange::Arrival& arrival) {
  const std::uint32_t v = plan_.value_of(arrival.task);
  if (arrival.kind == TaskExchange::Kind::returned) {
    --lent_;
    drop_use(v);
    return;
  }
  State& state = states_[v];
  state.shared = arrival.kind == TaskExchange::Kind::lent;
  if (state.shared || arrival.kind == TaskExchange::Kind::placed) {
    state.data = arrival.value;
  } else {
    std::byte* const copy = heap_.take(arrival.bytes);
    std::memcpy(copy, arrival.value, arrival.bytes);
    state.data = copy;
  }
  for (const std::uint32_t reader : plan_.readers(v))
    if (--missing_[reader] == 0) ready(reader);
}

/// `since`: when nothing was to do for the first time; 0: just now.
void TaskRun::idle(double& since) {
  constexpr double patience = 20e-6;  // then others may have the core, who may be those that are waited for
  const double now = wall_seconds();
  if (since == 0.0) since = now;
  if (now - since > patience) std::this_thread::yield();
  if (options_.silence > 0.0 && now - since > options_.silence && comm_.size() > 1) {
    const Lock lock(*this);
    if (running_ == 0 && urgent_taken_ == urgent_.size() && others_taken_ == others_.size()) report_silence();
  }
}

void TaskRun::report_silence() const {
  for (std::uint32_t v = plan_.own_tasks(); v < plan_.values(); ++v)
    if (!states_[v].data && states_[v].uses > 0)
      throw NumericalError(fmt::format(
          "rank {} has sent nothing for {:g} s; rank {} waits for task {} and has {} of {} tasks left. Look at the "
          "machine of rank {}",
          plan_.value(v).home, options_.silence, comm_.rank(), plan_.value(v).task, left_.load(), plan_.own_tasks(),
          plan_.value(v).home));
  throw NumericalError(fmt::format("no rank has given back what rank {} lent it for {:g} s; look at the machines",
                                   comm_.rank(), options_.silence));
}

std::span<const std::byte> TaskRun::kept(std::int64_t task) const {
  if (!plan_.knows(task)) return {};
  const std::uint32_t v = plan_.value_of(task);
  if (v >= plan_.own_tasks() || plan_.value(v).readers + plan_.value(v).ranks > 0 || !states_[v].data) return {};
  return {states_[v].data, plan_.value(v).bytes};
}

}  // namespace cambium::tasks
