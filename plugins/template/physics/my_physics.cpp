#include "my_physics.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/particles/tensor_of_view.hpp"

namespace cambium::my_physics {

static const std::vector<deck::Variable> place = {{"x", ""}};

void MyPhysics::Params::describe(deck::Describe<Params>& d) {
  d("diffusivity", &Params::diffusivity, "D of the medium").positive().def(1.0);
  d("length", &Params::length, "L of the ring").positive().def(1.0);
  d("cells", &Params::cells, "equal cells around the ring").at_least(4).def(64);
  d("courant", &Params::courant, "D dt/dx^2 of a step").range(0.0, 0.5).def(0.25);
  d("initial", &Params::initial, "temperature at the start, a formula in x")
      .variables(place)
      .example("1 + sin(2*pi*x)");
}

/// Ranks own ranges of cells whose sizes differ by at most one, the same ranges in which a checkpoint is distributed to
/// another number of ranks.
MyPhysics::MyPhysics(const Params& params, Context& context)
    : params_(params), context_(context), first_(params.cells * context.comm.rank() / context.comm.size()),
      count_(params.cells * (context.comm.rank() + 1) / context.comm.size() - first_),
      dx_(params.length / params.cells), now_("heat: temperature", count_ + 2),
      next_("heat: new temperature", count_ + 2) {
  if (params.cells < context.comm.size())  // the same result on every rank
    throw InputError(fmt::format("{} cells cannot be shared by {} ranks; use more cells or fewer ranks", params.cells,
                                 context.comm.size()));
}

void MyPhysics::declare(State& state, Context&) {
  state.add({"temperature", At::cell, "", "of the cells", true,
             [this] { return tensor_of(Kokkos::subview(now_, std::pair<int, int>(1, count_ + 1))); }});
}

void MyPhysics::initialise(State&, Context&) {
  const auto host = Kokkos::create_mirror_view(now_);
  for (int i = 0; i < count_; ++i) {
    const double x = (first_ + i + 0.5) * dx_;
    host(1 + i) = params_.initial(std::span(&x, 1));
    if (!std::isfinite(host(1 + i))) throw InputError(fmt::format("initial: not finite at x = {:.6g}", x));
  }
  Kokkos::deep_copy(now_, host);
}

void MyPhysics::restore(State&, Context&, const io::Group&, bool) {}  // the temperatures have been restored as a field

void MyPhysics::schedule(Schedule& schedule) {
  schedule.add({"exchange", {"temperature"}, {"temperature"}, [this](State&, StepInfo&) { exchange(); }});
  schedule.add({"heat", {"temperature"}, {"temperature"}, [this](State&, StepInfo&) { advance(); }});
}

double MyPhysics::timestep(const State&) const { return params_.courant * dx_ * dx_ / params_.diffusivity; }

void MyPhysics::exchange() {
  const int ranks = context_.comm.size(), left = (context_.comm.rank() + ranks - 1) % ranks,
            right = (context_.comm.rank() + 1) % ranks;
  double first, last, before, after;
  Kokkos::deep_copy(first, Kokkos::subview(now_, 1));
  Kokkos::deep_copy(last, Kokkos::subview(now_, count_));
  MPI_Sendrecv(&first, 1, MPI_DOUBLE, left, 0, &after, 1, MPI_DOUBLE, right, 0, context_.comm.handle(),
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&last, 1, MPI_DOUBLE, right, 1, &before, 1, MPI_DOUBLE, left, 1, context_.comm.handle(),
               MPI_STATUS_IGNORE);
  Kokkos::deep_copy(Kokkos::subview(now_, 0), before);
  Kokkos::deep_copy(Kokkos::subview(now_, count_ + 1), after);
}

void MyPhysics::advance() {
  const auto now = now_, next = next_;
  const double r = params_.courant;
  Kokkos::parallel_for(
      "heat: step", Range(1, count_ + 1),
      KOKKOS_LAMBDA(int i) { next(i) = now(i) + r * (now(i - 1) - 2.0 * now(i) + now(i + 1)); });
  std::swap(now_, next_);
}

std::vector<double> MyPhysics::temperatures() const {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), now_);
  return {host.data() + 1, host.data() + 1 + count_};
}

std::vector<Observable> MyPhysics::observables() const {
  return {{"mean", "", "mean temperature, which the equation conserves"},
          {"deviation", "", "root mean square distance from the mean"}};
}

void MyPhysics::measure(const State&, Context& context, std::span<double> values) {
  double mean = 0.0, square = 0.0;
  const auto all = temperatures();
  for (const double t : all) mean += t / params_.cells;
  mean = context.comm.sum(mean);
  for (const double t : all) square += (t - mean) * (t - mean) / params_.cells;
  values[0] = mean;
  values[1] = std::sqrt(context.comm.sum(square));
}

/// Every rank knows the grid; only rank 0 gets the values, in the order of the ranks, which is the order of the cells.
std::optional<GridFields> MyPhysics::grid_fields(const State& state, const Comm& comm) const {
  GridFields out;
  out.axes = {{"x", {}}};
  for (int i = 0; i <= params_.cells; ++i) out.axes[0].faces.push_back(i * dx_);
  out.fields = {{"temperature", "", 1, {}}};
  io::gather_rows(comm, state.find("temperature")->tensor(), [&](std::int64_t, const TensorRef& piece) {
    const auto* values = static_cast<const double*>(piece.data);
    out.fields[0].values.insert(out.fields[0].values.end(), values, values + piece.elements());
  });
  return out;
}

std::string MyPhysics::summary() const {
  return fmt::format("my_physics: {} cells of {:g}, D = {:g}, D dt/dx^2 = {:g}", params_.cells, dx_,
                     params_.diffusivity, params_.courant);
}

std::vector<Citation> MyPhysics::citations() const {
  return {{"Crank1975",
           "@book{Crank1975,\n  author = {Crank, John},\n  title = {The Mathematics of Diffusion},\n  edition = {2},\n "
           " publisher = {Oxford University Press},\n  year = {1975}\n}\n"}};
}

}  // namespace cambium::my_physics
