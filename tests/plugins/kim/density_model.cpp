// A portable model of the KIM API in hartree and bohr (or others by MODEL_KIND), whatever the simulator asks for: E =
// sum_i sum_j w(r_ij) rho_j, where rho_j = sum_k w(r_jk) and w(r) = (1 - r^2/c^2)^3 within the cut-off c. An atom feels
// neighbours of its neighbours, so that the model asks for those of ghosts. MODEL_KIND makes others of it: some cannot
// be used, `reaching` acts from 4 % beyond the distances that it names, as MEAM's screening does.
#include <KIM_ModelHeaders.hpp>
#include <KIM_SharedLibrarySchema.hpp>
#include <cmath>

namespace {

namespace arguments = KIM::COMPUTE_ARGUMENT_NAME;
namespace routines = KIM::MODEL_ROUTINE_NAME;
using KIM::LANGUAGE_NAME::cpp;

enum Kind { density, no_forces, demanding, failing, mechanical, reaching, energies_only };
constexpr Kind kind = MODEL_KIND;
constexpr bool complete = kind == density || kind == mechanical || kind == reaching;
constexpr bool energies_of_atoms = complete || kind == energies_only;

constexpr double cutoff = 5.0;  // bohr
double listed = kind == reaching ? cutoff / 1.04 : cutoff, influence = 2.0 * listed;
int spared = 0;

int create_arguments(const KIM::ModelCompute*, KIM::ModelComputeArgumentsCreate* create) {
  using namespace KIM::SUPPORT_STATUS;
  int error = create->SetArgumentSupportStatus(arguments::partialEnergy, optional);
  error |= create->SetArgumentSupportStatus(arguments::partialForces, kind == no_forces ? notSupported : optional);
  if (energies_of_atoms) error |= create->SetArgumentSupportStatus(arguments::partialParticleEnergy, optional);
  if (complete) error |= create->SetArgumentSupportStatus(arguments::partialParticleVirial, optional);
  if (kind == demanding)
    error |= create->SetCallbackSupportStatus(KIM::COMPUTE_CALLBACK_NAME::ProcessDEDrTerm, required);
  return error;
}
int destroy_arguments(const KIM::ModelCompute*, KIM::ModelComputeArgumentsDestroy*) { return 0; }
int destroy(KIM::ModelDestroy*) { return 0; }

struct Atoms {
  const KIM::ModelComputeArguments* arguments;
  const int* contributing = nullptr;
  const double* x = nullptr;
  double *energy = nullptr, *forces = nullptr, *atom_energy = nullptr, *atom_virial = nullptr;

  template <class Use>
  int each(int i, Use&& use) const {
    int count = 0;
    const int* list = nullptr;
    if (arguments->GetNeighborList(0, i, &count, &list)) return 1;
    for (int k = 0; k < count; ++k) {
      double d[3], r2 = 0.0;
      for (int a = 0; a < 3; ++a) d[a] = x[3 * list[k] + a] - x[3 * i + a], r2 += d[a] * d[a];
      const double s = 1.0 - r2 / (cutoff * cutoff);
      if (s > 0.0) use(list[k], d, s * s * s, -6.0 * s * s / (cutoff * cutoff));  // w and its derivative over r
    }
    return 0;
  }
  /// Energy changes by `slope` times (d_j - d_i) . d.
  void pull(int i, int j, const double d[3], double slope) const {
    const int component[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    for (int a = 0; a < 3 && forces; ++a) {
      forces[3 * i + a] += slope * d[a];
      forces[3 * j + a] -= slope * d[a];
    }
    for (int c = 0; c < 6 && atom_virial; ++c) {
      const double half = 0.5 * slope * d[component[c][0]] * d[component[c][1]];
      atom_virial[6 * i + c] += half;
      atom_virial[6 * j + c] += half;
    }
  }
  int density_of(int j, double& rho) const {
    rho = 0.0;
    return each(j, [&](int, const double*, double w, double) { rho += w; });
  }
  int add(int i) const {
    int error = 0;
    error |= each(i, [&](int j, const double* d, double w, double slope) {
      double rho = 0.0;
      error |= density_of(j, rho);
      if (energy) *energy += w * rho;
      if (atom_energy) atom_energy[i] += w * rho;
      pull(i, j, d, slope * rho);
      error |= each(j, [&](int k, const double* e, double, double bent) { pull(j, k, e, w * bent); });
    });
    return error;
  }
};

int compute(const KIM::ModelCompute*, const KIM::ModelComputeArguments* given) {
  if (kind == failing) return 1;
  Atoms atoms{given};
  const int* count = nullptr;
  int error = given->GetArgumentPointer(arguments::numberOfParticles, &count);
  error |= given->GetArgumentPointer(arguments::particleContributing, &atoms.contributing);
  error |= given->GetArgumentPointer(arguments::coordinates, &atoms.x);
  error |= given->GetArgumentPointer(arguments::partialEnergy, &atoms.energy);
  if (kind != no_forces) error |= given->GetArgumentPointer(arguments::partialForces, &atoms.forces);
  if (energies_of_atoms) error |= given->GetArgumentPointer(arguments::partialParticleEnergy, &atoms.atom_energy);
  if (complete) error |= given->GetArgumentPointer(arguments::partialParticleVirial, &atoms.atom_virial);
  if (error) return 1;
  if (atoms.energy) *atoms.energy = 0.0;
  for (int i = 0; i < *count; ++i) {
    for (int a = 0; a < 3 && atoms.forces; ++a) atoms.forces[3 * i + a] = 0.0;
    if (atoms.atom_energy) atoms.atom_energy[i] = 0.0;
    for (int c = 0; c < 6 && atoms.atom_virial; ++c) atoms.atom_virial[6 * i + c] = 0.0;
  }
  for (int i = 0; i < *count; ++i)
    if (atoms.contributing[i]) error |= atoms.add(i);
  return error;
}

template <class Routine>
KIM::Function* of(Routine* routine) {
  return reinterpret_cast<KIM::Function*>(routine);
}

int create(KIM::ModelCreate* create, KIM::LengthUnit, KIM::EnergyUnit, KIM::ChargeUnit, KIM::TemperatureUnit,
           KIM::TimeUnit) {
  const auto length = kind == mechanical ? KIM::LENGTH_UNIT::A : KIM::LENGTH_UNIT::Bohr;
  const auto energy = kind == mechanical ? KIM::ENERGY_UNIT::amu_A2_per_ps2 : KIM::ENERGY_UNIT::Hartree;
  int error =
      create->SetUnits(length, energy, KIM::CHARGE_UNIT::unused, KIM::TEMPERATURE_UNIT::unused, KIM::TIME_UNIT::unused);
  error |= create->SetModelNumbering(KIM::NUMBERING::zeroBased);
  error |= create->SetSpeciesCode(KIM::SPECIES_NAME::Si, 7);
  error |= create->SetRoutinePointer(routines::ComputeArgumentsCreate, cpp, true, of(&create_arguments));
  error |= create->SetRoutinePointer(routines::ComputeArgumentsDestroy, cpp, true, of(&destroy_arguments));
  error |= create->SetRoutinePointer(routines::Compute, cpp, true, of(&compute));
  error |= create->SetRoutinePointer(routines::Destroy, cpp, true, of(&destroy));
  create->SetInfluenceDistancePointer(&influence);
  create->SetNeighborListPointers(1, &listed, &spared);
  return error;
}

}  // namespace

extern "C" {
int kim_shared_library_schema_version = KIM_SHARED_LIBRARY_SCHEMA_VERSION;
KIM::SHARED_LIBRARY_SCHEMA::SharedLibrarySchemaV2 kim_shared_library_schema = {
    KIM::COLLECTION_ITEM_TYPE::portableModel, MODEL_NAME, cpp, of(&create), nullptr, nullptr, 0, nullptr, 0, nullptr};
}
