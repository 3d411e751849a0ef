#pragma once
#include <vector>

#include "plugins/submatrix/density/column_solutions.hpp"

namespace cambium::submatrix {

/// Collective: electrons, energies and entropies of the result from the spectra at its mu.
void sum_up(const DensityJob& job, const SubmatrixPatterns& patterns, const ColumnSolutions& solutions);

/// Collective: D and W of the result, in the basis of the input. `root`: S^-1/2, or null.
void transform_back(const DensityJob& job, const SubmatrixPatterns& patterns, const ColumnSolutions& solutions,
                    const BlockColumns* root);

/// Collective: |D D - D|_F (local form: |D S D - D|_F) over these block columns, per column.
double idempotency_error(const DensityJob& job, const SubmatrixPatterns& patterns, const ColumnSolutions& solutions,
                         const std::vector<int>& drawn);

}  // namespace cambium::submatrix
