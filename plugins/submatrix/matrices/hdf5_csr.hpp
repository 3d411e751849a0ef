#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// Do a file's first bytes say that it is HDF5?
bool is_hdf5(std::string_view bytes);

/// "file.h5:/group" is a file and a group in it; where a file has the whole name, or there is none of the shorter one,
/// the group is "".
std::pair<std::string, std::string> split_group(const std::string& path);

/// A CSR matrix of SciPy (scipy.sparse.csr_matrix) in HDF5: data sets `data`, `indices` and `indptr`, counted from 0,
/// in the file or in a group of it ("file.h5:/group"); optionally `shape` (data set or attribute) and `imaginary`, the
/// imaginary parts beside `data`. Elements of one place are added up; one triangle or both. Each rank reads some rows.
/// Collective; InputError for missing and truncated data and for columns that are none.
StoredElements read_hdf5_csr(const std::string& path, const FileRanks& ranks);

}  // namespace cambium::submatrix
