#pragma once
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/farm/farm_messages.hpp"

namespace cambium::tasks {

/// Source of work and receiver of results on rank 0: a list, a graph, or a search whose next proposal depends on
/// earlier results. Called on rank 0 only.
class WorkSource {
 public:
  virtual ~WorkSource() = default;
  /// The next piece; false if there is none now (a result may produce one).
  virtual bool next(int worker, Piece& piece) = 0;
  /// Called for a success, or a final failure; once per piece.
  virtual void finished(const Piece& piece, const PieceResult& result, int worker) = 0;
  /// True if no piece will follow once those assigned are finished: all is done, or a stop was requested.
  virtual bool ended() const = 0;
};

/// Evaluates one piece, from its number, attempt and content only. Exceptions count as failures, except InternalError.
using EvaluatePiece = std::function<PieceResult(const Piece&, const Breathe&)>;

struct FarmOptions {
  int retries = 1;             ///< of a failed piece, and of one whose rank hung, before it has failed for good
  int ahead = 0;               ///< pieces queued at a rank while it works on another, so that it never waits
  double hang_limit = 0.0;     ///< seconds without a heartbeat after which a rank counts as hung; 0: never
  bool root_works = true;      ///< rank 0 serves and evaluates; otherwise it only serves
  int ranks_per_piece = 1;     ///< for messages: rank k here is rank k * ranks_per_piece of the run
  bool says_itself = false;    ///< the failure message names the piece: it is passed on unchanged
  std::string noun = "piece";  ///< name of a piece in messages
  std::string go_on =
      {};  ///< what a message about ranks that hung proposes, for example "go on with: cambium restart runs/a"
};

/// Timing of the farm.
struct FarmReport {
  double seconds = 0.0, busy = 0.0;                     ///< wall time; of all evaluators together
  std::int64_t finished = 0, failed = 0, repeated = 0;  ///< repeated: of ranks that hung
  int evaluators = 1;
  double efficiency() const { return seconds > 0.0 ? busy / (seconds * evaluators) : 0.0; }
};

/// Dynamic scheduling of pieces of work over the ranks of a communicator: a free rank gets the next one at once. Pieces
/// of a rank without heartbeat are reassigned with the same attempt, so results do not depend on it; if the rank
/// returns, it gets new pieces, and its late results of reassigned ones are ignored. A worker that receives nothing
/// from rank 0 while it waits ends the run.
class Farm {
 public:
  Farm(const Comm& comm, Log& log, FarmOptions options, EvaluatePiece evaluate);
  /// Collective; `source` on rank 0 only, null elsewhere. InputError, after all work is finished, if a rank hung and
  /// did not return.
  FarmReport run(WorkSource* source);

 private:
  struct Running {
    Piece piece;
    int worker;    ///< -1: none, it waits
    int lost = 0;  ///< ranks that hung with it
  };
  struct Worker {
    double alive = 0.0;  ///< time of its last message
    std::set<std::int64_t> has;
    bool ready = false, lost = false;
  };
  void work();
  Piece wait_for_piece() const;
  PieceResult evaluated(const Piece& piece, const Breathe& breathe) const;
  void serve_all();
  void serve();
  void take(const Sender& from, const PieceResult& result);
  bool again(std::int64_t number, const PieceResult& result);
  void finish(std::int64_t number, const PieceResult& result);
  bool next(int worker, Piece& piece);
  void hand_out();
  bool work_here();
  void reassure();
  void give_up_on_silent();
  void give_up_on(int worker);
  bool done() const;
  int lost() const;
  [[noreturn]] void end_without_lost() const;
  int of_run(int worker) const { return worker * options_.ranks_per_piece; }

  const Comm& comm_;
  Log& log_;
  FarmOptions options_;
  EvaluatePiece evaluate_;
  FarmReport report_;
  WorkSource* source_ = nullptr;
  std::map<std::int64_t, Running> running_;
  std::deque<std::int64_t> waiting_;  ///< of ranks that hung, or that failed
  std::vector<Worker> workers_;       ///< by rank; that of rank 0 is not used
  double reassured_ = 0.0;
};

}  // namespace cambium::tasks
