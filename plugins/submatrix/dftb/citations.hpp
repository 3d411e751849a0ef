#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "plugins/submatrix/dftb/ground_state.hpp"

namespace cambium::submatrix {

/// Works on which DFTB2 and its files rest, and those of what the keys add: spin, dispersion.
std::vector<Citation> dftb_citations(const DftbKeys& keys);

}  // namespace cambium::submatrix
