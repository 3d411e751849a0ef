#include "plugins/submatrix/density/per_cell.hpp"

#include "plugins/submatrix/density/electron_check.hpp"

namespace cambium::submatrix {

DensityResult density_per_cell(const MatrixSystem& system, const DensityOptions& options, Context& context) {
  if (system.copies == 1) return density_matrix(system, options, context);
  check_electrons(options.electrons, system.functions(), options);
  DensityOptions all = options;
  all.electrons *= system.copies;
  DensityResult out = density_matrix(system, all, context);
  for (double* sum : {&out.energy, &out.electrons, &out.entropy_term, &out.error.electron_defect,
                      &out.error.energy_change, &out.error.margin, &out.error.sampling, &out.error.electron_change})
    *sum /= system.copies;
  return out;
}

}  // namespace cambium::submatrix
