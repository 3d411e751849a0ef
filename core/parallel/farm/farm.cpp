#include "core/parallel/farm/farm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::tasks {

Farm::Farm(const Comm& comm, Log& log, FarmOptions options, EvaluatePiece evaluate)
    : comm_(comm), log_(log), options_(std::move(options)), evaluate_(std::move(evaluate)),
      workers_(static_cast<std::size_t>(comm.size())) {
  if (comm_.size() == 1) options_.root_works = true;
}

FarmReport Farm::run(WorkSource* source) {
  const double start = wall_seconds();
  source_ = source;
  report_ = {};
  report_.evaluators = comm_.size() - (options_.root_works ? 0 : 1);
  for (Worker& w : workers_) w = {};
  if (comm_.root())
    serve_all();
  else
    work();
  report_.seconds = wall_seconds() - start;
  return report_;
}

PieceResult Farm::evaluated(const Piece& piece, const Breathe& breathe) const {
  const double start = wall_seconds();
  PieceResult out;
  try {
    out = evaluate_(piece, breathe);
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& error) {
    out.failed = true;
    out.problem = error.what();
    out.of_input = dynamic_cast<const InputError*>(&error) != nullptr;
  }
  if (out.seconds == 0.0) out.seconds = wall_seconds() - start;
  return out;
}

// The ranks that work.

Piece Farm::wait_for_piece() const {
  for (;;) {
    auto piece = receive_piece(comm_, options_.hang_limit);
    if (!piece)
      throw InputError(
          fmt::format("rank 0 gives no sign of life for {:g} s: taken for hung. Everything finished is recorded; check "
                      "its machine, then {}",
                      options_.hang_limit, options_.go_on.empty() ? "run this again" : options_.go_on));
    if (piece->number != nothing_yet) return *std::move(piece);
  }
}

void Farm::work() {
  Piece ready;
  ready.number = no_more;
  send_result(ready, {}, comm_);
  for (Piece piece = wait_for_piece(); piece.number != no_more; piece = wait_for_piece()) {
    double said = wall_seconds();
    const PieceResult result = evaluated(piece, [&] {
      if (options_.hang_limit <= 0.0 || wall_seconds() - said < 0.1 * options_.hang_limit) return;
      said = wall_seconds();
      send_sign(comm_);
    });
    send_result(piece, result, comm_);
  }
}

// Rank 0.

bool Farm::done() const { return running_.empty() && source_->ended(); }

int Farm::lost() const {
  return static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [](const Worker& w) { return w.lost; }));
}

/// Pieces that wait for another turn come before new ones.
bool Farm::next(int worker, Piece& piece) {
  if (!waiting_.empty()) {
    Running& r = running_.at(waiting_.front());
    waiting_.pop_front();
    r.worker = worker;
    piece = r.piece;
    return true;
  }
  if (source_->ended() || !source_->next(worker, piece)) return false;
  piece.attempt = piece.turn = 1;
  running_.emplace(piece.number, Running{piece, worker});
  return true;
}

void Farm::finish(std::int64_t number, const PieceResult& result) {
  const auto node = running_.extract(number);
  ++report_.finished;
  if (result.failed) ++report_.failed;
  source_->finished(node.mapped().piece, result, node.mapped().worker);
}

/// True when a piece that failed gets another attempt.
bool Farm::again(std::int64_t number, const PieceResult& result) {
  Running& r = running_.at(number);
  if (!result.failed || r.piece.attempt > options_.retries) return false;
  ++r.piece.attempt;
  r.piece.turn = 1;
  waiting_.push_back(number);
  return true;
}

void Farm::take(const Sender& from, const PieceResult& result) {
  Worker& w = workers_[from.worker];
  w.alive = wall_seconds();
  if (w.lost) log_.warn(fmt::format("rank {} is back, and gets work again", of_run(from.worker)));
  w.lost = false;
  w.ready = true;
  w.has.erase(from.number);
  const auto found = running_.find(from.number);
  if (found == running_.end()) return;
  const Running& r = found->second;
  if (r.worker != from.worker || r.piece.attempt != from.attempt || r.piece.turn != from.turn) return;  // given up
  report_.busy += result.seconds;
  if (!again(from.number, result)) finish(from.number, result);
}

void Farm::hand_out() {
  for (int worker = 1; worker < comm_.size(); ++worker) {
    Worker& w = workers_[worker];
    Piece piece;
    while (w.ready && !w.lost && std::ssize(w.has) <= options_.ahead && next(worker, piece)) {
      if (w.has.empty()) w.alive = wall_seconds();
      w.has.insert(piece.number);
      send_piece(piece, worker, comm_);
    }
  }
}

void Farm::serve() {
  while (const auto worker = receive_sign(comm_)) workers_[*worker].alive = wall_seconds();
  for (PieceResult result; const auto from = receive_result(result, comm_);) take(*from, result);
  give_up_on_silent();
  hand_out();
  reassure();
}

/// Heartbeat of rank 0 to waiting workers, which otherwise could not distinguish a long wait from a hanging rank 0.
void Farm::reassure() {
  if (options_.hang_limit <= 0.0 || wall_seconds() - reassured_ < 0.1 * options_.hang_limit) return;
  reassured_ = wall_seconds();
  Piece nothing;
  nothing.number = nothing_yet;
  for (int worker = 1; worker < comm_.size(); ++worker) {
    const Worker& w = workers_[worker];
    if (w.ready && w.has.empty()) send_piece(nothing, worker, comm_);
  }
}

void Farm::give_up_on_silent() {
  if (options_.hang_limit <= 0.0) return;
  for (int worker = 1; worker < comm_.size(); ++worker) {
    const Worker& w = workers_[worker];
    if (!w.has.empty() && !w.lost && wall_seconds() - w.alive > options_.hang_limit) give_up_on(worker);
  }
}

void Farm::give_up_on(int worker) {
  Worker& w = workers_[worker];
  log_.warn(fmt::format("rank {} gives no sign of life in {} {}: taken for hung, others do what it had", of_run(worker),
                        options_.noun, *w.has.begin()));
  w.lost = true;
  w.ready = false;
  for (const std::int64_t number : std::exchange(w.has, {})) {
    Running& r = running_.at(number);
    r.worker = -1;
    ++report_.repeated;
    if (r.lost++ < options_.retries + options_.ahead) {
      ++r.piece.turn;
      waiting_.push_back(number);
      continue;
    }
    finish(number, {.failed = true, .seconds = 0.0, .value = {}, .problem = "the ranks that had it hung"});
  }
}

/// Rank 0 evaluates a piece itself and serves workers in its `breathe` calls; false if there is none.
bool Farm::work_here() {
  const bool alone = lost() == comm_.size() - 1;
  Piece piece;
  if ((!options_.root_works && !alone) || !next(0, piece)) return false;
  const PieceResult result = evaluated(piece, [this] { serve(); });
  report_.busy += result.seconds;
  if (!again(piece.number, result)) finish(piece.number, result);
  return true;
}

void Farm::serve_all() {
  const auto all_wait = [&] {
    return std::all_of(workers_.begin() + 1, workers_.end(),
                       [](const Worker& w) { return w.lost || (w.ready && w.has.empty()); });
  };
  while (!done() || !all_wait()) {
    serve();
    if (!work_here()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (lost() > 0) end_without_lost();
  Piece end;
  end.number = no_more;
  for (int worker = 1; worker < comm_.size(); ++worker) send_piece(end, worker, comm_);
}

void Farm::end_without_lost() const {
  std::vector<int> ranks;
  for (int worker = 1; worker < comm_.size(); ++worker)
    if (workers_[worker].lost) ranks.push_back(of_run(worker));
  throw InputError(fmt::format(
      "rank {} hung and did not come back; each {} assigned is finished and recorded. Check its machine, then {}",
      fmt::join(ranks, ", "), options_.noun, options_.go_on.empty() ? "run this again" : options_.go_on));
}

}  // namespace cambium::tasks
