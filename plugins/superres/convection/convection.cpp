#include "plugins/superres/convection/convection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/memory.hpp"
#include "plugins/superres/convection/place_fields.hpp"
#include "plugins/superres/convection/rows.hpp"
#include "plugins/superres/samples/centred_fields.hpp"
#include "plugins/superres/samples/trained_flow.hpp"

namespace cambium::superres {
namespace {

constexpr int timestep_every = 5;  ///< steps between checks of the Courant number
constexpr int average_every = 10;  ///< steps between samples of the averages

}  // namespace

std::string wrong_cells(const std::vector<int>& cells, bool three) {
  const std::size_t count = cells.size();
  if (count != 2 && !(three && count == 3))
    return three ? "'cells' must be two values, along x and z, or three, along x, y and z"
                 : "'cells' must be two values, along x and z";
  if (*std::min_element(cells.begin(), cells.end()) < 4)
    return count == 3 ? "'cells' must be at least [4, 4, 4]" : "'cells' must be at least [4, 4]";
  if (cells[0] % 2) return "the first of 'cells' must be even, for the transforms along x";
  if (count == 3 && cells[1] % 2) return "the second of three 'cells' must be even, for the transforms along y";
  return "";
}

std::string wrong_waves(const ConvectionKeys& keys) {
  const InitialState& initial = keys.initial;
  if (initial.amplitude == 0.0 || initial.file || keys.cells.size() < 2) return "";
  if (initial.wavelengths >= (keys.nx() + 1) / 2)
    return fmt::format("'initial.wavelengths' ({}) must be less than half of the {} cells along x", initial.wavelengths,
                       keys.nx());
  if (keys.spatial() && initial.wavelengths_y >= (keys.ny() + 1) / 2)
    return fmt::format("'initial.wavelengths_y' ({}) must be less than half of the {} cells along y",
                       initial.wavelengths_y, keys.ny());
  return "";
}

void require_room(const ConvectionKeys& keys, const Comm& comm) {
  const double arrays = keys.spatial() ? 10.0 : 8.0;  // at least: the fields, their tendencies, the spectrum
  double cells = 1.0;
  for (const int along : keys.cells) cells *= along;
  require_memory(arrays * sizeof(double) * cells / comm.size(),
                 fmt::format("convection in {} cells", fmt::join(keys.cells, " x ")),
                 "give fewer 'cells', or use more nodes", comm);
}

Convection::Convection(const ConvectionKeys& keys, const Grid& grid, const Fluid& fluid, Context& context)
    : stepper(context.comm, Slab::make(grid, context.comm.rank(), context.comm.size()), fluid), keys_(keys),
      context_(context) {
  warn_of_coarse_cells();
  warn_of_no_averages();
}

/// Kolmogorov length from the exact dissipation and the Nusselt number 0.138 Ra^0.285 of Johnston and Doering 2009.
void Convection::warn_of_coarse_cells() const {
  const double nusselt = 0.138 * std::pow(keys_.rayleigh, 0.285);
  if (nusselt <= 2.0) return;  // close to onset, where there are no small scales
  const double length = std::pow(keys_.prandtl * keys_.prandtl / (keys_.rayleigh * (nusselt - 1.0)), 0.25);
  const Grid& g = grid();
  const double cell = std::max({g.dx(), g.spatial() ? g.dy() : 0.0, g.lz / g.nz});
  if (cell <= constants::pi * length) return;
  std::vector<int> better;
  for (const double along : {g.lx, g.ly, g.lz})
    if (along > 0.0) better.push_back(static_cast<int>(std::ceil(along / (constants::pi * length) / 8.0)) * 8);
  context_.log.warn(fmt::format(
      "cells of {:.3g} are coarser than pi Kolmogorov lengths ({:.3g}) of Rayleigh number {:g}: expect wiggles at the "
      "scale of the grid; take about {} cells, or a smaller Rayleigh number",
      cell, constants::pi * length, keys_.rayleigh, fmt::join(better, " x ")));
}

void Convection::warn_of_no_averages() const {
  if (keys_.average_from == 0.0 || keys_.average_from < keys_.end_time) return;
  context_.log.warn(
      fmt::format("averages begin at 'average_from', {:g}, and the run ends at {:g}: its summary will have none",
                  keys_.average_from, keys_.end_time));
}

void Convection::declare(State& state) {
  static constexpr struct {
    const char *name, *doc;
  } names[5] = {{"u", "velocity along x, on left faces"},
                {"w", "velocity along z, on lower faces"},
                {"b", "buoyancy, at centres"},
                {"p", "pressure, at centres"},
                {"v", "velocity along y, on front faces"}};
  for (int k = 0; k < first_scalar(grid()); ++k)
    state.add({names[k].name, At::cell, "", names[k].doc, true, [this, k] { return stepper.owned().tensor(k); }});
  for (const Scalar& scalar : fluid().scalars) {
    const int k = first_scalar(grid()) + static_cast<int>(&scalar - fluid().scalars.data());
    state.add({scalar.name, At::cell, "", scalar.meaning, true, [this, k] { return stepper.owned().tensor(k); }});
  }
  declare_grid(state);
  state.add({"tendency", At::cell, "", "explicit terms of a stage", false, [] { return TensorRef{}; }});
}

void Convection::declare_grid(State& state) {
  for (int i = 0; i <= grid().nx; ++i) x_faces_.push_back(grid().dx() * i);
  z_faces_ = grid().face;
  periodic_ = {grid().periodic ? 1.0 : 0.0};
  state.add(
      {"x_faces", At::global, "", "faces of the cells along x", false, [this] { return io::tensor_of(x_faces_); }});
  if (grid().spatial()) {
    for (int j = 0; j <= grid().ny; ++j) y_faces_.push_back(grid().dy() * j);
    state.add(
        {"y_faces", At::global, "", "faces of the cells along y", false, [this] { return io::tensor_of(y_faces_); }});
  }
  state.add(
      {"z_faces", At::global, "", "faces of the cells along z", false, [this] { return io::tensor_of(z_faces_); }});
  state.add({"periodic", At::global, "", "1 where x is periodic", false, [this] { return io::tensor_of(periodic_); }});
  flow_ = {keys_.rayleigh, keys_.prandtl, fluid().plates == Wall::no_slip ? 1.0 : 0.0};
  state.add({"flow_numbers", At::global, "", "Rayleigh number, Prandtl number, 1 where the plates are no_slip", false,
             [this] { return io::tensor_of(flow_); }});
}

void Convection::load_correction() {
  if (!keys_.correction) return;
  correction_ = std::make_unique<NetworkCorrection>(*keys_.correction, context_);
  correction_->require_cells(static_cast<std::size_t>(grid().nx), static_cast<std::size_t>(grid().nz));
  StatedFlow own;
  own.rayleigh = keys_.rayleigh;
  own.prandtl = keys_.prandtl;
  if (grid().periodic) own.plates = name_of(fluid().plates);
  require_trained_on(correction_->info(), own,
                     {*keys_.correction, "this run", "correction", keys_.allow_other_parameters}, context_);
}

void Convection::correct(const State& state, double time) {
  const double intervals = time / correction_->interval();
  if (std::fabs(intervals - std::round(intervals)) > 1e-6) return;
  const auto seen = centred_fields(state, context_.comm);
  FieldData frame;
  frame.names = seen.names;
  frame.period = grid().periodic ? grid().lx : 0.0;
  frame.axis = {std::vector<double>{time}, seen.x, seen.z};
  frame.values = seen.values;
  const auto cells = static_cast<std::size_t>(grid().nx) * static_cast<std::size_t>(grid().nz);
  if (context_.comm.root()) frame = correction_->increments(frame);
  for (auto& values : frame.values) {
    values.resize(cells);
    context_.comm.broadcast(std::span<double>(values));
  }
  add_fields(frame, stepper.flow());
  stepper.fill_ghosts();
  stepper.start();
}

void Convection::initialise(State& state, Context& context) {
  load_correction();
  io::on_every_rank(context.comm, [&] { set_initial_state(keys_.initial, stepper.flow(), context.seed); });
  stepper.fill_ghosts();
  stepper.start();
  time_ = sampled_at_ = state.time;
  free_dt_ = 0.1 * keys_.max_timestep;
  choose_timestep(0, state.time);
}

/// Collective: ": u at x = 0.5, z = 0.25 on rank 1", the first value of the flow that is not finite; empty if all are
/// finite.
static std::string broken_place(const Flow& flow, const Comm& comm) {
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), flow.fields);
  const Grid& grid = flow.slab.grid;
  std::string text;
  const auto look = [&](int field, const char* name, int k, int line, int i) {
    const double value = f(field, k, flow.layout.begin(line) + i);
    if (!text.empty() || std::isfinite(value)) return;
    const int row = flow.slab.first + k - 1;
    const std::string along_y = grid.spatial() ? fmt::format(" y = {:.4g},", (line + 0.5) * grid.dy()) : "";
    text = fmt::format(": {} is {:g} at x = {:.4g},{} z = {:.4g} on rank {}", name, std::abs(value),
                       (i + 0.5) * grid.dx(), along_y, 0.5 * (grid.face[row] + grid.face[row + 1]), flow.slab.rank);
  };
  for (int k = 1; k <= flow.rows(); ++k)
    for (int line = 0; line < grid.lines(); ++line)
      for (int i = 0; i < flow.nx(); ++i) {
        look(field_b, "b", k, line, i), look(field_u, "u", k, line, i), look(field_w, "w", k, line, i);
        if (grid.spatial()) look(field_v, "v", k, line, i);
      }
  const int speaker = static_cast<int>(comm.min(static_cast<double>(text.empty() ? comm.size() : comm.rank())));
  if (speaker < comm.size()) comm.broadcast(text, speaker);
  return text;
}

void Convection::choose_timestep(std::int64_t step, double time) {
  if (step % timestep_every == 0) {
    const double rate = largest_courant_rate(stepper.owned(), context_.comm);
    if (!std::isfinite(rate))
      throw NumericalError(
          fmt::format("the flow is not finite any more after step {} (t = {:.6g}){}; take more cells or a smaller "
                      "'cfl' (it is {:g})",
                      step, time, broken_place(stepper.owned(), context_.comm), keys_.courant));
    free_dt_ = std::min(
        {1.5 * free_dt_, keys_.max_timestep, diffusive_limit(stepper.owned()), keys_.courant / std::max(rate, 1e-30)});
  }
  align(time);
}

/// Shortens the step so that an integer number of equal steps ends exactly at the next target time.
void Convection::align(double time) {
  double target = keys_.end_time;
  for (const double interval : {keys_.sample_interval, correction_ ? correction_->interval() : 0.0})
    if (interval > 0.0) target = std::min(target, (std::floor(time / interval + 1e-6) + 1.0) * interval);
  const double left = target - time;
  dt_ = left <= 0.0 ? free_dt_ : left / std::max(1.0, std::ceil(left / free_dt_ - 1e-6));
}

void Convection::sample(std::int64_t step, double time, double) {
  if (step % average_every) return;
  const double since = time - std::max(sampled_at_, keys_.average_from);
  sampled_at_ = time;
  if (since > 0.0) averages.add(means_of(stepper.flow(), context_.comm), since);
}

void Convection::schedule(Schedule& schedule) {
  std::vector<std::string> velocity{"u", "w"};
  if (grid().spatial()) velocity.push_back("v");
  std::vector<std::string> averaged = velocity, projected = velocity;
  averaged.push_back("b");
  projected.push_back("p");
  std::vector<std::string> carried = averaged;
  for (const Scalar& scalar : fluid().scalars) carried.push_back(scalar.name);
  std::vector<std::string> read = carried;
  read.insert(read.end(), {"p", "tendency"});
  for (int stage = 0; stage < Stepper::stage_count; ++stage) {
    schedule.add(
        {fmt::format("explicit: stage {}", stage + 1), read, {"tendency"}, [this, stage](State&, const StepInfo& info) {
           stepper.explicit_part(stage, info.dt);
         }});
    schedule.add({fmt::format("diffusion: stage {}", stage + 1),
                  {"tendency"},
                  carried,
                  [this, stage](State&, const StepInfo& info) { stepper.diffusion(stage, info.dt); }});
    schedule.add({fmt::format("pressure: stage {}", stage + 1), velocity, projected,
                  [this, stage](State&, const StepInfo& info) { stepper.projection(stage, info.dt); }});
  }
  if (keys_.correction)
    schedule.add(
        {"correction: network", {"u", "w", "b", "p"}, {"u", "w", "b"}, [this](State& state, const StepInfo& info) {
           correct(state, info.time);
         }});
  schedule.add({"statistics: averages", averaged, {}, [this](State&, const StepInfo& info) {
                  sample(info.step, info.time, info.dt);
                }});
  schedule.add({"timestep: courant", velocity, {}, [this](State&, const StepInfo& info) {
                  time_ = info.time;
                  choose_timestep(info.step, info.time);
                }});
}

void Convection::restore(State& state, const io::Group& saved) {
  load_correction();
  stepper.fill_ghosts();
  time_ = state.time;
  free_dt_ = saved.read<double>("free_timestep");
  align(time_);  // the run may go on past its former end, towards another time
  sampled_at_ = saved.read<double>("sampled_at");
  averages.load(saved);
}

void Convection::save(io::Group& group) const {
  group.write("free_timestep", free_dt_);
  group.write("sampled_at", sampled_at_);
  averages.save(group);
}

double Convection::divergence() { return context_.comm.max(largest_divergence(stepper.flow())); }

Physics::Work Convection::work() const { return {grid().cells(), "cell"}; }

std::string Convection::summary() const {
  const Grid& g = grid();
  return fmt::format(
      "Ra {:g}, Pr {:g}; {} cells of {:.3g} x {}{:.3g} to {:.3g}; {} ranks of {} {} or so; 3 stages and 3 Poisson "
      "solutions a step",
      keys_.rayleigh, keys_.prandtl, fmt::join(keys_.cells, " x "), g.dx(),
      g.spatial() ? fmt::format("{:.3g} x ", g.dy()) : "", g.least_height(), g.height(g.nz / 2),
      stepper.owned().slab.ranks, g.nz / stepper.owned().slab.ranks, g.spatial() ? "planes" : "rows");
}

std::vector<Citation> Convection::citations() const {
  std::vector<Citation> out = {
      {"verzicco1996",
       R"(@article{verzicco1996, author={Verzicco, R. and Orlandi, P.}, title={A finite-difference scheme for three-dimensional incompressible flows in cylindrical coordinates}, journal={J. Comput. Phys.}, volume={123}, pages={402--414}, year={1996}})"},
      {"rai1991",
       R"(@article{rai1991, author={Rai, M. M. and Moin, P.}, title={Direct simulations of turbulent flow using finite-difference schemes}, journal={J. Comput. Phys.}, volume={96}, pages={15--53}, year={1991}})"}};
  if (correction_)
    for (const auto& citation : correction_->citations()) out.push_back(citation);
  return out;
}

}  // namespace cambium::superres
