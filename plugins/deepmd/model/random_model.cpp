#include "plugins/deepmd/model/random_model.hpp"

#include <cmath>
#include <numeric>

#include "core/parallel/random.hpp"
#include "plugins/deepmd/model/type_embedding.hpp"

namespace cambium::deepmd {

namespace {

/// Sequence of normally distributed random numbers, addressed by (seed, array).
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : seed_(seed) {}

  std::vector<double> array(int n, double deviation, double mean = 0.0) {
    ++array_;
    std::vector<double> out;
    for (int k = 0; k < n; ++k)
      out.push_back(mean +
                    deviation * Random4(seed_, Stream::model_weights, array_, static_cast<std::uint64_t>(k)).normal(0));
    return out;
  }

 private:
  std::uint64_t seed_, array_ = 0;
};

Layer random_layer(RandomSource& source, int in, int out, const std::string& activation, bool residual, bool timestep) {
  Layer layer;
  layer.in = in;
  layer.out = out;
  layer.activation = Activation::from_name(activation);
  layer.residual = residual;
  layer.w = source.array(in * out, 1.0 / std::sqrt(static_cast<double>(in + out)));
  layer.b = source.array(out, residual ? 1.0 : 0.1);
  if (timestep && layer.copies()) layer.idt = source.array(out, 0.001, 0.1);
  return layer;
}

Network random_network(RandomSource& source, int in, const std::vector<int>& widths, const std::string& activation,
                       bool fitting) {
  Network net;
  for (int width : widths) {
    net.layers.push_back(random_layer(source, in, width, activation, true, fitting));
    in = width;
  }
  if (fitting) net.layers.push_back(random_layer(source, in, 1, "linear", false, false));
  return net;
}

}  // namespace

namespace {

using Descriptor = DeepPotentialModel::Descriptor;

/// The networks of se_atten, and of se_e2_a with type embedding.
void fill_species(RandomSource& source, const RandomModel& spec, DeepPotentialModel& m) {
  const int nt = m.ntypes();
  const bool table = spec.type_embedding.size() == 1 && !spec.with_types;
  m.type_embedding = random_network(source, nt, spec.type_embedding, table ? "linear" : spec.activation, false);
  for (Layer& layer : m.type_embedding.layers) {
    if (!spec.use_tebd_bias) layer.b.clear();
    if (spec.tebd_resnet_dt && layer.copies()) layer.idt = source.array(layer.out, 0.1, 0.5);
  }
  m.concat_output_tebd = spec.concat_output_tebd;
  const int inputs = 1 + (m.type_one_side ? 1 : 2) * m.type_embedding.out();
  m.embedding = {random_network(source, inputs, spec.neuron, spec.activation, false)};
  m.attention.attn = spec.attn;
  m.attention.dotr = spec.attn_dotr;
  m.attention.normalize = spec.attn_normalize;
  m.attention.smooth = spec.attn_smooth;
  const int width = m.width();
  for (int k = 0; k < spec.attn_layer; ++k) {
    m.attention.networks.push_back({{random_layer(source, width, 3 * spec.attn, "linear", false, false)}});
    m.attention.networks.push_back({{random_layer(source, spec.attn, width, "linear", false, false)}});
    Layer norm = random_layer(source, 1, width, "linear", false, false);
    for (double& w : norm.w) w = 1.0 + 0.2 * w;
    m.attention.networks.push_back({{norm}});
  }
}

/// Sizes, statistics and embedding networks; se_e3 has one for each pair of neighbours' types.
void fill_descriptor(RandomSource& source, const RandomModel& spec, DeepPotentialModel& m) {
  const auto nt = spec.type_map.size();
  const bool angles = spec.descriptor == Descriptor::se_e3, species = spec.descriptor == Descriptor::se_atten;
  m.source = "random model";
  m.descriptor = spec.descriptor;
  m.type_map = spec.type_map;
  m.rcut = spec.rcut;
  m.rcut_smth = spec.rcut_smth;
  m.sel = species ? shared_slots(std::accumulate(spec.sel.begin(), spec.sel.end(), 0), m.ntypes()) : spec.sel;
  m.axis_neuron = species || spec.descriptor == Descriptor::se_e2_a ? spec.axis_neuron : 0;
  m.type_one_side = spec.type_one_side && !angles;
  m.mean.assign(nt * nt, {species ? 0.0 : spec.mean, 0.0, 0.0, 0.0});
  m.deviation.assign(nt * nt,
                     {spec.radial_deviation, spec.angular_deviation, spec.angular_deviation, spec.angular_deviation});
  m.pair_excluded.assign(nt * nt, 0);
  if (species || spec.with_types) return fill_species(source, spec, m);
  m.embedding.resize(m.type_one_side ? nt : nt * nt);
  for (std::size_t k = 0; k < m.embedding.size(); ++k)
    if (!angles || k % nt <= k / nt) m.embedding[k] = random_network(source, 1, spec.neuron, spec.activation, false);
}

}  // namespace

DeepPotentialModel random_model(const RandomModel& spec) {
  RandomSource source(spec.seed);
  DeepPotentialModel m;
  const std::size_t nt = spec.type_map.size();
  if (spec.descriptor == Descriptor::hybrid) {
    m.source = "random model";
    m.descriptor = spec.descriptor;
    m.type_map = spec.type_map;
    m.pair_excluded.assign(nt * nt, 0);
    for (const RandomModel& one : spec.parts) {
      RandomSource own(one.seed);
      fill_descriptor(own, one, m.parts.emplace_back());
    }
    m.gather_parts();
  } else {
    fill_descriptor(source, spec, m);
  }
  for (auto& [input, size] : {std::pair{&m.fparam, spec.fparam}, std::pair{&m.aparam, spec.aparam}}) {
    if (size == 0) continue;
    input->size = size;
    input->mean = source.array(size, 1.0);
    input->inverse_deviation.assign(size, 1.5);
  }
  const int inputs = m.descriptor_size() + spec.fparam + spec.aparam;
  for (std::size_t k = 0; k < (has_type_embedding(m) ? 1 : nt); ++k)
    m.fitting.push_back(random_network(source, inputs, spec.fitting, spec.activation, true));
  m.fitting_bias.assign(nt, 0.0);
  m.output_bias.assign(nt, 0.0);
  m.subtract_vacuum.assign(nt, 0);
  m.fitting_excluded.assign(nt, 0);
  m.atom_excluded.assign(nt, 0);
  m.min_distance = spec.min_distance;
  return m;
}

}  // namespace cambium::deepmd
