#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/text_lines.hpp"
#include "plugins/submatrix/matrices/cell_matrices.hpp"

namespace cambium::submatrix {

/// The current line without the byte-order mark that some editors put before the first one.
std::string_view without_mark(const io::TextLines& lines);

/// A number as C and Fortran write it: exponents by E, D or Q, or by their sign alone ("1.5-103"); too small ones
/// become denormal or 0. Fails, naming `what`, for other words and for what is not finite.
double element_in(io::TextLines& lines, std::string_view word, std::string_view what);

/// A row and a column as files count them, from 1; the result counts from 0. Fails for 0 and less, for what no int
/// holds and, where `rows` is known (more than 0), for what is beyond it.
struct Place {
  int row, column;
};
Place place_in(io::TextLines& lines, std::string_view row, std::string_view column, int rows);

/// Sorts by cell, row and column, and sums duplicate elements.
void sum_duplicates(std::vector<LatticeEntry>& entries);

/// First element (in the order of cells, rows and columns) that has a duplicate, if any.
std::optional<LatticeEntry> first_duplicate(std::vector<LatticeEntry> entries);

/// Adds the mirror images of elements of one triangle, with or without the opposite sign of imaginary parts.
void add_mirrored(std::vector<LatticeEntry>& entries, bool conjugate = true);

}  // namespace cambium::submatrix
