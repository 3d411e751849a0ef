#pragma once
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// One density matrix that is being computed: what all parts of the step work on. Everything outlives the parts.
struct DensityJob {
  const MatrixSystem& system;
  const DensityOptions& options;
  Context& context;
  DensityResult& result;

  int blocks() const { return system.layout->blocks(); }
  /// True if matrices are made orthogonal by S^-1/2.
  bool has_root() const { return options.form == Form::orthogonal && !options.orthogonal; }
  bool owns(int column) const { return system.ranges.owner(column) == context.comm.rank(); }
};

}  // namespace cambium::submatrix
