#include "plugins/mace/model/read_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "plugins/mace/model/coupling.hpp"

namespace cambium::mace {
namespace {

/// The block that an instruction refers to.
const Irrep& block(const Irreps& irreps, int index, const ModelParts& archive, const std::string& name) {
  if (index >= static_cast<int>(irreps.size())) misfit(archive, name);
  return irreps[static_cast<std::size_t>(index)];
}

RadialNetwork read_network(const ModelParts& archive, const std::string& name, std::size_t inputs) {
  RadialNetwork out;
  for (int k = 0; archive.has(fmt::format("{}.layer{}.weight", name, k)); ++k) {
    const std::string layer = fmt::format("{}.layer{}", name, k);
    const Tensor weight = archive.tensor(layer + ".weight");
    const std::size_t before = out.layers.empty() ? inputs : static_cast<std::size_t>(out.layers.back().out);
    if (weight.shape.size() != 2 || weight.shape[0] != static_cast<std::int64_t>(before)) misfit(archive, layer);
    RadialNetwork::Layer one{static_cast<int>(weight.shape[0]), static_cast<int>(weight.shape[1]), weight.values};
    for (double& w : one.weight) w /= std::sqrt(one.in);
    out.layers.push_back(std::move(one));
  }
  if (out.layers.empty()) archive.tensor(name + ".layer0.weight");
  return out;
}

/// Consecutive blocks of the product with the same degree form one block of the linear map that follows.
std::pair<const Irrep*, int> merged_block(const Irreps& merged, const Irrep& block) {
  for (const Irrep& one : merged) {
    const int inside = block.offset - one.offset;
    if (one.l == block.l && inside >= 0 && inside + block.size() <= one.size())
      return {&one, one.offset + inside / one.components()};
  }
  return {nullptr, 0};
}

std::vector<ConvolutionPath> read_paths(const ModelParts& archive, const std::string& name, const Irreps& merged,
                                        int inputs, int lmax) {
  const Irreps in = archive.irreps(name + ".irreps_in1"), edge = archive.irreps(name + ".irreps_in2"),
               out = archive.irreps(name + ".irreps_out");
  if (size_of(in) != inputs) misfit(archive, name);
  std::vector<ConvolutionPath> paths;
  int weight = 0;
  for (const Instruction& one : archive.product(name, "uvu")) {
    const Irrep& a = block(in, one.in, archive, name);
    const Irrep& b = block(edge, one.other, archive, name);
    const Irrep& c = block(out, one.out, archive, name);
    const auto [wide, first] = merged_block(merged, c);
    if (!wide || a.mul != c.mul || b.mul != 1 || b.l > lmax || c.l < std::abs(a.l - b.l) || c.l > a.l + b.l)
      misfit(archive, name);
    ConvolutionPath path{a.offset, first, a.mul, wide->mul, weight, a.components(), c.components(), {}};
    const auto symbols = wigner_3j(a.l, b.l, c.l);
    for (int i = 0; i < a.components(); ++i)
      for (int k = 0; k < c.components(); ++k)
        for (int j = 0; j < b.components(); ++j) {
          const double value = symbols[(i * b.components() + j) * c.components() + k];
          if (value != 0.0) path.terms.push_back({i, b.l * b.l + j, k, value * one.factor});
        }
    weight += a.mul;
    paths.push_back(std::move(path));
  }
  return paths;
}

/// A fully connected product with the species: a linear map for each of them.
std::vector<LinearMap> read_skip(const ModelParts& archive, const std::string& name, int species) {
  const Irreps in = archive.irreps(name + ".irreps_in1"), out = archive.irreps(name + ".irreps_out");
  const Tensor weight = archive.tensor(name + ".weight");
  std::vector<LinearMap> maps(static_cast<std::size_t>(species));
  for (auto& map : maps) map.inputs = size_of(in), map.outputs = size_of(out);
  std::size_t used = 0;
  for (const Instruction& one : archive.product(name, "uvw")) {
    const Irrep& a = block(in, one.in, archive, name);
    const Irrep& c = block(out, one.out, archive, name);
    const std::size_t count = static_cast<std::size_t>(a.mul) * species * c.mul;
    if (a.l != c.l || used + count > weight.values.size()) misfit(archive, name);
    const double factor = one.factor / std::sqrt(a.components());
    for (int s = 0; s < species; ++s) {
      LinearMap::Part part{a.offset, c.offset, a.mul, c.mul, a.components(), {}};
      for (int u = 0; u < a.mul; ++u)
        for (int w = 0; w < c.mul; ++w)
          part.weight.push_back(factor * weight.values[used + (static_cast<std::size_t>(u) * species + s) * c.mul + w]);
      maps[static_cast<std::size_t>(s)].parts.push_back(std::move(part));
    }
    used += count;
  }
  if (used != weight.values.size()) misfit(archive, name);
  return maps;
}

Readout read_readout(const ModelParts& archive, const std::string& name) {
  Readout out;
  const std::string kind = archive.class_of(name);
  if (kind == "LinearReadoutBlock") {
    out.first = read_linear(archive, name + ".linear");
  } else if (kind == "NonLinearReadoutBlock") {
    out.first = read_linear(archive, name + ".linear_1");
    out.second = read_linear(archive, name + ".linear_2");
    out.has_activation = true;
    for (const Irrep& one : archive.irreps(name + ".linear_1.irreps_out"))
      if (one.l != 0) misfit(archive, name);
    if (out.second.inputs != out.first.outputs) misfit(archive, name);
  } else {
    throw InputError(fmt::format("{}: readout '{}' is not supported; LinearReadoutBlock and NonLinearReadoutBlock are",
                                 archive.path(), kind));
  }
  if ((out.has_activation ? out.second : out.first).outputs != 1) misfit(archive, name);
  return out;
}

}  // namespace

LinearMap read_linear(const ModelParts& archive, const std::string& name) {
  const Irreps in = archive.irreps(name + ".irreps_in"), out = archive.irreps(name + ".irreps_out");
  if (archive.has(name + ".bias") && !archive.tensor(name + ".bias").values.empty())
    throw InputError(fmt::format("{}: '{}' has a bias, which is not supported", archive.path(), name));
  const Tensor weight = archive.tensor(name + ".weight");
  LinearMap map{size_of(in), size_of(out), {}};
  std::size_t used = 0;
  for (const Instruction& one : archive.linear(name)) {
    const Irrep& a = block(in, one.in, archive, name);
    const Irrep& b = block(out, one.out, archive, name);
    const std::size_t count = static_cast<std::size_t>(a.mul) * b.mul;
    if (a.l != b.l || used + count > weight.values.size()) misfit(archive, name);
    LinearMap::Part part{a.offset, b.offset, a.mul, b.mul, a.components(), {}};
    for (std::size_t k = 0; k < count; ++k) part.weight.push_back(one.factor * weight.values[used + k]);
    used += count;
    map.parts.push_back(std::move(part));
  }
  if (used != weight.values.size()) misfit(archive, name);
  return map;
}

Interaction read_interaction(const ModelParts& archive, const std::string& prefix, int k, const MaceModel& model) {
  const std::string name = fmt::format("{}interactions.{}", prefix, k),
                    product = fmt::format("{}products.{}", prefix, k);
  const std::string kind = archive.class_of(name);
  Interaction out;
  out.residual = kind == "RealAgnosticResidualInteractionBlock";
  if (!out.residual && kind != "RealAgnosticInteractionBlock")
    throw InputError(
        fmt::format("{}: interaction '{}' is not supported; RealAgnosticInteractionBlock and "
                    "RealAgnosticResidualInteractionBlock are",
                    archive.path(), kind));
  const int species = static_cast<int>(model.symbols.size());
  const int before = k == 0 ? static_cast<int>(model.embedding[0].size()) : model.interactions.back().product.outputs;
  out.up = read_linear(archive, name + ".linear_up");
  out.radial = read_network(archive, name + ".conv_tp_weights", model.bessel.size());
  out.paths =
      read_paths(archive, name + ".conv_tp", archive.irreps(name + ".linear.irreps_in"), out.up.outputs, model.lmax);
  out.linear = read_linear(archive, name + ".linear");
  for (auto& part : out.linear.parts)
    for (double& w : part.weight) w /= archive.real(name + ".avg_num_neighbors");
  out.skip = read_skip(archive, name + ".skip_tp", species);
  int weights = 0, components = 0;
  for (const auto& path : out.paths) weights += path.channels;
  for (const Irrep& one : archive.irreps(name + ".linear.irreps_out")) {
    if (out.channels != 0 && one.mul != out.channels) misfit(archive, name + ".linear");
    out.channels = one.mul;
    components += one.components();
  }
  const Irreps results = archive.irreps(product + ".linear.irreps_in");
  out.contraction = read_contraction(archive, product + ".symmetric_contractions.contractions", results, out.channels,
                                     components, species);
  out.product = read_linear(archive, product + ".linear");
  out.readout = read_readout(archive, fmt::format("{}readouts.{}", prefix, k));
  const int skipped = out.residual ? before : out.linear.outputs,
            to = out.residual ? out.product.outputs : out.linear.outputs;
  if (out.up.inputs != before || weights != out.radial.outputs() || out.skip[0].inputs != skipped ||
      out.skip[0].outputs != to || out.readout.first.inputs != out.product.outputs)
    misfit(archive, name);
  return out;
}

namespace {

/// Adds the terms of one power: U[component of the result][i1]..[i_degree][path], weights [species][path][channel].
void add_power(const ModelParts& archive, const std::string& name, const Tensor& u, const Tensor& weight, int degree,
               const Irrep& result, int components, int channels, int species,
               std::map<std::vector<int>, std::vector<double>>& sums) {
  const std::size_t leading = u.shape.size() - static_cast<std::size_t>(degree) - 1;
  const std::int64_t paths = u.shape.empty() ? 0 : u.shape.back();
  if (u.shape.size() < static_cast<std::size_t>(degree) + 1 || leading > 1 || weight.shape.size() != 3 ||
      weight.shape[0] != species || weight.shape[1] != paths || weight.shape[2] != channels ||
      (leading == 1 ? u.shape[0] : 1) != result.components())
    misfit(archive, name);
  for (int d = 0; d < degree; ++d)
    if (u.shape[leading + static_cast<std::size_t>(d)] != components) misfit(archive, name);
  for (std::size_t k = 0; k < u.values.size(); ++k) {
    if (u.values[k] == 0.0) continue;
    std::int64_t rest = static_cast<std::int64_t>(k);
    const std::int64_t path = rest % paths;
    rest /= paths;
    std::vector<int> key;
    for (int d = 0; d < degree; ++d, rest /= components) key.push_back(static_cast<int>(rest % components));
    std::sort(key.begin(), key.end());
    key.insert(key.begin(), {degree, result.offset + static_cast<int>(rest) * channels});
    auto& sum = sums[key];
    sum.resize(static_cast<std::size_t>(species) * channels, 0.0);
    for (int s = 0; s < species; ++s)
      for (int c = 0; c < channels; ++c)
        sum[static_cast<std::size_t>(s) * channels + c] +=
            u.values[k] * weight.values[(s * paths + path) * channels + c];
  }
}

}  // namespace

Contraction read_contraction(const ModelParts& archive, const std::string& name, const Irreps& irreps, int channels,
                             int components, int species) {
  std::map<std::vector<int>, std::vector<double>> sums;  // by degree, component of the result, components
  for (std::size_t k = 0; k < irreps.size(); ++k) {
    const std::string one = fmt::format("{}.{}", name, k);
    if (irreps[k].mul != channels) misfit(archive, one);
    int correlation = 0;
    while (archive.has(fmt::format("{}.U_matrix_{}", one, correlation + 1))) ++correlation;
    if (correlation < 1 || correlation > 3)
      throw InputError(
          fmt::format("{}: the correlation of '{}' is {}; 1 to 3 are supported", archive.path(), one, correlation));
    for (int degree = correlation; degree >= 1; --degree) {
      const Tensor weight = archive.tensor(
          degree == correlation ? one + ".weights_max" : fmt::format("{}.weights.{}", one, correlation - degree - 1));
      add_power(archive, one, archive.tensor(fmt::format("{}.U_matrix_{}", one, degree)), weight, degree, irreps[k],
                components, channels, species, sums);
    }
  }
  Contraction out;
  out.coefficients.resize(static_cast<std::size_t>(species));
  for (const auto& [key, sum] : sums) {
    Contraction::Term term{key[0], {0, 0, 0}, key[1]};
    std::copy(key.begin() + 2, key.end(), term.component);
    out.terms.push_back(term);
    for (int s = 0; s < species; ++s)
      out.coefficients[static_cast<std::size_t>(s)].insert(out.coefficients[static_cast<std::size_t>(s)].end(),
                                                           sum.begin() + static_cast<std::ptrdiff_t>(s) * channels,
                                                           sum.begin() + static_cast<std::ptrdiff_t>(s + 1) * channels);
  }
  return out;
}

}  // namespace cambium::mace
