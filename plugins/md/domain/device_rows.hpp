#pragma once
#include <vector>

#include "core/particles/particles.hpp"
#include "plugins/md/domain/brick_grid.hpp"
#include "plugins/md/domain/buckets.hpp"

namespace cambium::md {

/// Permutes the owned rows, and those of the `carried` arrays, into the order of spatial_order() by kernels, so that
/// atoms stay on the device. Runs on every back end.
void order_rows_on_device(Particles& particles, const std::vector<View<double**>*>& carried, const double low[3],
                          const double high[3], Buckets& buckets);

/// Copies that a rank which owns the whole cell makes of its own atoms within `range` (Å) of the cell faces: writes
/// rows (owned row, cell translation) of `copies`, image by image and ascending within each, as borders() does on a
/// host. Returns their number. Runs on every back end.
int images_on_device(const Particles& particles, double range, View<int* [4]>& copies);

/// For each owned row its entries in a list of `count` copies, ascending: offset(row) .. offset(row + 1) - 1 of
/// `entry`.
void entries_by_row(const View<int* [4]>& copies, int count, int rows, Buckets& buckets);

}  // namespace cambium::md
