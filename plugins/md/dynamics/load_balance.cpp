#include "plugins/md/dynamics/load_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/timing.hpp"
#include "plugins/md/domain/balanced_cuts.hpp"

namespace cambium::md {
namespace {

using By = BalanceKeys::By;

/// Cost of an atom without neighbours (moves, sort, messages), in pairs.
constexpr double pairs_of_an_atom = 8.0;

const char* name_of(By by) {
  constexpr const char* names[] = {"pairs", "atoms", "time", "volume"};
  return names[static_cast<int>(by)];
}

/// Largest value of a rank over the mean.
double imbalance(double own, const Comm& comm) {
  const double mean = comm.sum(own) / comm.size();
  return mean > 0.0 ? comm.max(own) / mean : 1.0;
}

}  // namespace

void BalanceKeys::describe(deck::Describe<BalanceKeys>& d) {
  d("criterion", &BalanceKeys::by,
    "balance criterion: pairs of the neighbour list, atoms, measured time (runs then repeat to rounding only), or "
    "volume: equal bricks, whatever is in them")
      .formerly("by")
      .options({{"pairs", By::pairs}, {"atoms", By::atoms}, {"time", By::time}, {"volume", By::volume}})
      .def(By::pairs);
  d("every", &BalanceKeys::every, "steps between two checks of the ranks' work").at_least(1).def(1000);
  d("threshold", &BalanceKeys::above,
    "ratio of the largest to the mean work of a rank above which the cell is repartitioned")
      .formerly("above")
      .range(1.0, 1e6)
      .def(1.1);
}

LoadBalance::LoadBalance(const BalanceKeys& keys, const Particles& particles, Domain& domain, double range,
                         const Context& context)
    : keys_(keys), particles_(particles), domain_(domain), range_(range), context_(context), since_(wall_seconds()) {
  if (keys_.by == By::time) waits_.emplace();
}

std::vector<double> LoadBalance::work_of_atoms(const NeighborList& list) const {
  std::vector<double> work(particles_.nlocal, 1.0);
  if (keys_.by == By::atoms) return work;
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count);
  for (std::size_t i = 0; i < work.size(); ++i) work[i] = pairs_of_an_atom + count(i);
  return work;
}

/// Seconds since the last call during which this rank was not waiting.
double LoadBalance::worked() {
  const double now = wall_seconds(), waited = waits_ ? waits_->seconds() : 0.0;
  const double own = std::max(now - since_ - (waited - waited_before_), 1e-9);
  since_ = now;
  waited_before_ = waited;
  return own;
}

/// Cost of a pair on this rank relative to the mean, in 64ths, so that sums stay exact. It is clamped, because ranks
/// with very few atoms would make them seem expensive.
static double price(double seconds, double work, const Comm& comm) {
  const double mean = comm.sum(seconds) / std::max(comm.sum(work), 1.0);
  return work > 0.0 ? std::clamp(std::round(64.0 * seconds / work / mean), 16.0, 256.0) : 64.0;
}

bool LoadBalance::cut(const NeighborList& list, std::int64_t step, bool begins) {
  if (!works()) return false;
  const Comm& comm = context_.comm;
  auto work = work_of_atoms(list);
  double own = std::accumulate(work.begin(), work.end(), 0.0);
  if (const double seconds = worked(); keys_.by == By::time && !begins) {
    const double factor = price(seconds, own, comm);
    for (double& w : work) w *= factor;
    own = seconds;
  }
  const double before = imbalance(own, comm);
  if (at_first_ == 0.0) at_first_ = before;
  if (!(before > keys_.above)) return false;
  auto found = balanced_cuts(particles_, work, range_, comm);
  if (!(found.largest < before * found.mean)) return false;  // no better planes exist
  domain_.cut(std::move(found.cuts));
  ++cuts_, last_step_ = step;
  return true;
}

double LoadBalance::busiest(const NeighborList& list) const {
  const auto work = work_of_atoms(list);
  return imbalance(std::accumulate(work.begin(), work.end(), 0.0), context_.comm);
}

std::vector<Result> LoadBalance::results(const NeighborList& list) const {
  if (context_.comm.size() == 1) return {};
  std::vector<Result> out{
      {.key = "balance", .label = "balance: busiest rank over the mean", .value = busiest(list), .digits = 0}};
  if (works() && cuts_ > 0) {
    out.push_back({.key = "balance_at_first", .label = "balance: at first", .value = at_first_, .digits = 0});
    out.push_back({.key = "balance_cuts",
                   .label = "balance: number of repartitions of the cell",
                   .value = static_cast<double>(cuts_),
                   .digits = 0});
  }
  return out;
}

std::vector<std::string> LoadBalance::report(const NeighborList& list) const {
  if (context_.comm.size() == 1) return {};
  const double now = busiest(list);
  const char* counted = keys_.by == By::atoms ? "atoms" : "pairs";
  std::string line = fmt::format("balance: the busiest rank has {:.2f} times the mean of the {}", now, counted);
  if (!works())
    line += "; its part is a brick of equal volume";
  else if (cuts_ > 0)
    line += fmt::format(", {:.2f} times at first; the cell was repartitioned {} time{}, last at step {}", at_first_,
                        cuts_, cuts_ == 1 ? "" : "s", last_step_);
  return {line};
}

std::string LoadBalance::summary() const {
  return fmt::format("{} ranks balanced by {}", context_.comm.size(), name_of(keys_.by));
}

}  // namespace cambium::md
