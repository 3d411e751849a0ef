#pragma once
#include <string_view>

#include "core/io/text_lines.hpp"
#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// True if this line is a banner of Matrix Market, or meant as one: "%%MatrixMarket ..." in any case, with any number
/// of percent signs and blanks before the word.
bool is_market_banner(std::string_view line);

/// A square symmetric or Hermitian matrix in the format of R. Boisvert, R. Pozo and K. Remington (The Matrix Market
/// Exchange Formats, NISTIR 5935, 1996), from its banner (the current line) on:
///   coordinate (duplicate elements are summed) or array (column-major);
///   real, double, integer, unsigned-integer and complex; pattern, whose elements are 1;
///   general, or symmetric and hermitian, of which one triangle is stored.
/// Blank lines and lines that begin with % may stand anywhere after the banner. Collective; InputError, with file and
/// line, for anything else, a skew-symmetric matrix, and more or fewer elements than announced.
StoredElements read_matrix_market(io::TextLines& lines, const FileRanks& ranks);

}  // namespace cambium::submatrix
