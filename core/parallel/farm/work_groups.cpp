#include "core/parallel/farm/work_groups.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::tasks {

/// The ranks of one colour, in order; none for a negative colour.
static std::unique_ptr<Comm> ranks_of_colour(const Comm& comm, int colour) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(comm.handle(), colour < 0 ? MPI_UNDEFINED : colour, comm.rank(), &part);
  if (part == MPI_COMM_NULL) return nullptr;
  auto out = std::make_unique<Comm>(part);  // a duplicate
  MPI_Comm_free(&part);
  return out;
}

WorkGroups::WorkGroups(const Comm& comm, int size) {
  if (size < 1 || comm.size() % size != 0)
    throw InternalError(fmt::format("groups of {} ranks do not divide {} ranks", size, comm.size()));
  own_ = ranks_of_colour(comm, comm.rank() / size);
  leaders_ = ranks_of_colour(comm, comm.rank() % size == 0 ? 0 : -1);
}

void WorkGroups::tell(const Piece& piece) const {
  for (int rank = 1; rank < own_->size(); ++rank) send_piece(piece, rank, *own_);
}

void WorkGroups::follow(const EvaluatePiece& evaluate) const {
  for (Piece piece = *receive_piece(*own_); piece.number != no_more; piece = *receive_piece(*own_)) try {
      evaluate(piece, [] {});
    } catch (const InternalError&) {
      throw;
    } catch (const std::exception&) {  // the leader reports the same
    }
}

FarmReport WorkGroups::run(WorkSource* source, Log& log, FarmOptions options, const EvaluatePiece& evaluate) {
  if (!leads()) {
    follow(evaluate);
    return {};
  }
  options.ranks_per_piece = own_->size();
  Farm farm(*leaders_, log, std::move(options), [&](const Piece& piece, const Breathe& breathe) {
    tell(piece);
    return evaluate(piece, breathe);
  });
  const FarmReport report = farm.run(source);
  Piece end;
  end.number = no_more;
  tell(end);
  return report;
}

}  // namespace cambium::tasks
