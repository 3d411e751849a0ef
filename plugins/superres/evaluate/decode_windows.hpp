#pragma once
#include <functional>

#include "core/train/weights/artifact.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Places of a reconstruction along t, x and z.
using Places = std::array<std::vector<double>, 3>;

/// Called after each window with those that are done and all.
using WindowsDone = std::function<void(std::size_t, std::size_t)>;

/// The answer of a trained network to coarse samples at any places. Windows of the size that it was trained on overlap
/// by half and are blended smoothly. InputError for a place outside the samples, or outside the plates of a network
/// that KnowsPlates (x of a periodic domain may lie anywhere within a period of the first sample), or a network of
/// another kind.
FieldData decoded_in_windows(train::LoadedModel& model, const std::string& file, const FieldData& coarse,
                             const std::array<double, 3>& ratio, const Places& places, const WindowsDone& tell = {});

/// `count` places along each axis: `times` in time, the period along x, and along z from one of `heights` to the other,
/// in equal steps in index of the data between them.
Places spanning_places(const FieldData& data, const std::array<int, 3>& count, const std::array<double, 2>& times,
                       const std::array<double, 2>& heights);

}  // namespace cambium::superres
