#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// True if a file's first bytes are those of HDF5.
bool is_hdf5(std::string_view bytes);

/// Splits "file.h5:/group" into a file and a group in it; if a file has the full name, or none has the shorter one, the
/// group is "".
std::pair<std::string, std::string> split_group(const std::string& path);

/// A CSR matrix of SciPy (scipy.sparse.csr_matrix) in HDF5: data sets `data`, `indices` and `indptr`, counted from 0,
/// in the file or in a group of it ("file.h5:/group"); optionally `shape` (data set or attribute) and `imaginary`, the
/// imaginary parts of `data`. Duplicate elements are summed; one triangle or both. Each rank reads some rows.
/// Collective; InputError for missing and truncated data and for invalid columns.
StoredElements read_hdf5_csr(const std::string& path, const FileRanks& ranks);

}  // namespace cambium::submatrix
