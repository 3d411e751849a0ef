#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/superres/datasets/labels.hpp"

namespace cambium::superres {

/// Intersection over union of one image, for each class: number of points in both prediction and truth, over the number
/// in either; 1 if both are empty (the convention of DeepCAM in MLPerf HPC).
std::array<double, plume_classes> overlaps(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth);

/// Mean over the classes.
double mean_overlap(std::span<const std::uint8_t> found, std::span<const std::uint8_t> truth);

}  // namespace cambium::superres
