// What a network of molecules keeps: symmetries, forces as gradients, molecules that do not know each other.
#include "plugins/graph/networks/message_passing.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

namespace {

struct Buffers {
  std::vector<std::vector<double>> memory;
  std::vector<TensorRef> views;
  explicit Buffers(const train::Network& network) {
    for (const auto& info : network.parameters()) {
      TensorRef t;
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), 0.0);
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
};

MessagePassing::Params small(bool directions = true) {
  MessagePassing::Params p;
  p.layers = 2;
  p.width = 6;
  p.radial = 5;
  p.cutoff = 3.0;
  p.directions = directions;
  p.loss = MessagePassing::Loss::l2;  // smooth, for differences
  p.precision = Precision::float64;
  return p;
}

/// A network with weights that say something, and the synthetic molecules that it knows.
struct Fitted {
  World world;
  HeldSet set;
  MessagePassing network;
  Buffers weights;

  explicit Fitted(const MessagePassing::Params& params)
      : set(make_molecules(recipe(12))), network(params, world.context), weights(prepared()) {
    network.initialise(weights.views, 5);
    const auto infos = network.parameters();
    for (std::size_t k = 0; k < infos.size(); ++k)  // the readout begins with zeros, and so do all biases
      for (std::size_t i = 0; i < weights.memory[k].size(); ++i)
        weights.memory[k][i] += 0.3 * std::sin(1.7 * static_cast<double>(i) + static_cast<double>(k));
  }
  MessagePassing::Prediction of(const Molecule& m) {
    const std::vector<train::SamplePtr> one{molecule_sample(m, set.table, 0)};
    return network.energies_and_forces(one, weights.views);
  }
  double energy(const Molecule& m) { return of(m).energy.item<double>(); }

 private:
  const train::Network& prepared() {
    network.fit_statistics(set, world.context);
    return network;
  }
};

/// x -> q x + shift for every atom.
Molecule moved(Molecule m, const double q[3][3], double shift) {
  const auto x = m.position;
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (int k = 0; k < 3; ++k) {
      m.position[3 * a + k] = shift * (k + 1);
      for (int l = 0; l < 3; ++l) m.position[3 * a + k] += q[k][l] * x[3 * a + l];
    }
  return m;
}

}  // namespace

TEST_CASE("no rotation, reflection, translation or order of the atoms changes an energy; forces turn with it") {
  Fitted fitted(small(GENERATE(true, false)));
  const Molecule& m = fitted.set.table.molecules[3];
  const auto before = fitted.of(m);
  const double energy = before.energy.item<double>();
  CHECK(std::abs(energy - fitted.energy(fitted.set.table.molecules[4])) > 1.0);
  const double c = std::cos(0.7), s = std::sin(0.7);
  const double turn[3][3] = {{c, -s * c, s * s}, {s, c * c, -s * c}, {0, s, c}};
  const double mirror[3][3] = {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double still[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CHECK(fitted.energy(moved(m, turn, 0.0)) == Approx(energy).epsilon(1e-11));
  CHECK(fitted.energy(moved(m, mirror, 0.0)) == Approx(energy).epsilon(1e-11));
  CHECK(fitted.energy(moved(m, still, 4.0)) == Approx(energy).epsilon(1e-11));
  const auto turned = fitted.of(moved(m, turn, -2.0)).force;
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (int k = 0; k < 3; ++k) {
      double expected = 0.0;
      for (int l = 0; l < 3; ++l) expected += turn[k][l] * before.force[a][l].item<double>();
      CHECK(turned[a][k].item<double>() == Approx(expected).margin(1e-8));
    }
  Molecule reversed = m;
  const auto n = m.atoms();
  for (std::int64_t a = 0; a < n; ++a) {
    reversed.species[n - 1 - a] = m.species[a];
    for (int k = 0; k < 3; ++k) reversed.position[3 * (n - 1 - a) + k] = m.position[3 * a + k];
  }
  CHECK(fitted.energy(reversed) == Approx(energy).epsilon(1e-11));
}

TEST_CASE("forces are minus the gradient of the energy, and add up to nothing") {
  Fitted fitted(small(GENERATE(true, false)));
  const Molecule& m = fitted.set.table.molecules[GENERATE(0, 5, 9)];
  const auto force = fitted.of(m).force;
  CHECK(force.sum(0).abs().max().item<double>() < 1e-9);
  CHECK(force.abs().max().item<double>() > 1e-2);
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (int k = 0; k < 3; ++k) {
      const double h = 1e-5;
      Molecule up = m, down = m;
      up.position[3 * a + k] += h;
      down.position[3 * a + k] -= h;
      const double slope = (fitted.energy(up) - fitted.energy(down)) / (2.0 * h);
      CHECK(force[a][k].item<double>() == Approx(-slope).epsilon(1e-6).margin(1e-5));
    }
}

TEST_CASE("an atom that leaves the cutoff does so without a step in energy or force") {
  Fitted fitted(small());
  Molecule pair;
  pair.species = {6, 8};
  pair.position = {0, 0, 0, 0, 0, 0};
  const auto at = [&](double r) {
    pair.position[3] = r;
    return fitted.of(pair);
  };
  const double alone = at(3.5).energy.item<double>();
  CHECK(std::abs(at(2.0).energy.item<double>() - alone) > 1e-2);
  CHECK(at(3.0 - 1e-3).energy.item<double>() == Approx(alone).margin(1e-5));
  CHECK(at(3.0 - 1e-3).force.abs().max().item<double>() < 1e-2);
  CHECK(at(3.0 + 1e-9).force.abs().max().item<double>() == 0.0);
}

TEST_CASE("a batch of molecules is each of them alone; one atom has no pairs") {
  Fitted fitted(small());
  auto table = fitted.set.table;
  Molecule atom;
  atom.species = {6};
  atom.position = {1, 2, 3};
  atom.force = {0, 0, 0};
  table.molecules.insert(table.molecules.begin() + 2, atom);
  const auto samples = samples_of(table);
  const auto all = fitted.network.energies_and_forces(samples, fitted.weights.views);
  std::int64_t row = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const auto one = fitted.of(table.molecules[k]);
    CHECK(all.energy[static_cast<std::int64_t>(k)].item<double>() == Approx(one.energy.item<double>()).epsilon(1e-12));
    const auto atoms = table.molecules[k].atoms();
    CHECK((all.force.slice(0, row, row + atoms) - one.force).abs().max().item<double>() < 1e-10);
    row += atoms;
  }
}

TEST_CASE("an untrained network is its reference, by which no molecule of the training has been seen") {
  using Kind = EnergyFit::Kind;
  World world;
  HeldSet set(make_molecules(recipe(30)));
  auto params = small();
  params.loss = MessagePassing::Loss::l1;
  params.reference = GENERATE(Kind::atoms, Kind::bonds, Kind::coulomb, Kind::bag_of_bonds);
  CAPTURE(name_of(params.reference));
  MessagePassing network(params, world.context);
  network.fit_statistics(set, world.context);
  Buffers weights(network), gradient(network);
  network.initialise(weights.views, 1);
  EnergyFit fit;
  fit.fit(views_of(set.samples), params.reference);
  const auto found = network.energies_and_forces(set.samples, weights.views);
  double off = 0.0, squares = 0.0;
  for (std::int64_t k = 0; k < set.size(); ++k) {
    const auto m = molecule_of(*set.samples[k]);
    CHECK(found.energy[k].item<double>() == Approx(fit(m)).epsilon(1e-10));
    off += std::abs(m.energy - fit.without(m));
    squares += std::pow(m.energy - fit.without(m), 2);
  }
  std::vector<train::TermSum> terms(1);
  network.gradient(set.samples, weights.views, network.term_weights(0, 1.0), gradient.views, terms, {});
  CHECK(terms[0].sum == Approx(off / std::sqrt(squares / 30.0)).epsilon(1e-8));
  MessagePassing again(params, world.context);
  again.restore(network.state());
  CHECK(again.state() == network.state());
  const auto restored = again.energies_and_forces(set.samples, weights.views);
  CHECK((restored.energy - found.energy).abs().max().item<double>() == 0.0);
  CHECK(network.parity_quantities().size() == (fit.smooth() ? 2 : 1));
}

TEST_CASE("gradients of the loss of energies and forces") {
  auto params = small(GENERATE(true, false));
  params.force_weight = GENERATE(0.0, 0.4);
  Fitted fitted(params);
  const std::vector<train::SamplePtr> samples(fitted.set.samples.begin(), fitted.set.samples.begin() + 3);
  const auto term_weights = fitted.network.term_weights(0, 1.0);
  Buffers gradients(fitted.network), unused(fitted.network);
  const auto loss = [&](Buffers& into) {
    std::vector<train::TermSum> terms(term_weights.size());
    fitted.network.gradient(samples, fitted.weights.views, term_weights, into.views, terms, {});
    double sum = 0.0;
    for (std::size_t k = 0; k < terms.size(); ++k) sum += term_weights[k] * terms[k].sum;
    return sum;
  };
  loss(gradients);
  const auto infos = fitted.network.parameters();
  for (std::size_t k = 0; k < infos.size(); ++k) {
    CAPTURE(infos[k].name);
    auto& w = fitted.weights.memory[k];
    for (const std::size_t i : {std::size_t{0}, w.size() / 2}) {
      const double h = 1e-6, before = w[i];
      w[i] = before + h;
      const double up = loss(unused);
      w[i] = before - h;
      const double down = loss(unused);
      w[i] = before;
      CHECK(gradients.memory[k][i] == Approx((up - down) / (2.0 * h)).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("what a network of molecules refuses", "[messages]") {
  Fitted fitted(small());
  const auto says = [](const auto& action) {
    try {
      action();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  Molecule gold;
  gold.species = {79};
  gold.position = {0, 0, 0};
  gold.force = {0, 0, 0};
  CHECK(says([&] { fitted.of(gold); }) == "a molecule has the element Au, which none of the training set has");
  auto table = make_molecules(recipe(4));
  table.forces = false;
  for (auto& m : table.molecules) m.force.clear();
  HeldSet without(table);
  auto params = small();
  params.force_weight = 1.0;
  MessagePassing network(params, fitted.world.context);
  CHECK(says([&] { network.fit_statistics(without, fitted.world.context); }) ==
        "'force_weight' is not 0, but the molecules have no forces; give a file that has them, or remove it");
  params.reference = EnergyFit::Kind::bag_of_bonds;
  MessagePassing kinked(params, fitted.world.context);
  CHECK(says([&] { kinked.fit_statistics(fitted.set, fitted.world.context); }) ==
        "'force_weight' is not 0, but energies by 'reference: bag_of_bonds' have no forces; take atoms or bonds, or "
        "remove "
        "it");
}

TEST_CASE("interactions that are computed again give the same gradient, and forces go without") {
  for (const bool directions : {true, false}) {
    const auto slope = [&](bool again) {
      Fitted fitted(small(directions));
      if (again) fitted.network.use_activations({.keep = train::ActivationParams::Keep::recomputed});
      Buffers gradient(fitted.network);
      std::vector<train::SamplePtr> samples;
      for (std::int64_t k = 0; k < 5; ++k)
        samples.push_back(molecule_sample(fitted.set.table.molecules[k], fitted.set.table, k));
      std::vector<train::TermSum> terms(1);
      const double one = 1.0;
      fitted.network.gradient(samples, fitted.weights.views, std::span(&one, 1), gradient.views, terms, {});
      return gradient.memory;
    };
    const auto whole = slope(false), again = slope(true);
    double size = 0.0;
    for (std::size_t k = 0; k < whole.size(); ++k)
      for (std::size_t i = 0; i < whole[k].size(); ++i) {
        size += std::abs(whole[k][i]);
        CHECK(again[k][i] == Approx(whole[k][i]).epsilon(1e-10).margin(1e-12));
      }
    CHECK(size > 0.1);
  }
  auto keys = small();
  keys.force_weight = 1.0;
  Fitted forces(keys);
  CHECK_THROWS_AS(forces.network.use_activations({.keep = train::ActivationParams::Keep::recomputed}), InputError);
}
