#!/usr/bin/env bash
# KIM API 2.3.0 (Debian 2.3.0-1+b1) with the models of openkim-models 2021.01.28-2, argument partialParticleEnergy.
# The manual says no more than its name. Energies count for particles that are "contributing"; others are ghosts, there for the environment.
# Most would expect the energies of the contributing particles to sum up to partialEnergy, as the energies of atoms do in every other interface.
# Seen, for a pair of atoms of which one is a ghost: Stillinger-Weber, Lennard-Jones, embedded atoms, MEAM, shifted Morse and SNAP leave nothing
# with the ghost. Tersoff (driver Tersoff_LAMMPS) gives the contributing atom -25 % and the ghost 125 % of the bond's energy.
# What it means: energies of ghosts must be brought home to the atoms that they are copies of, like forces. A code that reads the rows of its
# own atoms has right sums with most models and wrong ones, of the wrong sign here, with others; nothing that the API answers tells which.
. "$(dirname "$0")/debian.sh"
packages libkim-api2=2.3.0-1+b1 libkim-api-dev=2.3.0-1+b1 openkim-models=1:2021.01.28-2
cat >ghost.cpp <<'CPP'
#include <KIM_SimulatorHeaders.hpp>
#include <cstdio>

namespace arguments = KIM::COMPUTE_ARGUMENT_NAME;

// Both atoms are neighbours of each other.
int neighbours(void*, int, const double*, int, int particle, int* count, const int** list) {
  static const int other[2] = {1, 0};
  *count = 1;
  *list = other + particle;
  return 0;
}

int main(int words, char** word) {
  for (int k = 1; k + 2 < words; k += 3) {
    KIM::Model* model = nullptr;
    KIM::ComputeArguments* a = nullptr;
    int accepted = 0, supported = 0, code = 0;
    if (KIM::Model::Create(KIM::NUMBERING::zeroBased, KIM::LENGTH_UNIT::A, KIM::ENERGY_UNIT::eV, KIM::CHARGE_UNIT::e, KIM::TEMPERATURE_UNIT::K,
                           KIM::TIME_UNIT::ps, word[k], &accepted, &model) || model->ComputeArgumentsCreate(&a))
      return 1;
    model->GetSpeciesSupportAndCode(KIM::SpeciesName(word[k + 1]), &supported, &code);
    double distance = 0.0, energy = 0.0, of_atom[2] = {}, forces[6] = {};
    std::sscanf(word[k + 2], "%lf", &distance);
    const int two = 2, codes[2] = {code, code}, contributing[2] = {1, 0};
    const double x[6] = {0, 0, 0, distance, 0, 0};
    a->SetArgumentPointer(arguments::numberOfParticles, &two);
    a->SetArgumentPointer(arguments::particleSpeciesCodes, codes);
    a->SetArgumentPointer(arguments::particleContributing, contributing);
    a->SetArgumentPointer(arguments::coordinates, x);
    a->SetArgumentPointer(arguments::partialEnergy, &energy);
    a->SetArgumentPointer(arguments::partialForces, forces);
    if (a->SetArgumentPointer(arguments::partialParticleEnergy, of_atom)) return 1;
    a->SetCallbackPointer(KIM::COMPUTE_CALLBACK_NAME::GetNeighborList, KIM::LANGUAGE_NAME::cpp, reinterpret_cast<KIM::Function*>(&neighbours), nullptr);
    if (model->Compute(a)) return 1;
    std::printf("%.*s: contributing atom %.0f %%, ghost %.0f %% of the energy\n", 14, word[k], 100 * of_atom[0] / energy, 100 * of_atom[1] / energy + 0.0);
    model->ComputeArgumentsDestroy(&a);
    KIM::Model::Destroy(&model);
  }
}
CPP
lib=$(dirname "$(find "$root" -name 'libkim-api.so.2' | head -1)")
g++ -std=c++17 -I"$root/usr/include/kim-api" ghost.cpp -o ghost -L"$lib" -Wl,-rpath,"$lib" -lkim-api
export KIM_API_PORTABLE_MODELS_DIR=$lib/kim-api/portable-models KIM_API_MODEL_DRIVERS_DIR=$lib/kim-api/model-drivers
seen "SW_StillingerW: contributing atom 100 %, ghost 0 % of the energy
Tersoff_LAMMPS: contributing atom -25 %, ghost 125 % of the energy
LJ_ElliottAker: contributing atom 100 %, ghost 0 % of the energy
EAM_Dynamo_Erc: contributing atom 100 %, ghost 0 % of the energy
MEAM_LAMMPS_Le: contributing atom 100 %, ghost 0 % of the energy
Morse_Shifted_: contributing atom 100 %, ghost 0 % of the energy
SNAP_ZuoChenLi: contributing atom 100 %, ghost 0 % of the energy" "$(./ghost SW_StillingerWeber_1985_Si__MO_405512056662_005 Si 2.5 \
  Tersoff_LAMMPS_Tersoff_1989_SiC__MO_171585019474_003 Si 2.5 LJ_ElliottAkerson_2015_Universal__MO_959249795837_003 Ar 3.9 \
  EAM_Dynamo_ErcolessiAdams_1994_Al__MO_123629422045_005 Al 3.0 MEAM_LAMMPS_LenoskySadighAlonso_2000_Si__MO_533426548156_000 Si 2.5 \
  Morse_Shifted_GirifalcoWeizer_1959HighCutoff_Cu__MO_151002396060_004 Cu 2.8 SNAP_ZuoChenLi_2019_Ge__MO_183216355174_000 Ge 2.6)"
