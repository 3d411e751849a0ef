// Equivalents of DeePMD-kit's commands neighbor-stat and model-devi.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/deepmd/data/system_files.hpp"
#include "plugins/deepmd/datasets/statistics.hpp"
#include "plugins/deepmd/engine/deviation.hpp"
#include "plugins/deepmd/tools/engine_of.hpp"
#include "plugins/deepmd/tools/parity.hpp"

namespace cambium::deepmd {

namespace {

/// Updates the maximum number of neighbours of an atom by species, and the smallest distance (Å).
void count_neighbours(const TrainingFrame& frame, std::vector<int>& most, double& closest) {
  for (int i = 0; i < frame.atoms(); ++i) {
    std::vector<int> count(most.size(), 0);
    for (int p = frame.first[i]; p < frame.first[i + 1]; ++p) {
      ++count[frame.type[frame.neighbour[p]]];
      closest = std::min(closest, std::hypot(frame.d[3 * p], frame.d[3 * p + 1], frame.d[3 * p + 2]));
    }
    for (std::size_t t = 0; t < most.size(); ++t) most[t] = std::max(most[t], count[t]);
  }
}

}  // namespace

std::string neighbour_statistics(const NeighbourOptions& options) {
  std::vector<LabelledData> data;
  std::string again;
  SeenSystems seen;
  for (const std::string& path : options.systems)
    if (const auto before = seen.before(path))
      again += fmt::format("{} is {}, which is named before, and counts once\n", path, *before);
    else
      data.push_back(LabelledData::load_positions(path, options.lammps));
  std::vector<std::string> type_map = options.type_map;
  for (const LabelledData& system : data)
    for (std::size_t k = 0; k < system.frames(); ++k)
      for (const std::string& symbol : system.species(k))
        if (options.type_map.empty() && std::find(type_map.begin(), type_map.end(), symbol) == type_map.end())
          type_map.push_back(symbol);
  if (type_map.empty())
    throw InputError(fmt::format("{}: names no species; give them with --type-map", options.systems.front()));
  const auto types = static_cast<int>(type_map.size());
  std::vector<int> most(type_map.size(), 0);
  double closest = options.rcut;
  std::size_t frames = 0;
  for (const LabelledData& system : data)
    for (std::size_t k = 0; k < system.frames(); ++k, ++frames) {
      const LabelledFrame& frame = system.frame(k);
      const auto pairs =
          find_pairs(frame.x, system.types(k, type_map, "list given with --type-map"), frame.box, types, options.rcut);
      count_neighbours(pairs, most, closest);
    }
  return again + fmt::format(
                     "{} frames, cut-off {:g} Å, species: {}\nmin_nbor_dist: {:.6f}\nmax_nbor_size: [{}]\nsel, a tenth "
                     "more in fours: "
                     "[{}]\n",
                     frames, options.rcut, fmt::join(type_map, ", "), closest, fmt::join(most, ", "),
                     fmt::join(automatic_sel(most), ", "));
}

namespace {

/// Deviation of the models on one frame, as in ModelDeviation.
Deviation deviation_of(const std::vector<Evaluation>& said, const LabelledFrame& frame) {
  const Comm self(MPI_COMM_SELF);
  std::vector<View<double* [3]>> forces;
  std::vector<std::array<double, 9>> virials;
  for (const Evaluation& e : said) {
    View<double* [3]> f("model-devi: forces", e.force.size());
    const auto host = Kokkos::create_mirror_view(f);
    for (std::size_t i = 0; i < e.force.size(); ++i)
      for (std::size_t q = 0; q < 3; ++q) host(i, q) = e.force[i][q];
    Kokkos::deep_copy(f, host);
    forces.push_back(f);
    virials.push_back(frame.axes.tensor(e.virial));
  }
  const auto atoms = static_cast<int>(frame.x.size());
  return model_deviation(forces, std::move(virials), atoms, atoms, self);
}

}  // namespace

std::string write_model_deviation(const DeviationOptions& options) {
  if (options.models.size() < 2)
    throw InputError(fmt::format("a model deviation takes two models or more; {} is given", options.models.size()));
  const LabelledData data = LabelledData::load_positions(options.system, options.lammps);
  std::vector<std::unique_ptr<Engine>> engines;
  for (const std::string& path : options.models) {
    ToolOptions one;
    one.model = path;
    std::string unused;
    engines.push_back(engine_of(one, data, unused));
  }
  std::string text = fmt::format("#{:>11} {:>18} {:>18} {:>18} {:>18} {:>18} {:>18}\n", "step", "max_devi_v",
                                 "min_devi_v", "avg_devi_v", "max_devi_f", "min_devi_f", "avg_devi_f");
  double largest = 0.0;
  for (std::size_t k = 0; k < data.frames(); ++k) {
    std::vector<Evaluation> said;
    for (std::size_t m = 0; m < engines.size(); ++m)
      said.push_back(
          evaluate_frame(*engines[m], data.frame(k), data.types(k, engines[m]->model().type_map, options.models[m])));
    const Deviation d = deviation_of(said, data.frame(k));
    largest = std::max(largest, d.force_max);
    text += fmt::format("{:>12} {:>18.9e} {:>18.9e} {:>18.9e} {:>18.9e} {:>18.9e} {:>18.9e}\n", k, d.virial_max,
                        d.virial_min, d.virial_rms, d.force_max, d.force_min, d.force_mean);
  }
  io::write_file_atomically(options.output, text);
  return fmt::format("{} frames, largest deviation of a force {:.4g} eV/Å -> {}\n", data.frames(), largest,
                     options.output);
}

}  // namespace cambium::deepmd
