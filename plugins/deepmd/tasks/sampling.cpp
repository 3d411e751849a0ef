#include "plugins/deepmd/tasks/sampling.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::deepmd {

void Perturbed::describe(deck::Describe<Perturbed>& d) {
  d("frames", &Perturbed::frames, "number of configurations").at_least(0);
  d("strain", &Perturbed::strain, "largest absolute value of each component of a random symmetric strain")
      .range(0.0, 0.3)
      .def(0.03);
  d("volume", &Perturbed::volume, "largest random relative change of all cell lengths, in addition to the strain")
      .range(0.0, 0.3)
      .def(0.0);
  d("displacement", &Perturbed::displacement, "standard deviation of each component of the atoms' displacements")
      .unit("angstrom")
      .non_negative()
      .def(0.1);
}

void Trajectories::describe(deck::Describe<Trajectories>& d) {
  d("temperature", &Trajectories::temperature, "thermostat temperatures (K), one trajectory each").unit("K").positive();
  d("strain", &Trajectories::strain, "relative changes of the cell's lengths; one trajectory each").def({0.0});
  d("melt_at", &Trajectories::melt_at, "temperature of the first half of the equilibration, to make a liquid")
      .unit("K")
      .non_negative()
      .def(0.0);
  d("frames", &Trajectories::frames, "configurations of each trajectory").at_least(1).def(20);
  d("every", &Trajectories::every, "steps between two of them").at_least(1).def(25);
  d("equilibrate", &Trajectories::equilibrate, "steps before the first").at_least(0).def(200);
  d("timestep", &Trajectories::timestep, "length of a step").unit("ps").positive().def(0.002);
  d("damping", &Trajectories::damping, "relaxation time of the Langevin thermostat (inverse friction), as LAMMPS damp")
      .unit("ps")
      .positive()
      .def(0.1)
      .formerly("damping_time");
}

namespace {

constexpr auto sampling_stream = static_cast<Stream>(40);  // this plugin's own

/// Cell and positions mapped by x -> x (1 + e), e symmetric.
Configuration strained(const Configuration& from, const double e[3][3]) {
  Configuration out = from;
  double rows[3][3], q[3][3];
  const auto map = [&](const double x[3], double y[3]) {
    for (int k = 0; k < 3; ++k) y[k] = x[k] + x[0] * e[0][k] + x[1] * e[1][k] + x[2] * e[2][k];
  };
  for (int r = 0; r < 3; ++r) map(from.box.h[r], rows[r]);
  out.box = Box::from_vectors(rows, q);
  out.axes = from.axes.then(q);
  for (auto& x : out.x) {
    double moved[3];
    map(x.data(), moved);
    for (std::size_t k = 0; k < 3; ++k) x[k] = moved[0] * q[0][k] + moved[1] * q[1][k] + moved[2] * q[2][k];
  }
  return out;
}

Configuration scaled(const Configuration& from, double strain) {
  const double e[3][3] = {{strain, 0, 0}, {0, strain, 0}, {0, 0, strain}};
  return strained(from, e);
}

/// Random values for frames and trajectories: `item` counts the draws for one of them.
Random4 draw(std::uint64_t seed, std::int64_t number, std::uint64_t item) {
  return Random4(seed, sampling_stream, static_cast<std::uint64_t>(number), item);
}

}  // namespace

Configuration perturbed(const Configuration& start, const Perturbed& spec, std::uint64_t seed, std::int64_t k) {
  const Random4 a = draw(seed, k, 0), b = draw(seed, k, 1);
  const auto within = [](double u, double most) { return most * (2.0 * u - 1.0); };
  const double v = within(b.uniform(3), spec.volume);
  const double s[6] = {within(a.uniform(0), spec.strain) + v, within(a.uniform(1), spec.strain) + v,
                       within(a.uniform(2), spec.strain) + v, within(a.uniform(3), spec.strain),
                       within(b.uniform(0), spec.strain),     within(b.uniform(1), spec.strain)};
  const double e[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
  Configuration out = strained(start, e);
  for (std::size_t i = 0; i < out.x.size(); ++i) {
    const Random4 random = draw(seed, k, 2 + i);
    for (int c = 0; c < 3; ++c) out.x[i][c] += spec.displacement * random.normal(c);
  }
  return out;
}

namespace {

/// BAOAB Langevin dynamics of one small configuration.
class Langevin1 {
 public:
  Langevin1(Configuration start, const Trajectories& spec, Potential& potential, std::uint64_t seed,
            std::int64_t number, Context& context)
      : now_(std::move(start)), spec_(spec), potential_(potential), seed_(seed), number_(number), context_(context),
        v_(now_.x.size(), {0, 0, 0}) {
    force_ = single_point(potential_, now_, context_).force;
  }

  void thermalise(double temperature) { stir(0.0, temperature); }

  void step(double temperature) {
    kick(0.5 * spec_.timestep);
    drift(0.5 * spec_.timestep);
    stir(std::exp(-spec_.timestep / spec_.damping), temperature);
    drift(0.5 * spec_.timestep);
    const LabelledFrame frame = single_point(potential_, now_, context_);
    if (!std::isfinite(*frame.energy))
      throw NumericalError(fmt::format(
          "label: trajectory {} at {:g} K breaks at step {}: the energy is not finite; try a shorter timestep", number_,
          temperature, steps_));
    force_ = frame.force;
    kick(0.5 * spec_.timestep);
  }
  const Configuration& now() const { return now_; }

 private:
  double mass(std::size_t i) const { return now_.species[now_.types[i]].mass; }
  void kick(double dt) {
    for (std::size_t i = 0; i < v_.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) v_[i][k] += dt * force_[i][k] / (mass(i) * constants::mvv2e);
  }
  void drift(double dt) {
    for (std::size_t i = 0; i < v_.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) now_.x[i][k] += dt * v_[i][k];
  }
  /// v = c v + sqrt((1 - c^2) kT/m) xi.
  void stir(double c, double temperature) {
    ++steps_;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      const Random4 random(seed_, sampling_stream, (static_cast<std::uint64_t>(number_ + 1) << 32) + i, steps_);
      const double sigma = std::sqrt((1.0 - c * c) * constants::boltzmann * temperature / (mass(i) * constants::mvv2e));
      for (std::size_t k = 0; k < 3; ++k) v_[i][k] = c * v_[i][k] + sigma * random.normal(static_cast<int>(k));
    }
  }

  Configuration now_;
  const Trajectories& spec_;
  Potential& potential_;
  std::uint64_t seed_;
  std::int64_t number_;
  Context& context_;
  std::uint64_t steps_ = 0;
  std::vector<std::array<double, 3>> v_, force_;
};

}  // namespace

std::vector<Configuration> trajectory(const Configuration& start, const Trajectories& spec, double temperature,
                                      double strain, Potential& potential, std::uint64_t seed, std::int64_t number,
                                      Context& context, const std::function<void()>& breathe) {
  Langevin1 md(scaled(start, strain), spec, potential, seed, number, context);
  const double first = spec.melt_at > 0.0 ? spec.melt_at : temperature;
  md.thermalise(first);
  for (int k = 0; k < spec.equilibrate; ++k, breathe()) md.step(2 * k < spec.equilibrate ? first : temperature);
  std::vector<Configuration> out;
  for (int frame = 0; frame < spec.frames; ++frame) {
    for (int k = 0; k < spec.every; ++k, breathe()) md.step(temperature);
    out.push_back(md.now());
  }
  return out;
}

}  // namespace cambium::deepmd
