#pragma once
#include <functional>
#include <memory>

#include "core/parallel/farm/farm.hpp"

namespace cambium::tasks {

/// Groups of ranks of equal size that evaluate a piece together: the first of each takes part in the farm, the others
/// follow it.
class WorkGroups {
 public:
  /// Collective. `size` divides the number of ranks (else InternalError: the caller has a better message for its key).
  WorkGroups(const Comm& comm, int size);
  const Comm& own() const { return *own_; }
  Comm& own() { return *own_; }
  bool leads() const { return own_->rank() == 0; }

  /// Collective: a farm between the leaders. `evaluate` is called by all ranks of a group with the same piece, and may
  /// not throw on some of them only; the leader's result counts. `source` on rank 0 only; the report is that of rank 0.
  FarmReport run(WorkSource* source, Log& log, FarmOptions options, const EvaluatePiece& evaluate);

 private:
  void tell(const Piece& piece) const;
  void follow(const EvaluatePiece& evaluate) const;
  std::unique_ptr<Comm> own_, leaders_;  ///< leaders_ on leaders only
};

}  // namespace cambium::tasks
