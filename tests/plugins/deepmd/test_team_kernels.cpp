// The kernels that devices run, by teams and by groups of channels, beside those of hosts: the same sums in another
// order. Here a team has one thread.
#include "plugins/deepmd/model/group_contraction.hpp"
#include "plugins/deepmd/model/padding.hpp"
#include "plugins/deepmd/model/team_gradients.hpp"
#include "tests/plugins/deepmd/training_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

RandomModel model_of(int channels) {
  RandomModel spec = small_model(7);
  spec.neuron = {channels / 2, channels};
  return spec;
}

NeighborKinds kinds_of(const DeepPotentialModel& m, int type) {
  const auto nt = static_cast<std::size_t>(m.ntypes());
  NeighborKinds out{CutOff::make(m.rcut_smth, m.rcut, m.env_protection, false), m.ntypes(), m.components(), {}, {}, {}};
  out.mean = View<double**>("mean", nt, 4);
  out.inverse_deviation = View<double**>("scale", nt, 4);
  out.hidden = View<char*>("hidden", nt);
  for (std::size_t j = 0; j < nt; ++j)
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t pair = static_cast<std::size_t>(type) * nt + j;
      out.mean(j, k) = m.mean[pair][k];
      out.inverse_deviation(j, k) = 1.0 / m.deviation[pair][k];
    }
  return out;
}

/// The oxygen atoms of some water with all that kernels read of them.
template <class T>
struct Scene {
  explicit Scene(int channels)
      : model(uneven_model(model_of(channels))), kinds(kinds_of(model, 0)),
        system(drops.x, drops.types, drops.box, {{"O", 16.0}, {"H", 1.0}}, model.rcut),
        tables(upload_tables<T>(model, tabulate_networks(model, 1e-4, 0.6))),
        shape{model.width(), model.axis_neuron, 4, 1.0 / model.neighbours()}, rows{tables.coefficients.data(),
                                                                                   tables.stride()} {
    View<int*> kinds_of_atoms("types", 2), centres("centres", drops.x.size());
    kinds_of_atoms(1) = 1;
    int n = 0;
    for (std::size_t i = 0; i < drops.x.size(); ++i)
      if (drops.types[i] == 0) centres(n++) = static_cast<int>(i);
    pairs.build(system.particles(), system.list(), centres, 0, n, kinds_of_atoms, kinds, &tables, 0, 0.0);
    slots = View<int*>("slots", 2);
    for (std::size_t t = 0; t < 2; ++t) slots(t) = model.sel[t];
  }
  Matrix<T> row_of_each_atom() const {
    return Matrix<T>("rows", static_cast<std::size_t>(pairs.atoms),
                     static_cast<std::size_t>(4 * padded<T>(shape.channels)));
  }

  Configuration drops = water(2, 5);
  DeepPotentialModel model;
  NeighborKinds kinds;
  ImageSystem system;
  TableSet<T> tables;
  DescriptorShape shape;
  TableRows<T> rows;
  PairList<T> pairs;
  View<int*> slots;
};

template <class V>
double largest(const V& view) {
  double out = 0.0;
  for (std::size_t k = 0; k < view.size(); ++k) out = std::max(out, std::abs(static_cast<double>(view.data()[k])));
  return out;
}
template <class V>
double difference(const V& a, const V& b) {
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k)
    out = std::max(out, std::abs(static_cast<double>(a.data()[k]) - static_cast<double>(b.data()[k])));
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("Contraction by groups of channels is that of hosts", "[deep_potential][device]", float, double) {
  const int channels = GENERATE(32, 30, 14);  // 30, 14: the last group of floats is not full
  const Scene<TestType> scene(channels);
  REQUIRE(scene.pairs.pairs > 200);
  const auto padding = padding_of_tables(scene.model, scene.tables, 0);
  const auto a = scene.row_of_each_atom(), b = scene.row_of_each_atom();
  contract_pairs(scene.pairs, scene.rows, scene.shape, padding, scene.slots, a);
  GroupContraction<TestType>{
      scene.pairs, scene.rows, scene.shape.channels, static_cast<TestType>(scene.shape.scale), padding, scene.slots, b}
      .run(scene.pairs.atoms);
  for (int atom = 0; atom < scene.pairs.atoms; ++atom)  // what lies behind the last channel is the host's alone
    for (int c = channels; c < padded<TestType>(channels); ++c)
      for (int k = 0; k < 4; ++k) a(atom, place_in_packs<TestType>(c, k, 4)) = TestType(0);
  CHECK(difference(a, b) < (std::is_same_v<TestType, float> ? 2e-6 : 1e-14) * largest(a));
}

TEMPLATE_TEST_CASE("Gradients of pairs by teams are those of hosts", "[deep_potential][device]", float, double) {
  const int channels = GENERATE(32, 30, 14);
  const Scene<TestType> scene(channels);
  const auto da = scene.row_of_each_atom();
  for (int atom = 0; atom < scene.pairs.atoms; ++atom)
    for (int c = 0; c < channels; ++c)
      for (int k = 0; k < 4; ++k)
        da(atom, place_in_packs<TestType>(c, k, 4)) = static_cast<TestType>(std::sin(1.0 + atom + 4 * c + k));
  const auto n = static_cast<std::size_t>(scene.pairs.pairs);
  const View<double*[3]> by_hosts("by hosts", n), by_teams("by teams", n), by_packs("by packs", n);
  pair_gradients(scene.pairs, scene.rows, scene.shape, scene.kinds, da, by_hosts);
  const auto& k = scene.kinds;
  TeamGradients<TestType, TableRows<TestType>>{scene.pairs, scene.rows,          channels, 4,
                                               k.cutoff,    k.inverse_deviation, da,       by_teams}
      .run(scene.pairs.atoms);
  TeamGradients<TestType, TableRows<TestType>, Lane<TestType>>{scene.pairs, scene.rows,          channels, 4,
                                                               k.cutoff,    k.inverse_deviation, da,       by_packs}
      .run(scene.pairs.atoms);
  const double allowed = (std::is_same_v<TestType, float> ? 5e-6 : 1e-13) * largest(by_hosts);
  CHECK(allowed > 0.0);
  CHECK(difference(by_hosts, by_teams) < allowed);
  CHECK(difference(by_hosts, by_packs) < allowed);
}
