#pragma once
#include <array>

namespace cambium::deepmd {

/// Columns of the table of a committee's deviation, in the order and under the names of DeePMD-kit's `out_file`
/// (model_devi.out), which DP-GEN reads.
struct DeviationColumn {
  const char *name, *unit, *doc;
};
inline constexpr std::array<DeviationColumn, 6> deviation_columns{{
    {"max_devi_v", "eV/atom", "largest deviation of a component of the virial between the models of the committee"},
    {"min_devi_v", "eV/atom", "smallest one"},
    {"avg_devi_v", "eV/atom", "root mean square over the nine components"},
    {"max_devi_f", "eV/angstrom", "largest deviation of an atom's force between the models of the committee"},
    {"min_devi_f", "eV/angstrom", "smallest one"},
    {"avg_devi_f", "eV/angstrom", "mean over atoms"},
}};

}  // namespace cambium::deepmd
