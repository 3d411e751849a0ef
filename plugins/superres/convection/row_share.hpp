#pragma once

namespace cambium::superres {

/// Throws InputError when there are more ranks than pairs of rows of cells.
void require_rows(int rows, int ranks);

}  // namespace cambium::superres
