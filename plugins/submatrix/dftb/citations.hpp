#pragma once
#include <vector>

#include "core/base/citation.hpp"

namespace cambium::submatrix {

/// Works on which DFTB2 and its files rest.
std::vector<Citation> dftb_citations();

}  // namespace cambium::submatrix
