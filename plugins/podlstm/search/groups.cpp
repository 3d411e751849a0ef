#include "plugins/podlstm/search/groups.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/podlstm/search/messages.hpp"

namespace cambium::podlstm {

namespace {

/// The ranks of one colour, in order; none for a negative colour.
std::unique_ptr<Comm> part_of(const Comm& comm, int colour) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(comm.handle(), colour < 0 ? MPI_UNDEFINED : colour, comm.rank(), &part);
  if (part == MPI_COMM_NULL) return nullptr;
  auto out = std::make_unique<Comm>(part);  // a duplicate
  MPI_Comm_free(&part);
  return out;
}

}  // namespace

Context with_comm(const Context& c, Comm& comm) {
  return {comm,           c.log,  c.timing,  c.registry, c.seed, c.run_directory, c.resolved_deck,
          c.command_line, c.stop, c.dry_run, c.resume};
}

Groups::Groups(int size, const Context& context) {
  const Comm& comm = context.comm;
  if (comm.size() % size != 0)
    throw InputError(
        fmt::format("ranks_per_trial: {} does not divide the {} rank{} of this run; use a divisor, or other ranks",
                    size, comm.size(), comm.size() == 1 ? "" : "s"));
  own_ = part_of(comm, comm.rank() / size);
  leaders_ = part_of(comm, comm.rank() % size == 0 ? 0 : -1);
}

void Groups::follow(const Evaluate& evaluate) const {
  for (Job job = *receive_job(*own_); job.number >= 0; job = *receive_job(*own_)) evaluate(job, [] {});
}

bool Groups::search(SearchSpace space, const SearchOptions& options, Journal* journal, const Evaluate& evaluate,
                    Context& context, SearchReport& report) {
  bool complete = true;
  if (leads()) {
    auto tell = [this](const Job& job) {
      for (int r = 1; r < own_->size(); ++r) send_job(job, r, *own_);
    };
    auto together = [&](const Job& job, const std::function<void()>& breathe) {
      tell(job);
      return evaluate(job, breathe);
    };
    Context among_leaders = with_comm(context, *leaders_);
    Search search(std::move(space), options, journal, together, among_leaders);
    complete = search.run();
    report = search.report();
    tell({-1, 0, {}, {}});
  } else {
    follow(evaluate);
  }
  return context.comm.max(complete ? 0 : 1) == 0;
}

}  // namespace cambium::podlstm
