#include "plugins/superres/models/forecast_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/key_error.hpp"
#include "plugins/superres/convection/rows.hpp"
#include "plugins/superres/equations/field_data.hpp"
#include "plugins/superres/equations/stated_flow.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/samples/centred_fields.hpp"
#include "plugins/superres/samples/resampling.hpp"

namespace cambium::superres {
namespace {

constexpr std::array<int, 4> order{field_u, field_w, field_b, field_p};  ///< of a state
constexpr double shortest_forecast_step = 1e-7;                          ///< no free-fall velocity requires less

StateSpace space_of(const Grid& g) {
  StateSpace out;
  std::vector<double> left, lower;
  for (int i = 0; i < g.nx; ++i) {
    left.push_back(g.dx() * i);
    out.x.push_back(g.dx() * (i + 0.5));
  }
  for (int k = 0; k < g.nz; ++k) {
    lower.push_back(g.face[k]);
    out.z.push_back(g.center(k));
  }
  out.period = g.periodic ? g.lx : 0.0;
  out.span_x = {0.0, g.lx};
  out.span_z = {0.0, g.lz};
  out.time_unit = "t_ff";
  out.fields = {{"u", "velocity along x", left, out.z, false, !g.periodic},
                {"w", "velocity along z", out.x, lower, true},
                {"b", "buoyancy", out.x, out.z},
                {"p", "pressure", out.x, out.z, false, false, true}};
  return out;
}

}  // namespace

ForecastFlow::ForecastFlow(const ForecastKeys& keys, const Grid& grid, const Fluid& fluid)
    : keys_(keys), comm_(MPI_COMM_SELF), stepper_(comm_, Slab::make(grid, 0, 1), fluid), space_(space_of(grid)) {}

void ForecastFlow::load(std::span<const double> state) {
  const auto& fields = stepper_.flow().fields;
  const auto host = Kokkos::create_mirror_view(fields);
  Kokkos::deep_copy(host, fields);
  auto from = state.begin();
  for (const int f : order)
    for (std::size_t i = 0; i < space_.nx(); ++i)
      for (std::size_t k = 0; k < space_.nz(); ++k) host(f, k + 1, margin + i) = *from++;
  Kokkos::deep_copy(fields, host);
  stepper_.fill_ghosts();
}

void ForecastFlow::store(std::span<double> state) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stepper_.flow().fields);
  auto to = state.begin();
  for (const int f : order)
    for (std::size_t i = 0; i < space_.nx(); ++i)
      for (std::size_t k = 0; k < space_.nz(); ++k) *to++ = host(f, k + 1, margin + i);
  remove_mean(state.subspan(3 * space_.places()), stepper_.owned().slab.grid.face, space_.nx());  // p is the last
}

std::vector<double> ForecastFlow::first_state(std::uint64_t seed) {
  InitialState initial;
  initial.noise = keys_.noise;
  set_initial_state(initial, stepper_.flow(), seed);
  stepper_.fill_ghosts();
  stepper_.start();
  std::vector<double> out(space_.elements());
  store(out);
  return out;
}

void ForecastFlow::advance(std::span<double> state, double from, double to) {
  load(state);
  double time = from;
  while (to - time > 1e-9 * keys_.max_timestep) {
    const double rate = largest_courant_rate(stepper_.owned(), comm_);
    if (!(keys_.courant / rate > shortest_forecast_step))
      throw NumericalError(
          fmt::format("a member of the ensemble is not finite any more at t = {:.6g}; take more cells, a smaller "
                      "'cfl' (it is {:g}), or a filter whose analyses stay near the flow",
                      time, keys_.courant));
    const double free =
        std::min({keys_.max_timestep, diffusive_limit(stepper_.owned()), keys_.courant / std::max(rate, 1e-30)});
    const double left = to - time, dt = left / std::max(1.0, std::ceil(left / free - 1e-6));
    stepper_.step(dt);
    time += dt;
  }
  store(state);
}

void ForecastFlow::project(std::span<double> state) {
  load(state);
  stepper_.start();
  store(state);
}

FieldRecord ForecastFlow::read(const std::string& path) const {
  auto data = read_fields(path, {"p", "b", "u", "w"}, std::numeric_limits<int>::max(), space_.period > 0.0);
  const double width = space_.span_x[1],
               found = data.period > 0.0 ? data.period : data.axis[1].front() + data.axis[1].back();
  if (!data.hidden.empty())
    throw KeyError(
        "superres.forecast.mask", "data",
        fmt::format("'{}' hides points under a mask, and the model has no bodies: give fields without a mask", path));
  if (std::fabs(found / width - 1.0) > 1e-6)
    throw KeyError(
        "superres.forecast.width", "data",
        fmt::format("'{}' is {:g} wide and the model {:g}: give fields of the same domain", path, found, width));
  const auto stated = StatedFlow::of(path);
  stated.require_rayleigh(keys_.rayleigh, "model.");
  stated.require_prandtl(keys_.prandtl.value_or(1.0), "model.");
  if (space_.period > 0.0) stated.require_plates(name_of(stepper_.owned().fluid.plates), "model.");
  if (require_layer(path)) shift_buoyancy(data, -well_b_shift);
  data = resampled(resampled(data, 1, space_.x, 4), 2, space_.z, 4);
  return {data.names, data.axis[0], data.axis[1], data.axis[2], std::move(data.values)};
}

double ForecastFlow::seconds_per_time() const {
  const double cells = static_cast<double>(space_.places()), dx = space_.x[1] - space_.x[0];
  return cells / 2e7 / std::min(keys_.max_timestep, keys_.courant * dx);
}

std::string ForecastFlow::summary() const {
  return fmt::format("Ra {:g}, Pr {:g}; {} x {} cells", keys_.rayleigh, keys_.prandtl.value_or(1.0), space_.nx(),
                     space_.nz());
}

}  // namespace cambium::superres
