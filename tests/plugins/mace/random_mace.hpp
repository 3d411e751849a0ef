#pragma once
// The whole random model: hydrogen and oxygen, interactions without and with a skip connection, both readouts.
#include "tests/plugins/mace/random_contraction.hpp"

namespace cambium::test {

struct PlainLayer {
  bool residual = false;
  PlainLinear up, linear, product, readout, readout_behind;
  PlainProduct convolution;
  PlainSkip skip;
  std::vector<Values> network;  ///< [in][out]
  std::vector<int> widths;
  std::vector<PlainContraction> contractions;
};

class RandomMace {
 public:
  static constexpr int lmax = 2, species = 2, radial = 5, envelope = 5;
  static constexpr double cutoff = 3.6, activation = 1.6791767923989418, neighbours = 2.5, scale = 3.0, shift = -0.11;

  /// With `interactions` of them, the last of which gives scalars alone.
  explicit RandomMace(int interactions, int correlation = 3, bool cut_inputs = true, int channels = 4)
      : cut_inputs_(cut_inputs) {
    embedding_ = PlainLinear({{species, 0}}, {{channels, 0}}, random_);
    Blocks before = {{channels, 0}}, target;
    for (int l = 0; l <= lmax; ++l) target.emplace_back(channels, l);
    for (int k = 0; k < interactions; ++k) {
      const bool last = k + 1 == interactions;
      const Blocks after = last ? Blocks{{channels, 0}} : Blocks{{channels, 0}, {channels, 1}};
      PlainLayer layer;
      layer.residual = k > 0;
      layer.up = PlainLinear(before, before, random_);
      layer.convolution = PlainProduct(before, lmax);
      layer.linear = PlainLinear(merged(layer.convolution.out), target, random_);
      layer.skip =
          layer.residual ? PlainSkip(before, after, species, random_) : PlainSkip(target, target, species, random_);
      layer.widths = {radial, 8, 6, static_cast<int>(layer.convolution.weights())};
      for (std::size_t n = 1; n < layer.widths.size(); ++n)
        layer.network.push_back(random_(static_cast<std::size_t>(layer.widths[n - 1] * layer.widths[n]), 2.0));
      for (const auto& block : after)
        layer.contractions.emplace_back(block.second, lmax, correlation, channels, species, random_);
      layer.product = PlainLinear(after, after, random_);
      layer.readout = PlainLinear(after, {{last ? 3 : 1, 0}}, random_);
      if (last) layer.readout_behind = PlainLinear({{3, 0}}, {{1, 0}}, random_);
      layers_.push_back(layer);
      before = after;
    }
  }

  /// With the normalisation of e3nn, which a state dict does not say.
  static RandomMace standard(int interactions, int channels) {
    RandomMace model(interactions, 3, true, channels);
    model.embedding_.standard = true;
    for (PlainLayer& layer : model.layers_) {
      for (PlainLinear* map : {&layer.up, &layer.linear, &layer.product, &layer.readout, &layer.readout_behind})
        map->standard = true;
      layer.skip.standard = true;
      for (auto& path : layer.convolution.paths)
        path.factor = std::sqrt(2 * layer.convolution.out[path.out].second + 1);
    }
    return model;
  }

  struct Parameter {
    std::string name;
    std::vector<std::int64_t> shape;
    Values values;
  };
  /// Parameters and buffers by the names that MACE gives them.
  std::vector<Parameter> state_dict() const;

  void write(const std::string& path) const {
    PickleWriter p;
    const std::string root = pickle(p);
    p.zip.add("constants/0", little(std::bit_cast<std::uint64_t>(activation), 8));
    p.zip.add("constants.pkl", constants());
    p.write(path, root);
  }

  /// Members of the archive, and the bytes of the root's pickle.
  std::string pickle(PickleWriter& p) const {
    PickleWriter::Members interactions, products, readouts;
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      interactions.emplace_back(std::to_string(k), interaction(layers_[k], p));
      products.emplace_back(std::to_string(k), product(layers_[k], p));
      readouts.emplace_back(std::to_string(k), readout(layers_[k], p));
    }
    Values frequencies;
    for (int n = 1; n <= radial; ++n) frequencies.push_back(n * M_PI / cutoff);
    const auto basis = p.module("BesselBasis", {{"bessel_weights", p.tensor({radial}, frequencies)},
                                                {"prefactor", p.number(std::sqrt(2.0 / cutoff))}});
    const auto energies = p.module("AtomicEnergiesBlock", {{"atomic_energies", p.tensor({1, species}, energies_)}});
    Blocks harmonics;
    for (int l = 0; l <= lmax; ++l) harmonics.emplace_back(1, l);
    const auto model = p.module(
        "ScaleShiftMACE",
        {{"atomic_numbers", p.tensor({species}, {1, 8})},
         {"r_max", p.number(cutoff)},
         {"apply_cutoff", p.boolean(cut_inputs_)},
         {"num_interactions", p.number(static_cast<double>(layers_.size()))},
         {"node_embedding", p.module("LinearNodeEmbeddingBlock", {{"linear", embedding_.pickle(p)}})},
         {"radial_embedding",
          p.module("RadialEmbeddingBlock",
                   {{"bessel_fn", basis}, {"cutoff_fn", p.module("PolynomialCutoff", {{"p", p.number(envelope)}})}})},
         {"spherical_harmonics", p.module("SphericalHarmonics", {{"irreps_out", p.irreps(harmonics)},
                                                                 {"normalization", p.text("component")}})},
         {"atomic_energies_fn", energies},
         {"interactions", p.module("ModuleList", interactions)},
         {"products", p.module("ModuleList", products)},
         {"readouts", p.module("ModuleList", readouts)},
         {"scale_shift", p.module("ScaleShiftBlock", {{"scale", p.number(scale)}, {"shift", p.number(shift)}})}});
    return p.module("Wrapper", {{"model", model}});
  }

  /// Energy of the whole system (eV).
  double energy(const PeriodicSystem& s) const;

 private:
  static std::string constants() {
    PickleWriter p;
    return "\x80\x02" + PickleWriter::tuple({p.number(activation)}) + ".";
  }
  static std::string interaction(const PlainLayer& layer, PickleWriter& p) {
    PickleWriter::Members network;
    for (std::size_t n = 0; n < layer.network.size(); ++n)
      network.emplace_back(
          "layer" + std::to_string(n),
          p.module("_Layer", {{"weight", p.tensor({layer.widths[n], layer.widths[n + 1]}, layer.network[n])}}));
    return p.module(layer.residual ? "RealAgnosticResidualInteractionBlock" : "RealAgnosticInteractionBlock",
                    {{"avg_num_neighbors", p.real(neighbours)},
                     {"linear_up", layer.up.pickle(p)},
                     {"conv_tp", layer.convolution.pickle(p)},
                     {"conv_tp_weights", p.module("FullyConnectedNet", network)},
                     {"linear", layer.linear.pickle(p)},
                     {"skip_tp", layer.skip.pickle(p)}});
  }
  static std::string product(const PlainLayer& layer, PickleWriter& p) {
    PickleWriter::Members contractions;
    for (std::size_t k = 0; k < layer.contractions.size(); ++k)
      contractions.emplace_back(std::to_string(k), layer.contractions[k].pickle(p));
    return p.module("EquivariantProductBasisBlock",
                    {{"symmetric_contractions",
                      p.module("SymmetricContraction", {{"contractions", p.module("ModuleList", contractions)}})},
                     {"linear", layer.product.pickle(p)}});
  }
  static std::string readout(const PlainLayer& layer, PickleWriter& p) {
    if (layer.readout_behind.weight.empty())
      return p.module("LinearReadoutBlock", {{"linear", layer.readout.pickle(p)}});
    return p.module("NonLinearReadoutBlock",
                    {{"linear_1", layer.readout.pickle(p)}, {"linear_2", layer.readout_behind.pickle(p)}});
  }
  Values edge_weights(const PlainLayer& layer, double r) const;
  /// Features of owned atoms after one interaction.
  std::vector<Values> advance(const PlainLayer& layer, const PeriodicSystem& s,
                              const std::vector<Values>& before) const;

  bool cut_inputs_;
  RandomNumbers random_;
  Values energies_ = {-1.25, -3.5};
  PlainLinear embedding_;
  std::vector<PlainLayer> layers_;
};

inline double silu(double x) { return RandomMace::activation * x / (1.0 + std::exp(-x)); }

/// Harmonics up to degree 2 as e3nn writes them out.
inline Values plain_harmonics(const double* d, double r) {
  const double x = d[0] / r, y = d[1] / r, z = d[2] / r, a = std::sqrt(3.0), b = std::sqrt(15.0);
  return {1.0,
          a * x,
          a * y,
          a * z,
          b * x * z,
          b * x * y,
          std::sqrt(5.0) * (y * y - 0.5 * (x * x + z * z)),
          b * y * z,
          0.5 * b * (z * z - x * x)};
}

inline Values RandomMace::edge_weights(const PlainLayer& layer, double r) const {
  const double x = r / cutoff, p = envelope;
  const double cut = 1.0 - (p + 1) * (p + 2) / 2 * std::pow(x, p) + p * (p + 2) * std::pow(x, p + 1) -
                     p * (p + 1) / 2 * std::pow(x, p + 2);
  Values in;
  for (int n = 1; n <= radial; ++n)
    in.push_back(std::sqrt(2.0 / cutoff) * std::sin(n * M_PI * r / cutoff) / r * (cut_inputs_ ? cut : 1.0));
  for (std::size_t k = 0; k < layer.network.size(); ++k) {
    Values out(static_cast<std::size_t>(layer.widths[k + 1]), 0.0);
    for (std::size_t a = 0; a < in.size(); ++a)
      for (std::size_t b = 0; b < out.size(); ++b)
        out[b] += in[a] * layer.network[k][a * out.size() + b] / std::sqrt(static_cast<double>(in.size()));
    if (k + 1 < layer.network.size())
      for (double& v : out) v = silu(v);
    in = out;
  }
  for (double& v : in) v *= cut_inputs_ ? 1.0 : cut;
  return in;
}

inline std::vector<Values> RandomMace::advance(const PlainLayer& layer, const PeriodicSystem& s,
                                               const std::vector<Values>& before) const {
  const Particles& atoms = s.particles;
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), atoms.x);
  std::vector<Values> after;
  for (int i = 0; i < atoms.nlocal; ++i) {
    Values sum(static_cast<std::size_t>(size_of(layer.convolution.out)), 0.0);
    for (int j = 0; j < atoms.total(); ++j) {
      const double d[3] = {x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (j == i || r >= cutoff) continue;
      const int owner = j < atoms.nlocal ? j : s.owner[static_cast<std::size_t>(j - atoms.nlocal)];
      layer.convolution.add(layer.up(before[static_cast<std::size_t>(owner)]), plain_harmonics(d, r),
                            edge_weights(layer, r), sum);
    }
    const int kind = static_cast<int>(x(i, 3));
    Values message = layer.linear(sum), result;
    for (double& v : message) v /= neighbours;
    if (!layer.residual) message = layer.skip(message, kind);
    for (const auto& contraction : layer.contractions) {
      const Values one = contraction(message, kind);
      result.insert(result.end(), one.begin(), one.end());
    }
    result = layer.product(result);
    if (layer.residual) {
      const Values skipped = layer.skip(before[static_cast<std::size_t>(i)], kind);
      for (std::size_t k = 0; k < result.size(); ++k) result[k] += skipped[k];
    }
    after.push_back(result);
  }
  return after;
}

inline double RandomMace::energy(const PeriodicSystem& s) const {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  std::vector<Values> features;
  double total = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i) {
    Values one(species, 0.0);
    one[static_cast<std::size_t>(x(i, 3))] = 1.0;
    features.push_back(embedding_(one));
    total += energies_[static_cast<std::size_t>(x(i, 3))] + shift;
  }
  for (const auto& layer : layers_) {
    features = advance(layer, s, features);
    for (const Values& one : features) {
      Values out = layer.readout(one);
      if (!layer.readout_behind.weight.empty()) {
        for (double& v : out) v = silu(v);
        out = layer.readout_behind(out);
      }
      total += scale * out[0];
    }
  }
  return total;
}

inline std::vector<RandomMace::Parameter> RandomMace::state_dict() const {
  Values frequencies;
  for (int n = 1; n <= radial; ++n) frequencies.push_back(n * M_PI / cutoff);
  const auto flat = [](const std::string& name, const Values& values) {
    return Parameter{name, {static_cast<std::int64_t>(values.size())}, values};
  };
  std::vector<Parameter> out = {{"atomic_numbers", {species}, {1, 8}},
                                {"num_interactions", {}, {static_cast<double>(layers_.size())}},
                                {"r_max", {}, {cutoff}},
                                {"atomic_energies_fn.atomic_energies", {1, species}, energies_},
                                {"radial_embedding.bessel_fn.prefactor", {}, {std::sqrt(2.0 / cutoff)}},
                                {"radial_embedding.cutoff_fn.p", {}, {envelope}},
                                {"scale_shift.scale", {}, {scale}},
                                {"scale_shift.shift", {}, {shift}},
                                flat("radial_embedding.bessel_fn.bessel_weights", frequencies),
                                flat("node_embedding.linear.weight", embedding_.weight)};
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const PlainLayer& layer = layers_[k];
    const std::string number = std::to_string(k), name = "interactions." + number + ".";
    out.push_back(flat(name + "linear_up.weight", layer.up.weight));
    out.push_back(flat(name + "linear.weight", layer.linear.weight));
    out.push_back(flat(name + "skip_tp.weight", layer.skip.weight));
    for (std::size_t n = 0; n < layer.network.size(); ++n)
      out.push_back({name + "conv_tp_weights.layer" + std::to_string(n) + ".weight",
                     {layer.widths[n], layer.widths[n + 1]},
                     layer.network[n]});
    for (std::size_t j = 0; j < layer.contractions.size(); ++j) {
      const auto& c = layer.contractions[j];
      const auto one = "products." + number + ".symmetric_contractions.contractions." + std::to_string(j) + ".";
      for (int power = 1; power <= c.correlation; ++power) {
        const auto p = static_cast<std::size_t>(power - 1);
        std::vector<std::int64_t> shape(static_cast<std::size_t>(power), c.components());
        if (c.l > 0) shape.insert(shape.begin(), 2 * c.l + 1);
        shape.push_back(c.paths[p]);
        out.push_back({one + "U_matrix_" + std::to_string(power), shape, c.u[p]});
        const auto at = power == c.correlation ? "weights_max" : "weights." + std::to_string(c.correlation - power - 1);
        out.push_back({one + at, {c.species, c.paths[p], c.channels}, c.weight[p]});
      }
    }
    out.push_back(flat("products." + number + ".linear.weight", layer.product.weight));
    const bool two = !layer.readout_behind.weight.empty();
    out.push_back(flat("readouts." + number + (two ? ".linear_1.weight" : ".linear.weight"), layer.readout.weight));
    if (two) out.push_back(flat("readouts." + number + ".linear_2.weight", layer.readout_behind.weight));
  }
  return out;
}

}  // namespace cambium::test
