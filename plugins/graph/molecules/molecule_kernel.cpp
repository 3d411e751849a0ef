#include "plugins/graph/molecules/molecule_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::graph {

Descriptor MoleculeKernel::describe(const MoleculeView& molecule) const {
  return descriptors_ == Descriptors::coulomb ? coulomb_descriptor(molecule) : bag_of_bonds(molecule);
}

/// With K = V^T L V the leave-one-out error of a molecule is w_i / (K + ridge)^-1_ii, w the weights of the full fit.
void MoleculeKernel::try_width(double width, const std::vector<double>& distances, const std::vector<double>& rest) {
  const std::size_t n = rest.size();
  std::vector<double> v(n * n), values(n), along(n, 0.0);
  for (std::size_t k = 0; k < n * n; ++k) v[k] = std::exp(-distances[k] / width);
  symmetric_eigenvectors(static_cast<int>(n), v.data(), values.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) along[j] += v[j * n + i] * rest[i];
  for (double ridge = 1e-8; ridge < 0.2; ridge *= 10.0) {
    std::vector<double> weight(n, 0.0), off(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      const double share = 1.0 / (std::max(values[j], 0.0) + ridge);
      for (std::size_t i = 0; i < n; ++i) {
        weight[i] += v[j * n + i] * along[j] * share;
        off[i] += v[j * n + i] * v[j * n + i] * share;
      }
    }
    double error = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      off[i] = weight[i] / off[i];
      error += std::abs(off[i]) / static_cast<double>(n);
    }
    if (error < error_) {
      error_ = error;
      width_ = width;
      ridge_ = ridge;
      weight_ = weight;
      off_ = off;
    }
  }
}

void MoleculeKernel::require(std::span<const MoleculeView> molecules) {
  if (std::ssize(molecules) > most)
    throw KeyError("molecules.kernel.size", "",
                   fmt::format("a kernel of {} molecules takes longer than it is worth (at most {}); leave coulomb and "
                               "bag_of_bonds out of 'baselines', and take another 'reference'",
                               molecules.size(), most));
  if (std::any_of(molecules.begin(), molecules.end(), [](const MoleculeView& m) { return m.periodic(); }))
    throw KeyError("molecules.kernel.cell", "",
                   "a kernel compares molecules in vacuum, but some of these have a periodic cell; leave coulomb and "
                   "bag_of_bonds out of 'baselines', and take another 'reference'");
}

void MoleculeKernel::fit(std::span<const MoleculeView> molecules) {
  require(molecules);
  atoms_.fit(molecules, CountFit::Counted::atoms);
  std::vector<Descriptor> known;
  std::vector<double> rest, distances;
  for (const auto& m : molecules) {
    known.push_back(describe(m));
    rest.push_back(m.energy - atoms_(m));
  }
  known_ = DescriptorRows(std::move(known));
  double mean = 0.0;
  for (const auto& molecule : known_.known()) {
    const auto row = known_.distances(molecule);
    for (const double apart : row) mean += apart / static_cast<double>(rest.size() * rest.size());
    distances.insert(distances.end(), row.begin(), row.end());
  }
  error_ = std::numeric_limits<double>::infinity();
  for (double factor = 0.25; factor < 100.0; factor *= 2.0) try_width(factor * std::max(mean, 1e-300), distances, rest);
}

double MoleculeKernel::operator()(const MoleculeView& molecule) const {
  const auto apart = known_.distances(describe(molecule));
  double sum = atoms_(molecule);
  for (std::size_t i = 0; i < apart.size(); ++i) sum += weight_[i] * std::exp(-apart[i] / width_);
  return sum;
}

/// Recognises training molecules by their descriptors, so it works for any data set that shares molecules with the
/// training.
double MoleculeKernel::without(const MoleculeView& molecule) const {
  const auto apart = known_.distances(describe(molecule));
  double sum = atoms_(molecule);
  std::size_t same = apart.size();
  for (std::size_t i = 0; i < apart.size(); ++i) {
    if (apart[i] == 0.0) same = i;
    sum += weight_[i] * std::exp(-apart[i] / width_);
  }
  if (same == apart.size()) return sum;
  // The residual of a training molecule is the ridge times its weight.
  return sum + ridge_ * weight_[same] - off_[same];
}

std::string MoleculeKernel::text() const {
  nlohmann::json known = nlohmann::json::array();
  for (const auto& molecule : known_.known()) {
    auto& lists = known.emplace_back(nlohmann::json::array());
    for (const auto& [name, list] : molecule) lists.push_back({name, list});
  }
  return nlohmann::json{{"bags", descriptors_ == Descriptors::bag_of_bonds},
                        {"atoms", atoms_.text()},
                        {"width", width_},
                        {"ridge", ridge_},
                        {"error", error_},
                        {"weight", weight_},
                        {"off", off_},
                        {"known", std::move(known)}}
      .dump();
}

MoleculeKernel MoleculeKernel::from(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  MoleculeKernel out(in.at("bags").get<bool>() ? Descriptors::bag_of_bonds : Descriptors::coulomb);
  out.atoms_ = CountFit::from(in.at("atoms").get<std::string>());
  in.at("width").get_to(out.width_);
  in.at("ridge").get_to(out.ridge_);
  in.at("error").get_to(out.error_);
  in.at("weight").get_to(out.weight_);
  in.at("off").get_to(out.off_);
  std::vector<Descriptor> known;
  for (const auto& lists : in.at("known")) {
    auto& molecule = known.emplace_back();
    for (const auto& list : lists)
      molecule[list.at(0).get<std::array<std::int32_t, 2>>()] = list.at(1).get<std::vector<double>>();
  }
  out.known_ = DescriptorRows(std::move(known));
  return out;
}

}  // namespace cambium::graph
