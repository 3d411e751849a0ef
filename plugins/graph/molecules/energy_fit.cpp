#include "plugins/graph/molecules/energy_fit.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cambium::graph {

using Kind = EnergyFit::Kind;

std::string name_of(Kind kind) {
  static const std::array<std::string, 4> names{"atoms", "bonds", "coulomb", "bag_of_bonds"};
  return names.at(static_cast<std::size_t>(kind));
}

void EnergyFit::require(std::span<const MoleculeView> molecules, Kind kind) {
  if (kind == Kind::bonds) CountFit::require_bonds(molecules);
  if (kind == Kind::coulomb || kind == Kind::bag_of_bonds) MoleculeKernel::require(molecules);
}

void EnergyFit::fit(std::span<const MoleculeView> molecules, Kind kind, bool constant) {
  kind_ = kind;
  if (kind == Kind::atoms || kind == Kind::bonds) {
    CountFit counts;
    counts.fit(molecules, kind == Kind::bonds ? CountFit::Counted::bonds : CountFit::Counted::atoms, constant);
    fit_ = std::move(counts);
    return;
  }
  MoleculeKernel kernel(kind == Kind::coulomb ? MoleculeKernel::Descriptors::coulomb
                                              : MoleculeKernel::Descriptors::bag_of_bonds);
  kernel.fit(molecules);
  fit_ = std::move(kernel);
}

double EnergyFit::operator()(const MoleculeView& molecule) const {
  return std::visit([&](const auto& fit) { return fit(molecule); }, fit_);
}

double EnergyFit::without(const MoleculeView& molecule) const {
  const auto* kernel = std::get_if<MoleculeKernel>(&fit_);
  return kernel ? kernel->without(molecule) : (*this)(molecule);
}

std::string EnergyFit::note(const std::string& unit) const {
  if (const auto* kernel = std::get_if<MoleculeKernel>(&fit_))
    return fmt::format("width {:.4g}, ridge {:g}, {:.4g} {} when left out in turn", kernel->width(), kernel->ridge(),
                       kernel->left_out_error(), unit);
  return kind_ == Kind::bonds ? "linear in counts of atoms and bonds" : "linear in counts of atoms";
}

std::vector<Citation> EnergyFit::citations() const {
  if (kind_ == Kind::coulomb)
    return {{"rupp2012", R"(@article{rupp2012,
  author = {Rupp, Matthias and Tkatchenko, Alexandre and M{\"u}ller, Klaus-Robert and von Lilienfeld, O. Anatole},
  title = {Fast and Accurate Modeling of Molecular Atomization Energies with Machine Learning},
  journal = {Physical Review Letters}, volume = {108}, pages = {058301}, year = {2012},
  doi = {10.1103/PhysRevLett.108.058301}
})"}};
  if (kind_ == Kind::bag_of_bonds)
    return {{"hansen2015", R"(@article{hansen2015,
  author = {Hansen, Katja and Biegler, Franziska and Ramakrishnan, Raghunathan and Pronobis, Wiktor and von Lilienfeld, O. Anatole and M{\"u}ller, Klaus-Robert and Tkatchenko, Alexandre},
  title = {Machine Learning Predictions of Molecular Properties: Accurate Many-Body Potentials and Nonlocality in Chemical Space},
  journal = {The Journal of Physical Chemistry Letters}, volume = {6}, pages = {2326--2331}, year = {2015},
  doi = {10.1021/acs.jpclett.5b00831}
})"}};
  return {};
}

std::string EnergyFit::text() const {
  const auto fitted = std::visit([](const auto& fit) { return fit.text(); }, fit_);
  return nlohmann::json{{"kind", name_of(kind_)}, {"fit", fitted}}.dump();
}

EnergyFit EnergyFit::from(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  EnergyFit out;
  // Versions without kernels stored only the counts.
  const auto fitted = in.contains("fit") ? in.at("fit").get<std::string>() : text;
  const auto kind = in.contains("kind")          ? in.at("kind").get<std::string>()
                    : in.at("bonds").get<bool>() ? "bonds"
                                                 : "atoms";
  for (const auto known : {Kind::atoms, Kind::bonds, Kind::coulomb, Kind::bag_of_bonds})
    if (name_of(known) == kind) out.kind_ = known;
  if (out.kind_ == Kind::atoms || out.kind_ == Kind::bonds)
    out.fit_ = CountFit::from(fitted);
  else
    out.fit_ = MoleculeKernel::from(fitted);
  return out;
}

}  // namespace cambium::graph
