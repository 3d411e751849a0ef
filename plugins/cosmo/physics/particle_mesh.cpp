#include "plugins/cosmo/physics/particle_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/particles/tensor_of_view.hpp"
#include "plugins/cosmo/gravity/mass_fluctuations.hpp"

namespace cambium::cosmo {
namespace {

constexpr std::size_t large_bins = 1;  // whose growth is compared with linear theory

std::int64_t cube(int n) { return std::int64_t{n} * n * n; }

/// A lattice and a mesh that do not fit each other beat: forces on a lattice at rest are not 0, and the smallest waves
/// grow a thousand times too much.
std::string problem_of_mesh(int particles, int mesh) {
  if (mesh % particles == 0 || particles % mesh == 0) return {};
  const int lower = mesh / particles * particles;
  return fmt::format(
      "mesh ({}) must be a multiple or a divisor of particles ({}): otherwise the cells pull a lattice at rest apart; "
      "take {}{}",
      mesh, particles, lower > 0 ? fmt::format("{} or ", lower) : "", lower > 0 ? lower + particles : particles);
}

}  // namespace

void ParticleMeshPhysics::Params::describe(deck::Describe<Params>& d) {
  d("cosmology", &Params::cosmology, "a flat universe of matter and dark energy, and the spectrum of its density");
  d("box_size", &Params::box, "edge of the periodic cube, Mpc/h").formerly("box").range(0.1, 1e5).example("256");
  d("particles", &Params::particles, "number of particles along an edge; an even number with small prime factors")
      .range(4, 512)
      .example("64");
  d("mesh", &Params::mesh,
    "number of mesh cells along an edge for forces and spectra; default: as many as particles, else a multiple or "
    "divisor of that")
      .range(4, 512);
  d("assignment", &Params::assignment,
    "mass assignment: over the two nearest cells along each axis (cloud in cell), or over three (triangular-shaped "
    "cloud)")
      .options({{"cloud_in_cell", Clouds::cloud_in_cell}, {"triangular", Clouds::triangular}})
      .def(Clouds::triangular);
  d("initial_scale_factor", &Params::start, "scale factor at the start, 1 today")
      .formerly("start")
      .range(1e-3, 1.0)
      .def(0.02);
  d("final_scale_factor", &Params::end, "scale factor at the end").formerly("end").range(1e-3, 2.0).def(1.0);
  d("num_steps", &Params::time_steps, "steps from start to end").formerly("time_steps").at_least(1).def(50);
  d("spacing", &Params::spacing, "steps of equal length in the logarithm of the scale factor, or in itself")
      .options({{"logarithmic", Spacing::logarithmic}, {"linear", Spacing::linear}})
      .def(Spacing::logarithmic);
  d("order", &Params::order,
    "order of the Lagrangian perturbation theory of the initial conditions: 1 (Zel'dovich) or 2")
      .range(1, 2)
      .def(2);
  d.check([](const Params& p) -> std::string {
    if (p.end <= p.start)
      return fmt::format("final_scale_factor ({}) must be greater than initial_scale_factor ({})", p.end, p.start);
    for (const auto& [name, n] : {std::pair{"particles", p.particles}, {"mesh", p.mesh.value_or(p.particles)}})
      if (n % 2) return fmt::format("{} ({}) must be an even number; take {}", name, n, n + 1);
    return problem_of_mesh(p.particles, p.mesh.value_or(p.particles));
  });
}

ParticleMeshPhysics::ParticleMeshPhysics(const Params& params, Context& context)
    : params_(params), comm_(context.comm), times_{params.start, params.end, params.time_steps, params.spacing},
      matter_(params.mesh.value_or(params.particles), params.box, cube(params.particles), Expansion(params.cosmology),
              params.assignment, context.comm),
      theory_(params.cosmology, {params.particles, params.box, matter_.origin(), params.order}, context.seed) {}

void ParticleMeshPhysics::declare(State& state, Context&) {
  const auto field = [&](const char* name, const char* unit, const char* doc, bool restart, View<double**>& values) {
    state.add({name, At::particle, unit, doc, restart, [&values] { return tensor_of(values); }});
  };
  field("position", "Mpc/h", "of the particles, in the order of the lattice", true, matter_.position);
  field("momentum", "Mpc/h H0", "a^2 dx/dt of the particles", true, matter_.momentum);
  field("force", "Mpc/h H0^2", "minus the gradient of the potential at the particles", false, matter_.force);
  state.add({"density", At::global, "1", "particles in each cell of the mesh, on every rank", false,
             [this] { return tensor_of(matter_.mass()); }});
  state.add({"field", At::global, "Mpc/h H0^2", "force on the mesh, on every rank", false, [] { return TensorRef{}; }});
}

void ParticleMeshPhysics::initialise(State& state, Context& context) {
  const double spacing = params_.box / params_.particles;
  if (const auto problem = problem_of_start(params_.cosmology, params_.start, spacing); !problem.empty())
    context.log.warn(problem);
  const std::int64_t rows = even_share(matter_.particles(), comm_);
  matter_.resize(rows);
  theory_.place(params_.start, comm_.exclusive_sum(rows), matter_.position, matter_.momentum);
  state.time = params_.start;
  begin_at(0);
}

void ParticleMeshPhysics::restore(State& state, Context&, const io::Group&, bool) { begin_at(state.step); }

void ParticleMeshPhysics::begin_at(std::int64_t step) {
  step_ = step;
  start_waves_ = theory_.waves(params_.start, matter_.box(), matter_.clouds(), comm_);
  matter_.forces();
  if (finished()) write_page();
}

void ParticleMeshPhysics::schedule(Schedule& schedule) {
  schedule.add({"kick: first half", {"momentum", "force"}, {"momentum"}, [this](State&, const StepInfo& info) {
                  matter_.kick(times_.after(info.step - 1), times_.within(info.step - 1));
                }});
  schedule.add({"drift", {"position", "momentum"}, {"position"}, [this](State&, const StepInfo& info) {
                  matter_.drift(times_.after(info.step - 1), times_.after(info.step));
                }});
  schedule.add({"gravity: density", {"position"}, {"density"}, [this](State&, const StepInfo&) { matter_.assign(); }});
  schedule.add({"gravity: waves", {"density"}, {"field"}, [this](State&, const StepInfo&) { matter_.solve(); }});
  schedule.add({"gravity: forces", {"position", "field"}, {"force"}, [this](State&, const StepInfo&) {
                  matter_.interpolate();
                }});
  schedule.add({"kick: second half", {"momentum", "force"}, {"momentum"}, [this](State&, const StepInfo& info) {
                  matter_.kick(times_.within(info.step - 1), times_.after(info.step));
                  step_ = info.step;
                }});
  schedule.add({"comparison: at the end", {"density"}, {}, [this](State&, const StepInfo&) {
                  if (finished()) write_page();
                }});
}

/// Amplitude of the largest waves in proportion to that at the start: what is still correlated with it.
double ParticleMeshPhysics::growth() const {
  const auto& box = matter_.box();
  const auto modes = bins_of(box).modes;
  const auto both = cross_power(box, matter_.waves(), start_waves_, matter_.clouds());
  const auto start = cross_power(box, start_waves_, start_waves_, matter_.clouds());
  double now = 0.0, then = 0.0;
  for (std::size_t b = 0; b < large_bins && b < modes.size(); ++b) {
    now += modes[b] * both[b];
    then += modes[b] * start[b];
  }
  return now / then;
}

std::vector<Observable> ParticleMeshPhysics::observables() const {
  return {{"redshift", "", "1/a - 1", true},
          {"growth", "", "amplitude of the largest waves over that at the start", true},
          {"growth_over_linear", "", "the same relative to linear theory", true},
          {"deviation", "", "of the density from its mean, over the cells of the mesh, in units of the mean", true},
          {"momentum", "", "sum of all momenta over the sum of their lengths", false}};
}

void ParticleMeshPhysics::measure(const State&, Context&, std::span<double> values) {
  const double a = times_.after(step_);
  const auto& box = matter_.box();
  values[0] = 1.0 / a - 1.0;
  values[1] = growth();
  values[2] = values[1] / theory_.linear_growth(params_.start, a);
  const auto mass = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matter_.mass());
  const double mean = static_cast<double>(matter_.particles()) / static_cast<double>(box.values());
  double square = 0.0;
  for (std::size_t i = 0; i < mass.extent(0); ++i) {
    const double delta = static_cast<double>(mass(i)) / (mean * static_cast<double>(whole_particle)) - 1.0;
    square += delta * delta;
  }
  values[3] = std::sqrt(square / static_cast<double>(box.values()));
  const auto momentum = matter_.total_momentum();
  values[4] = momentum[1] > 0.0 ? momentum[0] / momentum[1] : 0.0;
}

std::optional<GridFields> ParticleMeshPhysics::grid_fields(const State&, const Comm& comm) const {
  GridFields out;
  const int n = matter_.box().cells();
  for (const char* name : {"x", "y", "z"}) {
    out.axes.push_back({name, {}});
    for (int k = 0; k <= n; ++k) out.axes.back().faces.push_back((k - 0.5) * matter_.box().box() / n);
  }
  out.fields.push_back({"density", "1", 1, {}});
  if (!comm.root()) return out;
  const auto mass = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matter_.mass());
  const double mean = static_cast<double>(matter_.particles()) / static_cast<double>(cube(n));
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        out.fields[0].values.push_back(static_cast<double>(mass((x * n + y) * n + z)) /
                                       (mean * static_cast<double>(whole_particle)));
  return out;
}

Spectra ParticleMeshPhysics::spectra() const {
  const auto& box = matter_.box();
  Spectra out;
  out.a = times_.after(step_);
  const double now = theory_.expansion().growth(out.a).first, grown = theory_.linear_growth(params_.start, out.a);
  out.bins = bins_of(box);
  out.power = cross_power(box, matter_.waves(), matter_.waves(), matter_.clouds());
  out.linear = cross_power(box, start_waves_, start_waves_, matter_.clouds());
  for (auto& p : out.linear) p *= grown * grown;
  const auto theory = theory_.waves(out.a, box, matter_.clouds(), comm_);
  out.lpt = cross_power(box, theory, theory, matter_.clouds());
  out.expected = mean_over_modes(box, [&](double k) { return now * now * theory_.power()(k); });
  out.shot_noise = std::pow(box.box(), 3) / static_cast<double>(matter_.particles());
  return out;
}

/// Collective: the table of the stage summary.
void ParticleMeshPhysics::write_page() {
  const auto s = spectra();
  const double ratio = growth() / theory_.linear_growth(params_.start, s.a);
  results_ = {
      {"growth_of_the_largest_waves_over_linear_theory", "growth of the largest waves over linear theory", ratio}};
  if (const auto mass =
          nonlinear_mass(theory_.power(), params_.cosmology.omega_m, theory_.expansion().growth(s.a).first))
    results_.push_back(
        {"nonlinear_mass", "mass of spheres where the linear density deviates by its mean", *mass, "solar masses/h"});
  lines_.assign(1, fmt::format("{:<16}{:>16}{:>16}{:>16}{:>16}", "k (h/Mpc)", "power, (Mpc/h)^3", "linear theory",
                               fmt::format("{}LPT alone", params_.order), "mean of fields"));
  const auto bins = s.bins.k.size();
  for (std::size_t b = 0; b < bins; b = std::max(b + 1, static_cast<std::size_t>(1.6 * static_cast<double>(b + 1)) - 1))
    lines_.push_back(fmt::format("{:<16.4g}{:>16.5g}{:>16.5g}{:>16.5g}{:>16.5g}", s.bins.k[b], s.power[b], s.linear[b],
                                 s.lpt[b], s.expected[b]));
}

std::string ParticleMeshPhysics::summary() const {
  const auto& box = matter_.box();
  return fmt::format(
      "particle_mesh: {0}^3 particles and {1}^3 cells in ({2:g} Mpc/h)^3, a = {3:g} to {4:g} in {5} steps, omega_m "
      "{6:g}, sigma_8 {7:g}",
      params_.particles, box.cells(), box.box(), params_.start, params_.end, params_.time_steps,
      params_.cosmology.omega_m, params_.cosmology.sigma_8);
}

std::vector<Citation> ParticleMeshPhysics::citations() const {
  auto out = theory_.power().citations();
  out.push_back(
      {"crocce2006",
       R"(@article{crocce2006, author={Crocce, M. and Pueblas, S. and Scoccimarro, R.}, title={Transients from initial conditions in cosmological simulations}, journal={MNRAS}, volume={373}, pages={369--381}, year={2006}})"});
  out.push_back(
      {"quinn1997",
       R"(@article{quinn1997, author={Quinn, T. and Katz, N. and Stadel, J. and Lake, G.}, title={Time stepping N-body simulations}, journal={arXiv:astro-ph/9710043}, year={1997}})"});
  out.push_back(
      {"hockney1988",
       R"(@book{hockney1988, author={Hockney, R. W. and Eastwood, J. W.}, title={Computer simulation using particles}, publisher={Adam Hilger}, year={1988}})"});
  return out;
}

void ParticleMeshPhysics::examine(Check& check) {
  const double waves = 8.0 * static_cast<double>(matter_.box().waves());
  const double lattice = 8.0 * std::pow(params_.particles + 2.0, 3), all = static_cast<double>(matter_.particles());
  check.memory(fmt::format("{}^3 particles, {}^3 cells on every rank", params_.particles, matter_.box().cells()),
               13.0 * waves + 10.0 * lattice + 24.0 * 7.0 * all / comm_.size());
  check.effort(1e-6 * all + 2e-7 * static_cast<double>(matter_.box().values()));
}

}  // namespace cambium::cosmo
