#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/superres/datasets/labels.hpp"

namespace cambium::superres {

/// Intersection over union of one image, for each class: points that are of the class and found to be, over points that
/// are or are found to be; 1 where neither is any (the convention of DeepCAM in MLPerf HPC).
std::array<double, plume_classes> overlaps(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth);

/// The mean over the classes.
double mean_overlap(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth);

}  // namespace cambium::superres
