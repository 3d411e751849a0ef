#include "plugins/deepmd/engine/evaluate.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace {

std::vector<Species> species_of(const DeepPotentialModel& model) {
  std::vector<Species> out;
  for (const std::string& symbol : model.type_map) out.push_back({symbol, 1.0});
  return out;
}

View<int*> identity(int n) {
  View<int*> out("evaluate: types", static_cast<std::size_t>(n));
  auto host = Kokkos::create_mirror_view(out);
  for (int k = 0; k < n; ++k) host(k) = k;
  Kokkos::deep_copy(out, host);
  return out;
}

View<double**> rows_of(std::span<const double> aparam, int width, std::size_t atoms, const std::string& source) {
  if (aparam.empty()) return {};
  if (aparam.size() != atoms * static_cast<std::size_t>(width))
    throw InputError(fmt::format("{}: the model takes {} value(s) of aparam per atom, so {} for {} atoms; found {}",
                                 source, width, atoms * static_cast<std::size_t>(width), atoms, aparam.size()));
  View<double**> out("evaluate: aparam", atoms, static_cast<std::size_t>(width));
  auto host = Kokkos::create_mirror_view(out);
  for (std::size_t k = 0; k < aparam.size(); ++k)
    host(k / static_cast<std::size_t>(width), k % static_cast<std::size_t>(width)) = aparam[k];
  Kokkos::deep_copy(out, host);
  return out;
}

template <std::size_t width, class V>
std::vector<std::array<double, width>> download(const V& view, std::size_t rows) {
  auto host = Kokkos::create_mirror_view(view);
  Kokkos::deep_copy(host, view);
  std::vector<std::array<double, width>> out(rows);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < width; ++k) out[i][k] = host(i, k);
  return out;
}

}  // namespace

Evaluation evaluate(Engine& engine, std::span<const std::array<double, 3>> positions, std::span<const int> types,
                    const std::optional<Box>& box, std::span<const double> aparam) {
  const DeepPotentialModel& model = engine.model();
  const std::size_t n = positions.size();
  ImageSystem system(positions, types, box, species_of(model), model.rcut);
  const auto rows = static_cast<std::size_t>(system.particles().total());
  EngineOutput out;
  out.f = View<double* [3]>("evaluate: forces", rows);
  out.atom_energy = View<double*>("evaluate: energies", n);
  out.atom_virial = View<double* [9]>("evaluate: virials", rows);
  engine.compute({system.particles(), system.list(), identity(model.ntypes()), true,
                  rows_of(aparam, model.aparam.size, n, model.source)},
                 out);
  system.reverse_add(out.f);
  system.reverse_add(out.atom_virial);
  Evaluation result;
  result.energy = out.energy;
  std::copy_n(out.virial, 9, result.virial);
  result.force = download<3>(out.f, n);
  result.atom_virial = download<9>(out.atom_virial, n);
  auto energies = Kokkos::create_mirror_view(out.atom_energy);
  Kokkos::deep_copy(energies, out.atom_energy);
  result.atom_energy.assign(energies.data(), energies.data() + n);
  return result;
}

}  // namespace cambium::deepmd
