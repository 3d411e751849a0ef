#include "plugins/mace/model/mace_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/reading.hpp"
#include "core/particles/elements.hpp"
#include "plugins/mace/model/archive_parts.hpp"
#include "plugins/mace/model/read_parts.hpp"
#include "plugins/mace/model/state_dict.hpp"

namespace cambium::mace {

void LinearMap::apply(const double* in, double* out) const {
  for (const Part& p : parts)
    for (int m = 0; m < p.components; ++m)
      for (int u = 0; u < p.in_channels; ++u) {
        const double value = in[p.in + m * p.in_channels + u];
        const double* row = p.weight.data() + static_cast<std::size_t>(u) * p.out_channels;
        double* to = out + p.out + m * p.out_channels;
        for (int w = 0; w < p.out_channels; ++w) to[w] += value * row[w];
      }
}

void LinearMap::apply_transposed(const double* out, double* in) const {
  for (const Part& p : parts)
    for (int m = 0; m < p.components; ++m)
      for (int u = 0; u < p.in_channels; ++u) {
        const double* row = p.weight.data() + static_cast<std::size_t>(u) * p.out_channels;
        const double* from = out + p.out + m * p.out_channels;
        double sum = 0.0;
        for (int w = 0; w < p.out_channels; ++w) sum += from[w] * row[w];
        in[p.in + m * p.in_channels + u] += sum;
      }
}

namespace {

/// Rejects, by name, optional parts of a model that would change energies and are not supported.
void refuse_unknown_parts(const ModelArchive& archive, const std::string& prefix) {
  for (const char* part : {"pair_repulsion_fn", "radial_embedding.distance_transform", "joint_embedding", "les"})
    if (archive.has(prefix + part) && !archive.value(prefix + part).is(PickleValue::Kind::none))
      throw InputError(fmt::format("{}: the model has '{}', which is not supported", archive.path(), part));
  for (const char* flag : {"use_so3", "use_agnostic_product", "use_last_readout_only", "use_edge_irreps_first"})
    if (archive.flag(prefix + flag))
      throw InputError(fmt::format("{}: the model has '{}', which is not supported", archive.path(), flag));
}

void read_species(const ModelParts& archive, const std::string& prefix, MaceModel& model) {
  for (const double z : archive.tensor(prefix + "atomic_numbers").values) {
    const auto symbol = element_symbol(static_cast<int>(z));
    if (symbol.empty()) throw InputError(fmt::format("{}: there is no element {}", archive.path(), z));
    model.symbols.emplace_back(symbol);
  }
  model.atomic_energies = archive.tensor(prefix + "atomic_energies_fn.atomic_energies").values;
  const LinearMap map = read_linear(archive, prefix + "node_embedding.linear");
  const std::size_t species = model.symbols.size(), inputs = static_cast<std::size_t>(map.inputs);
  if (species == 0 || model.atomic_energies.size() != species || inputs != species)
    throw InputError(fmt::format(
        "{}: the model has {} species, {} atomic energies and {} inputs of its embedding; models of several "
        "heads are not supported",
        archive.path(), species, model.atomic_energies.size(), inputs));
  for (std::size_t s = 0; s < model.symbols.size(); ++s) {
    std::vector<double> one(static_cast<std::size_t>(map.inputs), 0.0), out(static_cast<std::size_t>(map.outputs), 0.0);
    one[s] = 1.0;
    map.apply(one.data(), out.data());
    model.embedding.push_back(std::move(out));
  }
}

void read_radial(const ModelParts& archive, const std::string& prefix, MaceModel& model) {
  const std::string radial = prefix + "radial_embedding.";
  model.cutoff = archive.real(prefix + "r_max");
  model.cut_inputs = !archive.has(prefix + "apply_cutoff") || archive.flag(prefix + "apply_cutoff");
  model.bessel = archive.tensor(radial + "bessel_fn.bessel_weights").values;
  model.bessel_factor = archive.real(radial + "bessel_fn.prefactor");
  model.envelope = static_cast<int>(archive.real(radial + "cutoff_fn.p"));
  if (!(model.cutoff > 0.0 && model.cutoff < 100.0) || model.envelope < 2 || model.envelope > 100 ||
      model.bessel.empty())
    throw InputError(fmt::format("{}: cut-off {} Å, exponent {} and {} radial functions do not make a radial basis",
                                 archive.path(), model.cutoff, model.envelope, model.bessel.size()));
  model.activation = archive.activation(prefix);
  for (const Irrep& one : archive.irreps(prefix + "spherical_harmonics.irreps_out"))
    model.lmax = std::max(model.lmax, one.l);
}

void read_model(const ModelParts& parts, const std::string& prefix, MaceModel& model) {
  read_species(parts, prefix, model);
  read_radial(parts, prefix, model);
  if (parts.has(prefix + "scale_shift.scale")) {
    model.scale = parts.real(prefix + "scale_shift.scale");
    model.shift = parts.real(prefix + "scale_shift.shift");
  }
  const int layers = static_cast<int>(parts.real(prefix + "num_interactions"));
  for (int k = 0; k < layers; ++k) model.interactions.push_back(read_interaction(parts, prefix, k, model));
  if (layers < 1) throw InputError(fmt::format("{}: the model has no interactions", parts.path()));
}

void read_archive(const std::string& path, MaceModel& model) {
  const ModelArchive archive(path);
  std::string prefix;
  if (!archive.find_class({"ScaleShiftMACE", "MACE"}, prefix))
    throw InputError(
        fmt::format("{} is an archive of PyTorch, but holds no MACE model; its root is a {}; torch_script runs "
                    "NequIP and Allegro",
                    path, archive.class_of("")));
  refuse_unknown_parts(archive, prefix);
  if (archive.value(prefix + "spherical_harmonics.normalization").text != "component")
    throw InputError(fmt::format("{}: spherical harmonics must be normalised by component", path));
  read_model(ArchiveParts(archive), prefix, model);
}

}  // namespace

MaceModel MaceModel::load(const std::string& path) {
  MaceModel model;
  model.source = path;
  io::reading(path, [&] {
    if (path.ends_with(".safetensors"))
      read_model(StateDict(path), "", model);
    else
      read_archive(path, model);
  });
  return model;
}

double MaceModel::operations(double neighbours) const {
  double edge = 0.0, atom = 0.0;
  const auto of = [](const LinearMap& map) {
    double sum = 0.0;
    for (const auto& part : map.parts) sum += 2.0 * part.in_channels * part.out_channels * part.components;
    return sum;
  };
  for (const Interaction& layer : interactions) {
    for (const auto& one : layer.radial.layers) edge += 3.0 * 2.0 * one.in * one.out;  // values twice, slopes once
    for (const auto& path : layer.paths) edge += 8.0 * path.channels * static_cast<double>(path.terms.size());
    atom += 2.0 * (of(layer.up) + of(layer.linear) + of(layer.product) + of(layer.readout.first));
    if (!layer.skip.empty()) atom += 2.0 * of(layer.skip[0]);
    for (const auto& term : layer.contraction.terms) atom += 4.0 * term.degree * layer.channels;
  }
  return neighbours * edge + atom;
}

}  // namespace cambium::mace
