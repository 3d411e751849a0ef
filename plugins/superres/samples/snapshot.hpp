#pragma once
#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// The sample of frames first..first+history-1 of a flow, with the `ahead` frames that follow; none: no `future`.
train::SamplePtr snapshot(const FieldData& flow, std::size_t first, int history, int ahead, std::int64_t id);

/// Means over blocks of `every` x `every` cells of values (x, z) between the faces along z, uniform along x.
std::vector<double> block_means(const std::vector<double>& values, const std::vector<double>& z_faces, int every);

}  // namespace cambium::superres
