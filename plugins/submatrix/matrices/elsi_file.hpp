#pragma once
#include <string>
#include <string_view>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// Do a file's first bytes say that it is a matrix of ELSI?
bool is_elsi(std::string_view bytes);

/// A matrix as elsi_write_mat_real() and elsi_write_mat_complex() of ELSI write it (V. W.-z. Yu et al., Comput. Phys.
/// Commun. 256, 107459 (2020); FHI-aims, DFTB+ and SIESTA call them): a head of 16 integers, the places where columns
/// begin, rows of the elements in 4 bytes, elements (real, or real and imaginary), all counted from 1. Integers of the
/// head and the places have 8 bytes, in older files 4. Each rank reads some columns. Collective; InputError for a
/// truncated file and for numbers that do not fit each other.
StoredElements read_elsi(const std::string& path, const FileRanks& ranks);

}  // namespace cambium::submatrix
