#pragma once
#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Sample of frames first..first+history-1 of a flow, with the `ahead` frames that follow; 0: no `future`.
train::SamplePtr snapshot(const FieldData& flow, std::size_t first, int history, int ahead, std::int64_t id);

/// Means over blocks of `every` x `every` cells of values (x, z) between the faces along z, uniform along x; with `ny`
/// cells along y, over blocks of `every` along all three axes of values (x, y, z).
std::vector<double> block_means(const std::vector<double>& values, const std::vector<double>& z_faces, int every,
                                std::size_t ny = 0);

}  // namespace cambium::superres
