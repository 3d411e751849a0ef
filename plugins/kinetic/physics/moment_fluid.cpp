#include "plugins/kinetic/physics/moment_fluid.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/parallel/memory.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/physics/examine.hpp"

namespace cambium::kinetic {

static constexpr double two_pi = 6.283185307179586;

void MomentFluid::Params::describe(deck::Describe<Params>& d) {
  d("parameters", &Params::parameters, "named constants for all formulas of this stage; they may refer to each other")
      .def({});
  d("length", &Params::length, "length of the periodic domain (formula)").example("4*pi");
  d("points", &Params::points, "number of grid points; even, with small prime factors").at_least(8).def(32);
  d("density", &Params::density, "initial density (formula in x)").def("1");
  d("velocity", &Params::velocity, "initial velocity (formula in x)").def("0");
  d("pressure", &Params::pressure, "initial pressure (formula in x); default: the density, a temperature of 1").def("");
  d("closure", &Params::closure, "the heat flux");
  d("timestep", &Params::timestep, "time step").positive().def(0.05);
  d("end_time", &Params::end_time, "time at which the run ends; the last step is shortened to meet it").positive();
  d("growth_rate", &Params::growth_rate, "fit of growth or damping to the energy of the field");
}

static double length_of(const MomentFluid::Params& params) {
  const auto values = values_of(params.parameters);
  const double length = deck::about_key("kinetic.formula", "length", [&] { return constant(params.length, values); });
  if (!(length > 0.0))
    throw KeyError("moment_fluid.length.range", "length", fmt::format("length: {:g} must be larger than 0", length));
  return length;
}

/// Checks the memory of the arrays below before allocation: about 30 values per point.
static int points_of(const MomentFluid::Params& params, const Comm& comm) {
  require_memory(30.0 * sizeof(double) * params.points, fmt::format("a fluid at {} points", params.points),
                 "give fewer 'points'", comm);
  return params.points;
}

MomentFluid::MomentFluid(const Params& params, Context& context)
    : params_(params), context_(context), n_(points_of(params, context.comm)), modes_(n_ / 2 + 1),
      length_(length_of(params)), fft_(n_) {
  auto rows = [](const std::string& name, int count, int columns) { return View<double**>(name, count, columns); };
  now_ = rows("fluid: moments", 3, n_);
  trial_ = rows("fluid: trial", 3, n_);
  rate_ = rows("fluid: rates", 3, n_);
  sum_ = rows("fluid: sum", 3, n_);
  values_ = rows("fluid: values", 4, n_);
  spectrum_ = rows("fluid: waves", 4, 2 * modes_);
  heat_ = rows("fluid: heat flux", 1, 2 * modes_);
  slopes_ = rows("fluid: slopes", 5, 2 * modes_);
  gradient_ = rows("fluid: gradients", 5, n_);
  if (params.growth_rate) growth_.emplace(*params.growth_rate);
}

/// About 20 rows of the line.
void MomentFluid::examine(Check& check) {
  warn_of_unused(params_.parameters, check);
  check.require_written_by("closure.model", params_.closure.model, {{Origin::network, "heat_flux_kernel"}});
  check.memory("moments", 160.0 * n_);
  check.effort(1e-5 * n_);
}

void MomentFluid::declare(State& state, Context&) {
  state.add({"moments", At::cell, "", "density, velocity and pressure", false, [] { return TensorRef{}; }});
}

/// Mean of a row of moments.
template <class Rows>
static double mean_of(const Rows& rows, int row, int n) {
  double sum = 0.0;
  for (int j = 0; j < n; ++j) sum += rows(row, j) / n;
  return sum;
}

void MomentFluid::initialise(State& state, Context&) {
  const auto values = values_of(params_.parameters);
  const std::string texts[] = {params_.density, params_.velocity,
                               params_.pressure.empty() ? params_.density : params_.pressure};
  const auto host = Kokkos::create_mirror_view(now_);
  for (int c = 0; c < 3; ++c) {
    const char* key = c == 0 || (c == 2 && params_.pressure.empty()) ? "density" : c == 1 ? "velocity" : "pressure";
    const auto formula = deck::about_key("kinetic.formula", key, [&] { return Formula(texts[c], {"x"}, values); });
    for (int j = 0; j < n_; ++j) {
      const double x = length_ * j / n_;
      host(c, j) = formula(std::span(&x, 1));
      if (c != 1 && !(host(c, j) > 0.0))
        throw KeyError("moment_fluid.positive", key,
                       fmt::format("{} is {:g} at x = {:.4g}; it must be larger than 0", c ? "pressure" : "density",
                                   host(c, j), x));
    }
  }
  Kokkos::deep_copy(now_, host);
  time_ = state.time;
  set_units(mean_of(host, 0, n_), mean_of(host, 2, n_));
  rates(now_);
  if (growth_) growth_->add(time_, field_energy());
}

/// Mean density and pressure at the start give the units of the closure; the equations keep both up to terms of second
/// order only.
void MomentFluid::set_units(double n0, double p0) {
  n0_ = n0;
  p0_ = p0;
  const double vt = std::sqrt(p0 / n0), debye = vt / std::sqrt(n0);
  std::vector<double> wavenumbers;
  for (int k = 0; k < modes_; ++k) wavenumbers.push_back(two_pi * k / length_ * debye);
  table_ = tabulate(params_.closure, wavenumbers, context_);
  const std::vector<double>* from[] = {&table_.real, &table_.imaginary, &table_.velocity};
  for (int c = 0; c < 3; ++c) {
    multiplier_[c] = View<double*>("fluid: closure", modes_);
    const auto to = Kokkos::create_mirror_view(multiplier_[c]);
    for (int k = 0; k < modes_; ++k) to(k) = (*from[c])[k] * (c < 2 ? n0 * vt : p0);
    Kokkos::deep_copy(multiplier_[c], to);
  }
}

void MomentFluid::restore(State& state, Context&, const io::Group& saved, bool) {
  const auto rows = saved.read<std::vector<double>>("moments");
  const auto host = Kokkos::create_mirror_view(now_);
  for (int c = 0; c < 3; ++c)
    for (int j = 0; j < n_; ++j) host(c, j) = rows.at(c * n_ + j);
  Kokkos::deep_copy(now_, host);
  time_ = state.time;
  // An earlier version left the means out, and its runs changed a little at a restart.
  const auto mean = saved.exists("mean") ? saved.read<std::vector<double>>("mean")
                                         : std::vector<double>{mean_of(host, 0, n_), mean_of(host, 2, n_)};
  set_units(mean.at(0), mean.at(1));
  if (growth_) growth_->load(saved);
}

void MomentFluid::save(io::Group& group) const {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), now_);
  std::vector<double> rows;
  for (int c = 0; c < 3; ++c)
    for (int j = 0; j < n_; ++j) rows.push_back(host(c, j));
  group.write("moments", rows);
  group.write("mean", std::vector<double>{n0_, p0_});
  if (growth_) growth_->save(group);
}

void MomentFluid::schedule(Schedule& schedule) {
  schedule.add(
      {"fluid: four Runge-Kutta stages", {"moments"}, {"moments"}, [this](State&, StepInfo& info) { step(info); }});
}

double MomentFluid::timestep(const State& state) const {
  return EndTime{params_.end_time}.step(state.time, params_.timestep);
}

void MomentFluid::close() {
  const auto timer = context_.timing.scope("closure");
  const auto waves = spectrum_, heat = heat_;
  const auto re = multiplier_[0], im = multiplier_[1], by_u = multiplier_[2];
  const int modes = modes_;
  Kokkos::parallel_for(
      "fluid: heat flux", Range(0, modes), KOKKOS_LAMBDA(int k) {
        const double t = waves(3, k), ti = waves(3, modes + k);
        heat(0, k) = re(k) * t - im(k) * ti + by_u(k) * waves(1, k);
        heat(0, modes + k) = re(k) * ti + im(k) * t + by_u(k) * waves(1, modes + k);
      });
}

void MomentFluid::differentiate() {
  const auto waves = spectrum_, heat = heat_, slopes = slopes_;
  const int modes = modes_, kept = n_ / 3;
  const double unit = two_pi / length_;
  Kokkos::parallel_for(
      "fluid: derivatives", Range(0, modes), KOKKOS_LAMBDA(int m) {
        const double k = m <= kept ? unit * m : 0.0;
        for (int c = 0; c < 3; ++c) {
          slopes(c, m) = -k * waves(c, modes + m);
          slopes(c, modes + m) = k * waves(c, m);
        }
        const double inverse = k > 0.0 ? 1.0 / k : 0.0;  // ik E = -n
        slopes(3, m) = -inverse * waves(0, modes + m);
        slopes(3, modes + m) = inverse * waves(0, m);
        slopes(4, m) = -k * heat(0, modes + m);
        slopes(4, modes + m) = k * heat(0, m);
      });
}

void MomentFluid::rates(const View<double**>& in) {
  const auto values = values_, gradient = gradient_, rate = rate_;
  Kokkos::parallel_for(
      "fluid: temperature", Range(0, n_), KOKKOS_LAMBDA(int j) {
        for (int c = 0; c < 3; ++c) values(c, j) = in(c, j);
        values(3, j) = in(2, j) / in(0, j);
      });
  fft_.forward(values_, 0, spectrum_, modes_, 4);
  close();
  differentiate();
  fft_.backward(slopes_, modes_, gradient_, 0, 5);
  Kokkos::parallel_for(
      "fluid: rates", Range(0, n_), KOKKOS_LAMBDA(int j) {
        const double n = in(0, j), u = in(1, j), p = in(2, j);
        rate(0, j) = -n * gradient(1, j) - u * gradient(0, j);
        rate(1, j) = -u * gradient(1, j) - gradient(2, j) / n - gradient(3, j);
        rate(2, j) = -u * gradient(2, j) - 3.0 * p * gradient(1, j) - gradient(4, j);
      });
}

void MomentFluid::step(StepInfo& info) {
  const double share[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0}, reach[] = {0.5, 0.5, 1.0, 0.0};
  Kokkos::deep_copy(sum_, now_);
  for (int s = 0; s < 4; ++s) {
    rates(s ? trial_ : now_);
    const auto now = now_, trial = trial_, rate = rate_, sum = sum_;
    const double add = share[s] * info.dt, ahead = reach[s] * info.dt;
    Kokkos::parallel_for(
        "fluid: stage", Range(0, n_), KOKKOS_LAMBDA(int j) {
          for (int c = 0; c < 3; ++c) {
            sum(c, j) += add * rate(c, j);
            trial(c, j) = now(c, j) + ahead * rate(c, j);
          }
        });
  }
  std::swap(now_, sum_);
  time_ += info.dt;
  info.time = time_;
  if (!growth_) return;
  const double energy = field_energy();
  if (!std::isfinite(energy))
    throw NumericalError(fmt::format(
        "the moments are not finite any more at step {}, time {:.6g}; try a shorter 'timestep'", info.step, time_));
  growth_->add(time_, energy);
}

/// From the waves of the density, E_k = i n_k / k.
double MomentFluid::field_energy() {
  fft_.forward(View<const double**>(now_), 0, spectrum_, modes_, 1);
  const auto waves = spectrum_;
  const int modes = modes_, n = n_;
  const double unit = two_pi / length_, length = length_;
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "fluid: field energy", Range(1, modes),
      KOKKOS_LAMBDA(int k, double& s) {
        const double twice = 2 * k == n ? 1.0 : 2.0;
        s += twice * (waves(0, k) * waves(0, k) + waves(0, modes + k) * waves(0, modes + k)) / (unit * k * unit * k);
      },
      sum);
  return 0.5 * length * sum / (static_cast<double>(n) * n);
}

std::vector<Observable> MomentFluid::observables() const {
  return {{"electric_energy", "", "energy of the electric field", true},
          {"kinetic_energy", "", "of flow and heat", true},
          {"total_energy", "", "kinetic and field energy", true},
          {"particles", "", "number", true}};
}

void MomentFluid::measure(const State&, Context&, std::span<double> values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), now_);
  double kinetic = 0.0, particles = 0.0;
  for (int j = 0; j < n_; ++j) {
    kinetic += 0.5 * (host(2, j) + host(0, j) * host(1, j) * host(1, j)) * length_ / n_;
    particles += host(0, j) * length_ / n_;
  }
  values[0] = field_energy();
  values[1] = kinetic;
  values[2] = kinetic + values[0];
  values[3] = particles;
}

std::vector<std::string> MomentFluid::report() const {
  std::vector<std::string> out;
  if (!growth_) return out;
  const auto fit = growth_->fit();
  if (const auto text = growth_->excuse(fit); !text.empty()) out.push_back(text);
  if (const auto text = growth_->doubts(fit); !text.empty()) context_.log.warn(text);
  return out;
}

std::vector<Result> MomentFluid::results() const {
  std::vector<Result> out;
  if (growth_) out = growth_->results(growth_->fit());
  double step = 0.0, closure = 0.0;  // the sections do not overlap
  for (const auto& section : context_.timing.sections()) {
    if (section.name == "closure") closure = section.seconds;
    if (section.name == "fluid") step = section.seconds;
  }
  if (closure > 0.0)
    out.push_back({.key = "the_closure_took",
                   .label = "closure, fraction of the time of a step",
                   .value = 100.0 * closure / (step + closure),
                   .unit = "%",
                   .digits = 3});
  return out;
}

std::vector<Citation> MomentFluid::citations() const {
  return {{"hammett1990",
           "@article{hammett1990, author = {Hammett, G. W. and Perkins, F. W.}, title = {Fluid moment models for "
           "Landau damping with application to the ion-temperature-gradient instability}, journal = {Phys. Rev. "
           "Lett.}, volume = {64}, pages = {3019--3022}, year = {1990}}"}};
}

std::string MomentFluid::summary() const {
  using C = ClosureParams::Type;
  const auto type = params_.closure.type;
  return fmt::format("moment_fluid: {} points, heat flux: {}", n_,
                     type == C::none              ? "none"
                     : type == C::hammett_perkins ? "Hammett-Perkins"
                                                  : params_.closure.model);
}

}  // namespace cambium::kinetic
