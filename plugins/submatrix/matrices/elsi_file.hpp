#pragma once
#include <string>
#include <string_view>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// True if a file's first bytes are those of an ELSI matrix.
bool is_elsi(std::string_view bytes);

/// A matrix as elsi_write_mat_real() and elsi_write_mat_complex() of ELSI write it (V. W.-z. Yu et al., Comput. Phys.
/// Commun. 256, 107459 (2020); FHI-aims, DFTB+ and SIESTA call them): a header of 16 integers, column pointers, row
/// indices in 4 bytes, elements (real, or real and imaginary), all counted from 1. Integers of the header and the
/// column pointers have 8 bytes, in older files 4. Each rank reads some columns. Collective; InputError for a truncated
/// file and for inconsistent values.
StoredElements read_elsi(const std::string& path, const FileRanks& ranks);

}  // namespace cambium::submatrix
