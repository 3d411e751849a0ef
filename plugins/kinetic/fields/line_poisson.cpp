#include "plugins/kinetic/fields/line_poisson.hpp"

#include <mpi.h>

#include <algorithm>

namespace cambium::kinetic {

namespace {

/// Non-commutative sum of stretches, each of four values that MPI must keep together.
class OrderedSum {
 public:
  explicit OrderedSum(MPI_User_function* join) {
    MPI_Op_create(join, 0, &op_);
    MPI_Type_contiguous(4, MPI_DOUBLE, &four_);
    MPI_Type_commit(&four_);
  }
  ~OrderedSum() { MPI_Op_free(&op_), MPI_Type_free(&four_); }
  OrderedSum(const OrderedSum&) = delete;
  OrderedSum& operator=(const OrderedSum&) = delete;

  /// The sum over all ranks, and over those before this one.
  void over(const Comm& ranks, const double* own, double* all, double* before) const {
    MPI_Allreduce(own, all, 1, four_, op_, ranks.handle());
    MPI_Exscan(own, before, 1, four_, op_, ranks.handle());
    if (ranks.root()) std::fill_n(before, 4, 0.0);  // undefined after MPI_Exscan
  }

 private:
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype four_ = MPI_DATATYPE_NULL;
};

}  // namespace

LinePoisson::LinePoisson(const ConfGrid& grid, const Element& element, const PotentialWalls& walls,
                         const ConfRanks& ranks)
    : ranks_(ranks), nodes_(static_cast<int>(element.nodes.size())), periodic_(grid.low_wall[0] == Wall::periodic),
      width_(grid.width[0]), low_(walls.lower[0]), high_(walls.upper[0]) {
  if (nodes_ == 3) {  // the ends of a cell come first
    inside_ = element.stiffness[8];
    for (int end = 0; end < 2; ++end) coupling_[end] = element.stiffness[6 + end];
  }
  if (periodic_) return;
  for (bool high : {false, true}) {
    const auto kind = (high ? high_ : low_).kind;
    if (kind == PotentialWall::Kind::floating) floating_.push_back({0, high});
    if (kind == PotentialWall::Kind::fixed) neutral_ = false;
  }
}

LinePoisson::Stretch LinePoisson::Stretch::then(const Stretch& next) const {
  return {cells + next.cells, load + next.load, field + next.field + next.cells * load,
          potential + next.potential + next.cells * field + 0.5 * next.cells * (next.cells - 1.0) * load};
}

void LinePoisson::join(void* before, void* after, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const double*>(before);
  auto* b = static_cast<double*>(after);
  for (int k = 0; k < 4 * *count; k += 4) {
    const Stretch sum = Stretch{a[k], a[k + 1], a[k + 2], a[k + 3]}.then({b[k], b[k + 1], b[k + 2], b[k + 3]});
    b[k] = sum.cells;
    b[k + 1] = sum.load;
    b[k + 2] = sum.field;
    b[k + 3] = sum.potential;
  }
}

/// Gives the load of the node inside to the ends; it stays where it was, for solve().
void LinePoisson::eliminate(std::span<double> values) const {
  for (std::size_t at = 0; nodes_ == 3 && at < values.size(); at += 3)
    for (std::size_t end = 0; end < 2; ++end) values[at + end] -= coupling_[end] / inside_ * values[at + 2];
}

LinePoisson::Stretch LinePoisson::own_stretch(std::span<const double> values) const {
  Stretch out;
  for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(nodes_))
    out = out.then({1.0, values[at] + values[at + 1], values[at], 0.0});
  return out;
}

double LinePoisson::flux(bool high, const std::vector<double>& wall_charge, double epsilon0) const {
  for (std::size_t w = 0; w < floating_.size(); ++w)
    if (floating_[w].high == high) return wall_charge[w] / epsilon0;
  return 0.0;
}

/// The field in cell c is the one at the lower end and the load up to the cell's lower end; the potential falls by it
/// times the width.
LinePoisson::Ends LinePoisson::ends(const Stretch& all, const std::vector<double>& wall_charge, double epsilon0) const {
  const double n = all.cells, h = width_;
  if (periodic_) {
    const double field = -all.field / n;
    return {field, h / n * (0.5 * n * (n - 1.0) * field + all.potential), 0.0};
  }
  using Kind = PotentialWall::Kind;
  const bool fixed[] = {low_.kind == Kind::fixed, high_.kind == Kind::fixed};
  double field = flux(false, wall_charge, epsilon0);
  if (fixed[0])
    field = fixed[1] ? ((low_.potential - high_.potential) / h - all.field) / n
                     : -flux(true, wall_charge, epsilon0) - all.load;
  const double fall = h * (n * field + all.field);
  if (fixed[0]) return {field, low_.potential, fall};
  if (fixed[1]) return {field, high_.potential + fall, fall};
  // The first wall that floats is the zero of the potential; where none does the caller chooses it.
  return {field, low_.kind == Kind::floating || high_.kind != Kind::floating ? 0.0 : fall, fall};
}

void LinePoisson::solve(std::span<double> values, const std::vector<double>& wall_charge, double epsilon0,
                        std::vector<double>& wall_potential) const {
  eliminate(values);
  const Stretch own = own_stretch(values);
  const double mine[4] = {own.cells, own.load, own.field, own.potential};
  double sums[4] = {}, before[4] = {};
  OrderedSum(join).over(ranks_.row(), mine, sums, before);
  const Stretch all{sums[0], sums[1], sums[2], sums[3]};
  const Ends low = ends(all, wall_charge, epsilon0);
  double load = before[1], phi = low.potential - width_ * (before[0] * low.field + before[2]);
  for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(nodes_)) {
    const double next = phi - width_ * (low.field + load + values[at]);
    load += values[at] + values[at + 1];
    values[at] = phi;
    values[at + 1] = next;
    if (nodes_ == 3) values[at + 2] = (values[at + 2] - coupling_[0] * phi - coupling_[1] * next) / inside_;
    phi = next;
  }
  for (std::size_t w = 0; w < floating_.size(); ++w)
    wall_potential[w] = low.potential - (floating_[w].high ? low.fall : 0.0);
}

}  // namespace cambium::kinetic
