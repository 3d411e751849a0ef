#include "plugins/kim/model/kim_model.hpp"

#include <fmt/format.h>
#include <KIM_SimulatorHeaders.hpp>
#include <KIM_SupportStatus.hpp>

#include <algorithm>
#include <map>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "plugins/kim/model/installed.hpp"
#include "plugins/kim/model/quiet.hpp"

namespace cambium::kim {
namespace {

namespace arguments = KIM::COMPUTE_ARGUMENT_NAME;

/// Units in eV and Å; CODATA 2018, with the thermochemical calorie. nullopt for an unknown unit.
std::optional<double> in_angstrom(KIM::LengthUnit unit) {
  if (unit == KIM::LENGTH_UNIT::A) return 1.0;
  if (unit == KIM::LENGTH_UNIT::Bohr) return 0.529177210903;
  if (unit == KIM::LENGTH_UNIT::nm) return 10.0;
  if (unit == KIM::LENGTH_UNIT::cm) return 1e8;
  return unit == KIM::LENGTH_UNIT::m ? std::optional(1e10) : std::nullopt;
}
std::optional<double> in_ev(KIM::EnergyUnit unit) {
  if (unit == KIM::ENERGY_UNIT::eV) return 1.0;
  if (unit == KIM::ENERGY_UNIT::Hartree) return 27.211386245988;
  if (unit == KIM::ENERGY_UNIT::kcal_mol) return 0.043364104241800934;
  if (unit == KIM::ENERGY_UNIT::amu_A2_per_ps2) return constants::mvv2e;
  if (unit == KIM::ENERGY_UNIT::J) return 1.0 / 1.602176634e-19;
  return unit == KIM::ENERGY_UNIT::erg ? std::optional(1e-7 / 1.602176634e-19) : std::nullopt;
}

/// KIM::GetNeighborListFunction for NeighborRows: the longest list serves all cut-offs; models compare distances
/// themselves.
int neighbors_of(void* const data, int, const double*, int, int particle, int* count, const int** list) {
  const auto& rows = *static_cast<const NeighborRows*>(data);
  if (particle < 0 || particle >= rows.rows) return 1;
  *count = rows.count[particle];
  *list = rows.index + rows.offset[particle];
  return 0;
}

}  // namespace

struct KimModel::Parts {
  std::string name;
  KIM::Model* model = nullptr;
  KIM::ComputeArguments* arguments = nullptr;
  double length = 1.0, energy = 1.0;  ///< units of the model in Å and eV
  double influence = 0.0, cutoff = 0.0;
  bool ghosts_asked = false, energies_given = false, virials_given = false;
  std::map<std::string, int> code;
  std::vector<std::string> species;

  Parts() = default;
  ~Parts() {
    if (arguments) model->ComputeArgumentsDestroy(&arguments);
    if (model) KIM::Model::Destroy(&model);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void create();
  void read_units();
  void read_species();
  void read_lists();
  void read_arguments();
  KIM::SupportStatus support(KIM::ComputeArgumentName argument) const {
    KIM::SupportStatus status;
    arguments->GetArgumentSupportStatus(argument, &status);
    return status;
  }
  bool gives(KIM::ComputeArgumentName argument) const { return support(argument) != KIM::SUPPORT_STATUS::notSupported; }
  template <class T>
  void set(KIM::ComputeArgumentName argument, T* values) const {
    if (arguments->SetArgumentPointer(argument, values) != 0)
      throw InternalError(fmt::format("the KIM API refuses the argument {}", argument.ToString()));
  }
};

void KimModel::Parts::create() {
  int accepted = 0;
  if (KIM::Model::Create(KIM::NUMBERING::zeroBased, KIM::LENGTH_UNIT::A, KIM::ENERGY_UNIT::eV, KIM::CHARGE_UNIT::e,
                         KIM::TEMPERATURE_UNIT::K, KIM::TIME_UNIT::ps, name, &accepted, &model) != 0)
    throw InputError(
        fmt::format("the KIM model {} cannot be started: its library or its parameters are damaged or of "
                    "another version of the KIM API; install it again",
                    name));
  if (model->ComputeArgumentsCreate(&arguments) != 0)
    throw InputError(fmt::format("the KIM model {} cannot be started", name));
  read_units();
  read_species();
  read_lists();
  read_arguments();
}

/// A model may use its own units regardless of those requested.
void KimModel::Parts::read_units() {
  KIM::LengthUnit length_unit;
  KIM::EnergyUnit energy_unit;
  KIM::ChargeUnit charge;
  KIM::TemperatureUnit temperature;
  KIM::TimeUnit time;
  model->GetUnits(&length_unit, &energy_unit, &charge, &temperature, &time);
  const auto angstrom = in_angstrom(length_unit);
  const auto ev = in_ev(energy_unit);
  if (!angstrom || !ev)
    throw InternalError(
        fmt::format("the KIM model {} computes in {} and {}", name, length_unit.ToString(), energy_unit.ToString()));
  length = *angstrom;
  energy = *ev;
}

void KimModel::Parts::read_species() {
  int known = 0;
  KIM::SPECIES_NAME::GetNumberOfSpeciesNames(&known);
  for (int k = 0; k < known; ++k) {
    KIM::SpeciesName one;
    int supported = 0, number = 0;
    if (KIM::SPECIES_NAME::GetSpeciesName(k, &one) != 0) continue;
    if (model->GetSpeciesSupportAndCode(one, &supported, &number) != 0 || !supported) continue;
    code[one.ToString()] = number;
    species.push_back(one.ToString());
  }
}

void KimModel::Parts::read_lists() {
  model->GetInfluenceDistance(&influence);
  influence *= length;
  int lists = 0;
  const double* cutoffs = nullptr;
  const int* spared = nullptr;
  model->GetNeighborListPointers(&lists, &cutoffs, &spared);
  for (int k = 0; k < lists; ++k) {
    cutoff = std::max(cutoff, cutoffs[k] * length);
    ghosts_asked = ghosts_asked || !spared[k];
  }
}

void KimModel::Parts::read_arguments() {
  if (!gives(arguments::partialEnergy) || !gives(arguments::partialForces))
    throw InputError(
        fmt::format("the KIM model {} gives no {}", name, gives(arguments::partialEnergy) ? "forces" : "energies"));
  energies_given = gives(arguments::partialParticleEnergy);
  virials_given = gives(arguments::partialParticleVirial);
  int count = 0;
  KIM::COMPUTE_CALLBACK_NAME::GetNumberOfComputeCallbackNames(&count);
  for (int k = 0; k < count; ++k) {
    KIM::ComputeCallbackName callback;
    KIM::SupportStatus status;
    KIM::COMPUTE_CALLBACK_NAME::GetComputeCallbackName(k, &callback);
    if (callback == KIM::COMPUTE_CALLBACK_NAME::GetNeighborList) continue;
    arguments->GetCallbackSupportStatus(callback, &status);
    if (status == KIM::SUPPORT_STATUS::required)
      throw InputError(
          fmt::format("the KIM model {} demands {}, which is not offered here", name, callback.ToString()));
  }
}

KimModel::KimModel(const std::string& wanted) : parts_(std::make_unique<Parts>()) {
  parts_->name = installed_model(wanted);
  const Quiet quiet;
  parts_->create();
}
KimModel::~KimModel() = default;

const std::string& KimModel::name() const { return parts_->name; }
const std::vector<std::string>& KimModel::species() const { return parts_->species; }
std::optional<int> KimModel::code(const std::string& symbol) const {
  const auto found = parts_->code.find(symbol);
  return found == parts_->code.end() ? std::nullopt : std::optional(found->second);
}
double KimModel::influence_distance() const { return parts_->influence; }
double KimModel::largest_cutoff() const { return parts_->cutoff; }
bool KimModel::asks_for_neighbors_of_ghosts() const { return parts_->ghosts_asked; }
bool KimModel::gives_energies() const { return parts_->energies_given; }
bool KimModel::gives_virials() const { return parts_->virials_given; }

void KimModel::compute(ModelAtoms& atoms) const {
  const auto n = atoms.codes.size();
  const int count = static_cast<int>(n);
  auto positions = atoms.positions;
  for (double& x : positions) x /= parts_->length;
  atoms.energy = 0.0;
  atoms.forces.assign(3 * n, 0.0);
  atoms.atom_energy.assign(atoms.energies ? n : 0, 0.0);
  atoms.atom_virial.assign(atoms.virials ? 6 * n : 0, 0.0);
  parts_->set(arguments::numberOfParticles, &count);
  parts_->set(arguments::particleSpeciesCodes, atoms.codes.data());
  parts_->set(arguments::particleContributing, atoms.contributing.data());
  parts_->set(arguments::coordinates, positions.data());
  parts_->set(arguments::partialEnergy, &atoms.energy);
  parts_->set(arguments::partialForces, atoms.forces.data());
  double virial[6] = {};
  // A pointer of an earlier call would be written to; null means that the argument is not requested.
  const auto ask = [&](KIM::ComputeArgumentName argument, double* values, bool wanted) {
    if (parts_->gives(argument)) parts_->set(argument, wanted ? values : static_cast<double*>(nullptr));
  };
  const bool virial_required = parts_->support(arguments::partialVirial) == KIM::SUPPORT_STATUS::required;
  ask(arguments::partialVirial, virial, virial_required);
  ask(arguments::partialParticleEnergy, atoms.atom_energy.data(), atoms.energies);
  ask(arguments::partialParticleVirial, atoms.atom_virial.data(), atoms.virials);
  parts_->arguments->SetCallbackPointer(KIM::COMPUTE_CALLBACK_NAME::GetNeighborList, KIM::LANGUAGE_NAME::cpp,
                                        reinterpret_cast<KIM::Function*>(&neighbors_of),
                                        const_cast<NeighborRows*>(&atoms.neighbors));
  if (parts_->model->Compute(parts_->arguments) != 0)
    throw InputError(fmt::format("the KIM model {} cannot compute these atoms", parts_->name));
  atoms.energy *= parts_->energy;
  for (double& f : atoms.forces) f *= parts_->energy / parts_->length;
  for (double& e : atoms.atom_energy) e *= parts_->energy;
  for (double& w : atoms.atom_virial) w *= -parts_->energy;
}

}  // namespace cambium::kim
