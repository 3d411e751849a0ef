#include "plugins/assimilate/models/lorenz96.hpp"

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/assimilate/models/runge_kutta.hpp"

namespace cambium::assimilate {

void Lorenz96::Params::describe(deck::Describe<Params>& d) {
  d("variables", &Params::variables, "number of variables on the circle").at_least(4).def(40);
  d("forcing", &Params::forcing, "forcing F").def(8.0);
  d("timestep", &Params::timestep, "longest time step of the Runge-Kutta method").positive().def(0.05);
}

Lorenz96::Lorenz96(const Params& params, Context&) : params_(params) {
  const auto n = static_cast<std::size_t>(params.variables);
  for (std::size_t i = 0; i < n; ++i) space_.x.push_back(static_cast<double>(i));
  space_.z = {0.0};
  space_.period = static_cast<double>(n);
  space_.span_x = {0.0, static_cast<double>(n)};
  space_.span_z = {0.0, 0.0};
  space_.fields = {{"x", "variables on the circle", space_.x, space_.z}};
}

std::vector<double> Lorenz96::first_state(std::uint64_t seed, std::uint64_t id) {
  std::vector<double> out;
  for (std::size_t i = 0; i < space_.elements(); ++i)
    out.push_back(params_.forcing + Random4(seed, stream("assimilate.lorenz96"), i, id).normal(0));
  return out;
}

void Lorenz96::advance(std::span<double> state, double from, double to) {
  const auto n = state.size();
  const double forcing = params_.forcing;
  runge_kutta(state, from, to, params_.timestep, "lorenz96", [&](std::span<const double> x, std::span<double> slope) {
    for (std::size_t i = 0; i < n; ++i) {
      const double after = x[i + 1 < n ? i + 1 : 0], before = x[i > 0 ? i - 1 : n - 1],
                   second = x[i > 1 ? i - 2 : n + i - 2];
      slope[i] = (after - second) * before - x[i] + forcing;
    }
  });
}

FieldRecord Lorenz96::read(const std::string& path) const {
  throw KeyError("assimilate.data.model", "data",
                 fmt::format("lorenz96 reads no fields from '{}': leave 'data' out to generate the truth", path));
}

double Lorenz96::seconds_per_time() const {
  return 4e-9 * static_cast<double>(params_.variables) * 4.0 / params_.timestep;
}

std::string Lorenz96::summary() const {
  return fmt::format("lorenz96: {} variables, F = {:g}, time step {:g}", params_.variables, params_.forcing,
                     params_.timestep);
}

std::vector<Citation> Lorenz96::citations() const {
  return {
      {"lorenz1998",
       R"(@article{lorenz1998, author={Lorenz, E. N. and Emanuel, K. A.}, title={Optimal sites for supplementary weather observations: simulation with a small model}, journal={J. Atmos. Sci.}, volume={55}, pages={399--414}, year={1998}})"}};
}

}  // namespace cambium::assimilate
