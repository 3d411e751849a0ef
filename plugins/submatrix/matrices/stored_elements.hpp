#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/matrices/cell_matrices.hpp"
#include "plugins/submatrix/matrices/file_ranks.hpp"
#include "plugins/submatrix/matrices/text_elements.hpp"

namespace cambium::submatrix {

/// Which elements of a symmetric or Hermitian matrix a file holds.
enum class Triangle {
  both,
  one,      ///< the other one is not stored
  as_found  ///< one, if there are elements on one side of the diagonal only
};

/// Elements as stored in a file, on each rank those of its part of the file.
struct StoredElements {
  std::string path;  ///< with the group of an HDF5 file
  int rows = 0;      ///< of the full matrix, the same on all ranks
  std::vector<LatticeEntry> entries;
  Triangle triangle = Triangle::both;
  bool sums = false;                    ///< duplicate elements are summed; otherwise they are an error
  bool complex = false;                 ///< the file has imaginary parts
  bool conjugate = true;                ///< of the triangle that is not stored
  double electrons = 0.0;               ///< 0 where the file does not know
  std::vector<std::string> notes = {};  ///< for the log
};

/// Completes both triangles of a matrix. `stored` holds every element whose row or whose column is one of some rows
/// (all, or those of this rank); of these rows and columns the result is complete. InputError if an element occurs
/// twice.
void complete(StoredElements& stored);

/// Collective. A row or two without elements are possible, most of them are not: no memory is taken for what a wrong
/// number announces.
void require_elements(const StoredElements& stored, const FileRanks& ranks);

/// Collective. Triangle::as_found becomes one of the others, by the elements of all ranks.
void find_triangle(StoredElements& stored, const FileRanks& ranks);

/// The part of a text that a rank reads: lines that begin from `begin` on and before `end`.
struct TextPart {
  io::TextLines::Mark begin{};
  std::streamoff end = 0;
  std::int64_t elements_before = 0;  ///< lines in the parts of lower ranks that are neither blank nor a remark (%)
};

/// Collective. This rank's part of the lines after `head`; `lines` is positioned at its begin.
TextPart part_of(io::TextLines& lines, io::TextLines::Mark head, const FileRanks& ranks);

/// The next line of the part; false at its end.
bool next_in(io::TextLines& lines, const TextPart& part);

}  // namespace cambium::submatrix
