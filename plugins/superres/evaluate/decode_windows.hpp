#pragma once
#include <functional>

#include "core/train/weights/artifact.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Positions of a reconstruction along t, x and z.
using Places = std::array<std::vector<double>, 3>;

/// Called after each window with the number of finished and of all windows.
using WindowsDone = std::function<void(std::size_t, std::size_t)>;

/// Output of a trained network for coarse samples at any positions. Windows of the training size overlap by half and
/// are blended smoothly. InputError for a position outside the samples, or outside the plates of a network that
/// KnowsPlates (x of a periodic domain may be anywhere within a period of the first sample), or a network of another
/// kind.
FieldData decoded_in_windows(train::LoadedModel& model, const std::string& file, const FieldData& coarse,
                             const std::array<double, 3>& ratio, const Places& places, const WindowsDone& tell = {});

/// `count` positions along each axis: over `times` in time, the period along x, and from one of `heights` to the other
/// along z, in equal steps in index of the data between them.
Places spanning_places(const FieldData& data, const std::array<int, 3>& count, const std::array<double, 2>& times,
                       const std::array<double, 2>& heights);

}  // namespace cambium::superres
