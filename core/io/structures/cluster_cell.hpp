#pragma once
#include "core/particles/structure.hpp"

namespace cambium::io {

/// Puts the atoms of a file without a cell in an orthogonal one with 10 Å of vacuum on each side, and adds a remark.
void put_in_vacuum(Structure& structure);

}  // namespace cambium::io
