#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// Collective: a symmetric or Hermitian matrix of one cell as other programs write it, each rank its part of the
/// elements. By its first bytes the file is one of
///   Matrix Market, see read_matrix_market(): a line that is meant as a banner may follow blank lines and
///   remarks; CP2K's *_CSR_WRITE, lines "row column value" (counted from 1), one triangle or both; the same with BINARY
///   T: Fortran records of two 4-byte integers and a double; DBCSR's text, see read_dbcsr_text(); ELSI's binary CSC,
///   see read_elsi(); HDF5 with a CSR matrix of SciPy, see read_hdf5_csr().
/// In triples zeros may be left out, but without a banner the last element of the diagonal must be there, no element
/// may occur twice, and a first line of three integers that may be a line of sizes is refused. InputError, with file
/// and line, for other contents and a truncated file.
StoredElements read_stored_elements(const std::string& path, const FileRanks& ranks);

/// Complete matrix on this rank, both triangles.
struct MatrixFile {
  int rows = 0;
  std::vector<LatticeEntry> entries;
  std::vector<std::string> notes = {};  ///< for the log
};
MatrixFile read_matrix_file(const std::string& path);

}  // namespace cambium::submatrix
