// What must hold for any weights: derivatives, symmetries, smoothness, and how far compression may go.
#include "core/parallel/host_threads.hpp"
#include "plugins/deepmd/model/network_jet.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

using Descriptor = DeepPotentialModel::Descriptor;

struct Variant {
  const char* name;
  RandomModel spec;
  double tolerance;  ///< of compression; 0: none
};

std::vector<Variant> variants() {
  std::vector<Variant> out;
  out.push_back({"se_e2_a", small_model(), 0.0});
  out.push_back({"se_e2_a compressed", small_model(), 1e-7});
  RandomModel two_sides = small_model(2);
  two_sides.type_one_side = false;
  two_sides.activation = "gelu";
  out.push_back({"se_e2_a two sides", two_sides, 0.0});
  RandomModel radial = small_model(3);
  radial.descriptor = Descriptor::se_e2_r;
  out.push_back({"se_e2_r", radial, 0.0});
  out.push_back({"se_e2_r compressed", radial, 1e-7});
  out.push_back({"se_e3", small_angles(), 0.0});
  out.push_back({"se_e3 compressed", small_angles(), 1e-7});
  out.push_back({"hybrid", small_hybrid(), 0.0});
  out.push_back({"hybrid compressed", small_hybrid(), 1e-7});
  out.push_back({"se_atten", small_species(), 0.0});
  out.push_back({"se_atten compressed", small_species(), 1e-7});
  out.push_back({"se_e2_a with types", small_types(), 0.0});
  out.push_back({"se_e2_a with types compressed", small_types(), 1e-7});
  out.push_back({"attention", small_attention(), 0.0});
  out.push_back({"attention compressed", small_attention(), 1e-7});
  out.push_back({"hybrid of se_atten", hybrid_of_species(), 0.0});
  return out;
}

std::unique_ptr<Engine> engine_of(const Variant& v) {
  EngineOptions options;
  options.compress_tolerance = v.tolerance;
  return make_engine(random_model(v.spec), options);
}

double energy(Engine& engine, const Configuration& c) { return evaluate(engine, c).energy; }

/// Fourth-order central difference of f at 0.
template <class F>
double slope(const F& f, double h) {
  return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h);
}

Configuration strained(const Configuration& c, int a, int b, double e) {
  double rows[3][3];
  Configuration out = c;
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) rows[r][k] = c.box->h[r][k] + (k == a ? e * c.box->h[r][b] : 0.0);
  double q[3][3];
  out.box = Box::from_vectors(rows, q);
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    Position x = c.x[i];
    x[a] += e * c.x[i][b];
    for (std::size_t k = 0; k < 3; ++k) out.x[i][k] = x[0] * q[0][k] + x[1] * q[1][k] + x[2] * q[2][k];
  }
  return out;
}

}  // namespace

TEST_CASE("forces are minus the gradient of the energy") {
  for (const Variant& v : variants()) {
    INFO(v.name);
    auto engine = engine_of(v);
    const Configuration c = water(2);
    const Evaluation e = evaluate(*engine, c);
    std::vector<double> expected, found;
    for (std::size_t i = 0; i < c.x.size(); i += 5)
      for (std::size_t k = 0; k < 3; ++k) {
        expected.push_back(-slope(
            [&](double h) {
              Configuration moved = c;
              moved.x[i][k] += h;
              return energy(*engine, moved);
            },
            2e-3));
        found.push_back(e.force[i][k]);
      }
    CHECK(relative_error(found, expected) < 1e-6);
  }
}

TEST_CASE("the virial is minus the derivative by strain, and the sum of the atoms' virials") {
  for (const Variant& v : variants()) {
    INFO(v.name);
    auto engine = engine_of(v);
    const Configuration c = water(2);
    const Evaluation e = evaluate(*engine, c);
    std::vector<double> expected, sums(9, 0.0);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        expected.push_back(-slope([&](double h) { return energy(*engine, strained(c, a, b, h)); }, 1e-3));
    for (const auto& atom : e.atom_virial)
      for (std::size_t k = 0; k < 9; ++k) sums[k] += atom[k];
    const std::vector<double> found(e.virial, e.virial + 9);
    CHECK(relative_error(found, expected) < 1e-6);
    CHECK(relative_error(found, sums) < 1e-11);
  }
}

TEST_CASE("energy and forces follow rotations, translations, permutations and images") {
  for (const Variant& v : variants()) {
    INFO(v.name);
    auto engine = engine_of(v);
    Configuration c = water(2);
    c.box.reset();  // a cluster can be turned freely
    const Evaluation e = evaluate(*engine, c);
    const double a = 0.7, b = 1.9,
                 q[3][3] = {{std::cos(a), std::sin(a), 0},
                            {-std::sin(a) * std::cos(b), std::cos(a) * std::cos(b), std::sin(b)},
                            {std::sin(a) * std::sin(b), -std::cos(a) * std::sin(b), std::cos(b)}};
    Configuration turned = c;
    std::vector<double> expected;
    const std::size_t n = c.x.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t from = n - 1 - i;
        turned.x[i][k] = 3.0 - static_cast<double>(k);
        double f = 0.0;
        for (std::size_t r = 0; r < 3; ++r) {
          turned.x[i][k] += q[k][r] * c.x[from][r];
          f += q[k][r] * e.force[from][r];
        }
        expected.push_back(f);
        turned.types[i] = c.types[from];
      }
    const Evaluation t = evaluate(*engine, turned);
    CHECK(t.energy == Approx(e.energy).epsilon(1e-12));
    CHECK(relative_error(flat(t.force), expected) < 1e-10);

    const Configuration periodic = water(2);
    Configuration shifted = periodic;
    for (std::size_t i = 0; i < shifted.x.size(); i += 3)
      for (std::size_t k = 0; k < 3; ++k) shifted.x[i][k] += 2.0 * periodic.box->h[0][k] - periodic.box->h[2][k];
    const Evaluation p = evaluate(*engine, periodic), s = evaluate(*engine, shifted);
    CHECK(s.energy == Approx(p.energy).epsilon(1e-12));
    CHECK(relative_error(flat(s.force), flat(p.force)) < 1e-9);
  }
}

TEST_CASE("a shell that overflows sel leaves energies smooth") {
  // Water has about 90 neighbours within 6 Å; with sel = (2, 3) a padded descriptor would drop most of them.
  RandomModel spec = small_model(5);
  spec.sel = {2, 3};
  auto engine = make_engine(random_model(spec), {});
  Configuration c = water(2);
  const double start = c.x[4][0];
  auto at = [&](double x) {
    c.x[4][0] = start + x;
    return evaluate(*engine, c);
  };
  // A jump of the energy or force anywhere on the way would break the trapezoidal rule.
  const int steps = 160;
  const double h = 0.8 / steps;
  Evaluation last = at(0.0);
  const double first_energy = last.energy;
  double work = 0.0, largest = 0.0, jump = 0.0;
  for (int k = 1; k <= steps; ++k) {
    const Evaluation now = at(k * h);
    const double part = 0.5 * h * (now.force[4][0] + last.force[4][0]);
    jump = std::max(jump, std::abs(now.energy - last.energy + part));
    work += part;
    largest = std::max(largest, std::abs(now.energy - last.energy));
    last = now;
  }
  INFO("largest step of the energy " << largest);
  CHECK(jump < 2e-3 * largest);
  CHECK(last.energy - first_energy == Approx(-work).epsilon(1e-4));
}

TEST_CASE("a neighbour that crosses the cut-off changes nothing") {
  for (const Variant& v : variants()) {
    INFO(v.name);
    auto engine = engine_of(v);
    Configuration pair;
    pair.x = {{0, 0, 0}, {0, 0, 1.2}, {0, 0, -v.spec.rcut}};
    pair.types = {0, 1, 1};
    pair.x[2][2] = -v.spec.rcut + 1e-7;
    const Evaluation inside = evaluate(*engine, pair);
    pair.x[2][2] = -v.spec.rcut - 1e-7;
    const Evaluation outside = evaluate(*engine, pair);
    CHECK(inside.energy == Approx(outside.energy).epsilon(1e-14));
    CHECK(relative_error(flat(inside.force), flat(outside.force)) < 1e-9);
  }
}

TEST_CASE("compressed forces differ by no more than the tables' measured errors allow") {
  for (double tolerance : {1e-4, 1e-6, 1e-9}) {
    const DeepPotentialModel model = random_model(small_model());
    EngineOptions options;
    options.compress_tolerance = tolerance;
    auto exact = make_engine(model, {}), table = make_engine(model, options);
    REQUIRE(table->table());
    const TableReport& report = *table->table();
    CHECK(std::max(report.value_error, report.slope_error) <= tolerance);
    CHECK(std::max(report.value_error, report.slope_error) > 1e-3 * tolerance);  // no finer than asked for
    const Configuration c = water(3);
    const Evaluation a = evaluate(*exact, c), b = evaluate(*table, c);
    INFO(report.summary());
    CHECK(relative_error(flat(b.force), flat(a.force)) < 10.0 * tolerance);
    CHECK(relative_error(b.atom_energy, a.atom_energy) < 10.0 * tolerance);
  }
}

TEST_CASE("beyond the table the energy goes on without a jump") {
  EngineOptions options;
  options.compress_tolerance = 1e-8;
  auto exact = make_engine(random_model(small_model()), {}), table = make_engine(random_model(small_model()), options);
  Configuration pair;
  pair.x = {{0, 0, 0}, {0, 0, 1}, {1.3, 0, 0}};
  pair.types = {0, 1, 1};
  double last = 0.0;
  for (double r = 0.9; r > 0.1; r -= 1e-3) {  // the fine part ends at 0.88 Å, the coarse one at about 0.18 Å
    pair.x[1][2] = r;
    const Evaluation e = evaluate(*table, pair);
    if (r < 0.899) CHECK(std::abs(e.energy - last) < 2e-3 * (1.0 + std::abs(e.force[1][2])));
    if (r > 0.2) CHECK(e.energy == Approx(evaluate(*exact, pair).energy).epsilon(1e-7));
    last = e.energy;
  }
}

TEST_CASE("along a trajectory the energy changes by the power of the forces") {
  auto engine = make_engine(random_model(small_model()), {});
  Configuration c = water(2);
  const double dt = 1e-3;
  std::vector<Position> v(c.x.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) v[i][k] = Random4(9, Stream::test, i, 0).normal(static_cast<int>(k));
  Evaluation e = evaluate(*engine, c);
  double before = 0.0, energy_now = e.energy;
  for (int step = 0; step < 20; ++step) {
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) c.x[i][k] += dt * (v[i][k] += 0.5 * dt * e.force[i][k]);
    const double last = energy_now;
    e = evaluate(*engine, c);
    energy_now = e.energy;
    double power = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) power -= e.force[i][k] * v[i][k];
    // dE/dt = -F.v at both ends of the step; their mean is second order in dt
    if (step > 0) CHECK((energy_now - last) / dt == Approx(0.5 * (power + before)).epsilon(2e-3).margin(1e-5));
    before = power;
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) v[i][k] += 0.5 * dt * e.force[i][k];
  }
}

TEST_CASE("results do not depend on how atoms are grouped into chunks") {
  const DeepPotentialModel model = random_model(small_model());
  for (double tolerance : {0.0, 1e-8}) {
    EngineOptions options;
    options.compress_tolerance = tolerance;
    auto whole = make_engine(model, options);
    options.chunk = 7;
    auto parts = make_engine(model, options);
    const Configuration c = water(3);
    const Evaluation a = evaluate(*whole, c), b = evaluate(*parts, c);
    CHECK(relative_error(flat(b.force), flat(a.force)) < 1e-12);
    CHECK(relative_error(b.atom_energy, a.atom_energy) < 1e-12);
  }
}

TEST_CASE("threads give the forces and virials of one thread, bit for bit") {
  const DeepPotentialModel model = random_model(small_model());
  for (double tolerance : {0.0, 1e-8}) {
    EngineOptions options;
    options.compress_tolerance = tolerance;
    const Configuration c = water(4);
    const auto on = [&](int threads) {
      const AsIfThreads as_if(threads);
      return evaluate(*make_engine(model, options), c);  // a chunk has atoms for each thread
    };
    const Evaluation one = on(1);
    for (const int threads : {2, 3, 7}) {
      const Evaluation many = on(threads);
      if constexpr (device_is_host) {
        CHECK(flat(many.force) == flat(one.force));
        CHECK(many.atom_virial == one.atom_virial);
        CHECK(many.atom_energy == one.atom_energy);
      } else {  // a device adds in the order of whichever thread comes first
        CHECK(relative_error(flat(many.force), flat(one.force)) < 1e-12);
        CHECK(relative_error(flat(many.atom_virial), flat(one.atom_virial)) < 1e-12);
        CHECK(relative_error(many.atom_energy, one.atom_energy) < 1e-12);
      }
    }
  }
}

TEST_CASE("mixed precision stays within float32 of double") {
  const DeepPotentialModel model = random_model({});
  EngineOptions options;
  auto exact = make_engine(model, options);
  options.precision = EnginePrecision::mixed;
  auto mixed = make_engine(model, options);
  options.compress_tolerance = 1e-8;
  auto table = make_engine(model, options);
  const Configuration c = water(3);
  const Evaluation a = evaluate(*exact, c);
  for (Engine* engine : {mixed.get(), table.get()}) {
    const Evaluation b = evaluate(*engine, c);
    CHECK(relative_error(flat(b.force), flat(a.force)) < 1e-5);
    CHECK(relative_error(b.atom_energy, a.atom_energy) < 1e-6);
  }
}

TEST_CASE("an activation with kinks is refused by compression") {
  RandomModel spec = small_model();
  spec.activation = "relu";
  EngineOptions options;
  options.compress_tolerance = 1e-6;
  CHECK(message([&] { make_engine(random_model(spec), options); }) ==
        "random model: an embedding with activation 'relu' cannot be compressed: its second derivative jumps; leave "
        "the key compress out");
}
