#!/usr/bin/env bash
# KIM API 2.3.0 (Debian 2.3.0-1+b1) with MEAM_LAMMPS_AlmyrasSangiovanniSarakinos_2019_NAlTi and two others of openkim-models 2021.01.28-2.
# A model states the cutoff of its neighbour list, and the simulator gives it all neighbours up to there, or more.
# Most would expect neighbours beyond the stated cutoff to change nothing: that is what a cutoff is, and other models behave so.
# Seen: with a list 10 % longer, energies of MEAM models with wide screening change by 1e-5 eV of 64 atoms, while those of
# embedded atoms and Stillinger-Weber keep every bit. An atom outside the cutoff of both others screens their bond: the ellipse of the screening
# reaches further than the cutoff of the pairs.
# What it means: energies depend on how much longer than asked the lists are (LAMMPS: on the skin, and on how long ago they were built), and
# a crystal that is moved through its periodic box changes its energy if lists end at the cutoff. Ask for 5 to 15 % more.
. "$(dirname "$0")/debian.sh"
packages libkim-api2=2.3.0-1+b1 libkim-api-dev=2.3.0-1+b1 openkim-models=1:2021.01.28-2
cat >reach.cpp <<'CPP'
#include <KIM_SimulatorHeaders.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace arguments = KIM::COMPUTE_ARGUMENT_NAME;

struct Lists {
  std::vector<std::vector<int>> rows;
};

int neighbours(void* lists, int, const double*, int, int particle, int* count, const int** list) {
  const auto& row = static_cast<Lists*>(lists)->rows[particle];
  *count = static_cast<int>(row.size());
  *list = row.data();
  return 0;
}

// A cluster of 4 x 4 x 4 atoms, moved off their lattice by a generator of its own, of the given kinds in turn.
double energy(const char* name, const std::vector<std::string>& kinds, double spacing, double longer) {
  KIM::Model* model = nullptr;
  KIM::ComputeArguments* a = nullptr;
  int accepted = 0;
  if (KIM::Model::Create(KIM::NUMBERING::zeroBased, KIM::LENGTH_UNIT::A, KIM::ENERGY_UNIT::eV, KIM::CHARGE_UNIT::e, KIM::TEMPERATURE_UNIT::K,
                         KIM::TIME_UNIT::ps, name, &accepted, &model) || model->ComputeArgumentsCreate(&a))
    return NAN;
  std::vector<double> x;
  std::vector<int> codes, contributing(64, 1);
  unsigned state = 1;
  for (int k = 0; k < 64; ++k) {
    for (const int n : {k % 4, k / 4 % 4, k / 16}) {
      state = state * 1664525u + 1013904223u;
      x.push_back(spacing * n + 0.3 * (state / 4294967296.0 - 0.5));
    }
    int supported = 0, code = 0;
    model->GetSpeciesSupportAndCode(KIM::SpeciesName(kinds[k % kinds.size()]), &supported, &code);
    codes.push_back(code);
  }
  int number = 0;
  const double* cutoffs = nullptr;
  const int* hints = nullptr;
  model->GetNeighborListPointers(&number, &cutoffs, &hints);
  Lists lists;
  for (int i = 0; i < 64; ++i) {
    lists.rows.emplace_back();
    for (int j = 0; j < 64; ++j)
      if (i != j && std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]) < longer * cutoffs[0])
        lists.rows.back().push_back(j);
  }
  const int all = 64;
  double sum = 0.0;
  a->SetArgumentPointer(arguments::numberOfParticles, &all);
  a->SetArgumentPointer(arguments::particleSpeciesCodes, codes.data());
  a->SetArgumentPointer(arguments::particleContributing, contributing.data());
  a->SetArgumentPointer(arguments::coordinates, x.data());
  a->SetArgumentPointer(arguments::partialEnergy, &sum);
  a->SetCallbackPointer(KIM::COMPUTE_CALLBACK_NAME::GetNeighborList, KIM::LANGUAGE_NAME::cpp, reinterpret_cast<KIM::Function*>(&neighbours), &lists);
  if (model->Compute(a)) return NAN;
  model->ComputeArgumentsDestroy(&a);
  KIM::Model::Destroy(&model);
  return sum;
}

void tell(const char* name, const std::vector<std::string>& kinds, double spacing) {
  const double change = std::abs(energy(name, kinds, spacing, 1.1) - energy(name, kinds, spacing, 1.0));
  std::printf("%.*s: %s\n", 14, name, change == 0.0 ? "not one bit" : change > 1e-7 && change < 1e-1 ? "more than 1e-7 eV" : std::to_string(change).c_str());
}

int main() {
  tell("MEAM_LAMMPS_AlmyrasSangiovanniSarakinos_2019_NAlTi__MO_958395190627_000", {"N", "Al", "Ti"}, 3.6);
  tell("EAM_Dynamo_ErcolessiAdams_1994_Al__MO_123629422045_005", {"Al"}, 2.6);
  tell("SW_StillingerWeber_1985_Si__MO_405512056662_005", {"Si"}, 2.4);
}
CPP
lib=$(dirname "$(find "$root" -name 'libkim-api.so.2' | head -1)")
g++ -std=c++17 -I"$root/usr/include/kim-api" reach.cpp -o reach -L"$lib" -Wl,-rpath,"$lib" -lkim-api
export KIM_API_PORTABLE_MODELS_DIR=$lib/kim-api/portable-models KIM_API_MODEL_DRIVERS_DIR=$lib/kim-api/model-drivers
seen "MEAM_LAMMPS_Al: more than 1e-7 eV
EAM_Dynamo_Erc: not one bit
SW_StillingerW: not one bit" "$(./reach)"
