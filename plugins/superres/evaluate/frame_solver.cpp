#include "plugins/superres/evaluate/frame_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/superres/convection/place_fields.hpp"
#include "plugins/superres/physics/cavity.hpp"
#include "plugins/superres/physics/rayleigh_benard.hpp"
#include "plugins/superres/samples/resampling.hpp"

namespace cambium::superres {
namespace {

constexpr double courant = 1.0;
constexpr double shortest_step = 1e-7;  ///< no free-fall velocity requires less

/// Faces around centres that fill the height; empty if there are none.
std::vector<double> faces_around(const std::vector<double>& centres) {
  std::vector<double> face{0.0};
  for (double z : centres) {
    face.push_back(2.0 * z - face.back());
    if (face.back() <= z) return {};
  }
  if (std::fabs(face.back() - 1.0) > 1e-4) return {};  // rounding of coordinates in single precision
  face.back() = 1.0;
  return face;
}

}  // namespace

StatedFlow stated_by(const Convected& flow, bool periodic) {
  StatedFlow out;
  out.rayleigh = flow.rayleigh;
  out.prandtl = flow.prandtl;
  if (periodic) out.plates = name_of(flow.plates);
  return out;
}

Grid grid_of(const FieldData& coarse, const std::array<std::vector<double>, 3>& places) {
  const bool periodic = coarse.period > 0.0;
  const double width = periodic ? coarse.period : coarse.axis[1].front() + coarse.axis[1].back();
  const int nx = std::max(4, static_cast<int>(places[1].size()) / 2 * 2),
            nz = std::max(4, static_cast<int>(places[2].size()));
  Grid out = Grid::make(nx, nz, width, 1.0, 1.2, periodic);
  if (auto face = faces_around(places[2]); static_cast<int>(face.size()) == nz + 1) out.face = std::move(face);
  return out;
}

Fluid fluid_of(const Convected& flow, bool periodic) {
  if (!periodic) {
    CavitySetup::Params keys;
    keys.rayleigh = flow.rayleigh;
    keys.prandtl = flow.prandtl;
    return CavitySetup(keys).fluid();
  }
  PlatesSetup::Params keys;
  keys.rayleigh = flow.rayleigh;
  keys.prandtl = flow.prandtl;
  keys.plates = flow.plates;
  return PlatesSetup(keys).fluid();
}

FieldData frame_of(const FieldData& data, std::size_t t) {
  FieldData out = data;
  out.axis[0] = {data.axis[0][t]};
  const auto size = static_cast<std::ptrdiff_t>(data.nx() * data.nz()), first = static_cast<std::ptrdiff_t>(t) * size;
  for (std::size_t f = 0; f < out.values.size(); ++f)
    out.values[f] = {data.values[f].begin() + first, data.values[f].begin() + first + size};
  return out;
}

FrameSolver::FrameSolver(const Grid& grid, const Fluid& fluid, double left, double time, std::string name)
    : comm_(MPI_COMM_SELF), stepper_(comm_, Slab::make(grid, 0, 1), fluid), left_(left), time_(time),
      name_(std::move(name)) {
  Kokkos::deep_copy(stepper_.flow().fields, 0.0);
}

void FrameSolver::add(FieldData increment) {
  for (double& x : increment.axis[1]) x -= left_;
  add_fields(increment, stepper_.flow());
  stepper_.start();
}

FieldData FrameSolver::now() {
  auto out = at_centres(stepper_.flow(), time_);
  for (double& x : out.axis[1]) x += left_;
  return out;
}

void FrameSolver::insert(FieldData frame) {
  const auto seen = resampled(resampled(now(), 1, frame.axis[1], 2), 2, frame.axis[2], 2);
  for (std::size_t f = 0; f < frame.values.size(); ++f)
    for (std::size_t n = 0; n < frame.values[f].size(); ++n) frame.values[f][n] -= seen.values[f][n];
  add(std::move(frame));
}

void FrameSolver::advance(double until) {
  while (until - time_ > 1e-9 * longest_step) {
    const double rate = largest_courant_rate(stepper_.owned(), comm_);
    if (!(courant / rate > shortest_step))
      throw NumericalError(
          fmt::format("the flow of '{}' breaks down at t = {:.6g}: leave it out of 'methods', or correct "
                      "'rayleigh' and 'prandtl', which are to be those of the data",
                      name_, time_));
    const double free = std::min({longest_step, diffusive_limit(stepper_.owned()), courant / rate}),
                 left = until - time_;
    const double dt = left / std::max(1.0, std::ceil(left / free - 1e-6));
    stepper_.step(dt);
    time_ += dt;
  }
  time_ = until;
}

}  // namespace cambium::superres
