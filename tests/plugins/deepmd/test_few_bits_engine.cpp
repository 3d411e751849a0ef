// Energy networks of few bits in molecular dynamics: energies and forces of the model that the bits mean, in all forms
// of their products.
#include "plugins/deepmd/engine/few_bits.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

/// Two hidden layers; the second one adds its input. `kind` 0: as that; 1: radial; 2: the first layer needs its input
/// whole.
DeepPotentialModel model_of(int kind) {
  RandomModel spec = small_model(9);
  spec.fitting = {40, 40};
  if (kind == 1) spec.descriptor = DeepPotentialModel::Descriptor::se_e2_r;
  if (kind == 2) spec.fitting = {spec.neuron.back() * spec.axis_neuron, 40};
  DeepPotentialModel model = uneven_model(spec);
  if (kind == 2)
    for (auto& net : model.fitting) net.layers[0].residual = true;
  return model;
}

std::unique_ptr<Engine> engine_of(const DeepPotentialModel& model, EnginePrecision precision) {
  EngineOptions options;
  options.precision = precision;
  return make_engine(model, options);
}

double root_mean_square(const Evaluation& a, const Evaluation& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.force.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      sum += std::pow(a.force[i][k] - b.force[i][k], 2) / static_cast<double>(3 * a.force.size());
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE(
    "energy networks of few bits: forces are derivatives of the coded energy, tables agree with decoded products") {
  const Scratch scratch("deepmd_few_bits_engine");
  const std::string folder = write_water(scratch);
  const Configuration c = water(2, 11);
  for (int kind = 0; kind < 3; ++kind)
    for (const auto weights : {FewBits::Weights::binary, FewBits::Weights::ternary})
      for (const bool fitted : {false, true}) {
        INFO("kind " << kind << ", ternary " << (weights == FewBits::Weights::ternary) << ", calibrated " << fitted);
        FewBits what{weights, 2, FewBits::Products::decoded, {}};
        if (fitted) what.calibrate = FewBits::Calibrate{{folder}, 2};
        const auto model = model_of(kind);
        auto full = engine_of(model, EnginePrecision::float64), coded = engine_of(model, EnginePrecision::float64);
        const auto report = set_few_bits(*coded, what, EnginePrecision::float64);
        CHECK(report.matrices == 4);
        CHECK(report.rows == (fitted ? 48 : 0));
        const Evaluation at = evaluate(*coded, c);
        CHECK(root_mean_square(at, evaluate(*full, c)) >
              1e-3 * root_mean_square(at, Evaluation{0, {}, decltype(at.force)(at.force.size()), {}, {}}));
        // Some components, by differences of fourth order.
        double worst = 0.0, largest = 0.0;
        for (const std::size_t i : {0u, 1u, 7u}) {
          for (std::size_t k = 0; k < 3; ++k) {
            const auto energy = [&](double d) {
              Configuration moved = c;
              moved.x[i][k] += d;
              return evaluate(*coded, moved).energy;
            };
            const double h = 1e-3,
                         slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
            worst = std::max(worst, std::abs(slope + at.force[i][k]));
            largest = std::max(largest, std::abs(slope));
          }
        }
        CHECK(worst < 1e-7 * largest);
        auto mixed = engine_of(model, EnginePrecision::mixed), tables = engine_of(model, EnginePrecision::mixed);
        set_few_bits(*mixed, what, EnginePrecision::mixed);
        what.products = FewBits::Products::tables;
        const auto kept = set_few_bits(*tables, what, EnginePrecision::mixed);
        const Evaluation m = evaluate(*mixed, c), t = evaluate(*tables, c);
        CHECK(relative_error(flat(t.force), flat(m.force)) < 1e-5);
        CHECK(t.energy == Approx(m.energy).epsilon(1e-6));
        if (!fitted)
          CHECK(relative_error(flat(m.force), flat(at.force)) <
                1e-3);  // fits in float32 and float64 may choose other signs
        CHECK(kept.bytes < kept.bytes_full);
        CHECK(tables->bytes() < mixed->bytes());
      }
}

TEST_CASE("calibration keeps the mean energy of every species and brings forces nearer") {
  const Scratch scratch("deepmd_few_bits_calibrated");
  const std::string folder = write_water(scratch);
  const auto model = model_of(0);
  const Configuration seen = water(2, 3), other = water(2, 21);
  auto full = engine_of(model, EnginePrecision::float64);
  const Evaluation exact = evaluate(*full, other);
  for (const int bits : {2, 4}) {
    auto plain = engine_of(model, EnginePrecision::float64), fitted = engine_of(model, EnginePrecision::float64);
    FewBits what{FewBits::Weights::binary, bits, FewBits::Products::decoded, {}};
    set_few_bits(*plain, what, EnginePrecision::float64);
    what.calibrate = FewBits::Calibrate{{folder}, 3};
    const auto report = set_few_bits(*fitted, what, EnginePrecision::float64);
    CHECK(report.rows == 72);
    const Evaluation p = evaluate(*plain, other), f = evaluate(*fitted, other);
    INFO(bits << " bits: energy " << exact.energy << ' ' << p.energy << ' ' << f.energy << ", force errors "
              << root_mean_square(p, exact) << ' ' << root_mean_square(f, exact));
    CHECK(std::abs(f.energy - exact.energy) < 0.3 * std::abs(p.energy - exact.energy));
    CHECK(root_mean_square(f, exact) < 0.8 * root_mean_square(p, exact));
    // Over the three frames that it was fitted to, the mean energy of each species' atoms is that in full.
    std::array<double, 2> off{};
    for (const std::uint64_t seed : {3, 5, 7}) {
      const Configuration c = water(2, seed);
      const Evaluation a = evaluate(*full, c), b = evaluate(*fitted, c);
      for (std::size_t i = 0; i < c.x.size(); ++i) off[c.types[i]] += b.atom_energy[i] - a.atom_energy[i];
    }
    CHECK(std::abs(off[0]) / 24 < 1e-5);
    CHECK(std::abs(off[1]) / 48 < 1e-5);
  }
}

TEST_CASE("models with one energy network for all species share its bits") {
  RandomModel spec = small_model(4);
  spec.fitting = {40, 40};
  DeepPotentialModel model = uneven_model(spec);
  model.fitting.resize(1);
  auto one = engine_of(model, EnginePrecision::mixed);
  const Scratch scratch("deepmd_few_bits_shared");
  const auto report = set_few_bits(
      *one, {FewBits::Weights::binary, 3, FewBits::Products::tables, FewBits::Calibrate{{write_water(scratch)}, 1}},
      EnginePrecision::mixed);
  CHECK(report.rows == 24);
  CHECK(report.text.find("fitted to 24 atoms") != std::string::npos);
  CHECK(std::isfinite(evaluate(*one, water(2)).energy));
}
