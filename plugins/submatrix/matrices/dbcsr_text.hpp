#pragma once
#include <string_view>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// True for a line of the output of DBCSR's dbcsr_print(): one of its header or an element "a(1,2)=0.5;".
bool is_dbcsr_line(std::string_view line);

/// A matrix as dbcsr_print() of DBCSR 2 writes it with matlab_format (src/ops/dbcsr_io.F), the output of one or several
/// ranks: headers with the size of the matrix, the symmetry (S: one triangle) and the number of elements, and lines
/// "name(row,column)=value;" or "=real+imaginaryi;", counted from 1. Collective; InputError, with file and line, for
/// anything else, for the form with four decimals, and for fewer elements than the headers announce.
StoredElements read_dbcsr_text(io::TextLines& lines, io::TextLines::Mark head, const FileRanks& ranks);

}  // namespace cambium::submatrix
