#include "plugins/assimilate/models/lorenz63.hpp"

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/assimilate/models/runge_kutta.hpp"

namespace cambium::assimilate {

void Lorenz63::Params::describe(deck::Describe<Params>& d) {
  d("sigma", &Params::sigma, "Prandtl number sigma").positive().def(10.0);
  d("rho", &Params::rho, "Rayleigh number rho over the critical one").positive().def(28.0);
  d("beta", &Params::beta, "geometric factor beta").positive().def(8.0 / 3.0);
  d("timestep", &Params::timestep, "longest time step of the Runge-Kutta method").positive().def(0.01);
}

Lorenz63::Lorenz63(const Params& params, Context&) : params_(params) {
  space_.x = {0.0};
  space_.z = {0.0};
  space_.span_x = space_.span_z = {0.0, 0.0};
  space_.fields = {{"x", "convection", {0.0}, {0.0}},
                   {"y", "temperature difference of rising and sinking fluid", {0.0}, {0.0}},
                   {"z", "distortion of the temperature profile", {0.0}, {0.0}}};
}

std::vector<double> Lorenz63::first_state(std::uint64_t seed, std::uint64_t id) {
  const Random4 random(seed, stream("assimilate.lorenz63"), id, 0);
  return {1.5 + random.normal(0), -1.5 + random.normal(1), 25.5 + random.normal(2)};
}

void Lorenz63::advance(std::span<double> state, double from, double to) {
  runge_kutta(state, from, to, params_.timestep, "lorenz63", [&](std::span<const double> s, std::span<double> slope) {
    slope[0] = params_.sigma * (s[1] - s[0]);
    slope[1] = s[0] * (params_.rho - s[2]) - s[1];
    slope[2] = s[0] * s[1] - params_.beta * s[2];
  });
}

FieldRecord Lorenz63::read(const std::string& path) const {
  throw KeyError("assimilate.data.model", "data",
                 fmt::format("lorenz63 reads no fields from '{}': leave 'data' out to generate the truth", path));
}

std::string Lorenz63::summary() const {
  return fmt::format("lorenz63: sigma {:g}, rho {:g}, beta {:.4g}, time step {:g}", params_.sigma, params_.rho,
                     params_.beta, params_.timestep);
}

std::vector<Citation> Lorenz63::citations() const {
  return {
      {"lorenz1963",
       R"(@article{lorenz1963, author={Lorenz, E. N.}, title={Deterministic nonperiodic flow}, journal={J. Atmos. Sci.}, volume={20}, pages={130--141}, year={1963}})"}};
}

}  // namespace cambium::assimilate
