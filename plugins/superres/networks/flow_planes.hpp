#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/decoder/latent_cells.hpp"
#include "plugins/superres/networks/flow_scaling.hpp"

namespace cambium::superres {

/// Number of nodes along t, x and z of a grid with `ratio` times as many cells.
std::array<std::int64_t, 3> refined_nodes(const std::array<std::int64_t, 3>& grid,
                                          const std::array<std::int64_t, 3>& ratio, bool wraps);
/// The same as nodes with coordinates: each cell is divided into `ratio` equal ones.
LatentCells refined(const LatentCells& coarse, const std::array<std::int64_t, 3>& ratio);
/// The nodes of a sample. InputError if x is periodic and the model's windows are not, or vice versa.
LatentCells cells_of(const train::Sample& sample, const FlowScaling& scaling);
/// Text of that InputError, for a model with periodic or non-periodic windows.
const char* other_ends_of_x(bool wraps);

/// Appends planes (n[0], n[1]) refined to `ratio` times as many cells by linear interpolation.
template <class T>
void append_enlarged(std::span<const double> planes, const std::array<std::int64_t, 2>& n,
                     const std::array<std::int64_t, 2>& ratio, bool wraps, std::vector<T>& out);
/// Appends a plane of heights, from -1 at the lowest point to 1 at the highest.
template <class T>
void append_heights(const train::Sample& sample, const std::array<int, 2>& points, std::vector<T>& out);

/// Fields (4, nodes) at the sample's points, (points, 4): linear between nodes.
template <class T>
std::vector<double> at_points(const LatentCells& cells, const train::Sample& sample, std::span<const T> nodes);
/// The transpose of at_points: adds to `by_node`.
template <class T>
void spread_from_points(const LatentCells& cells, const train::Sample& sample, std::span<const double> by_value,
                        std::span<T> by_node);

/// Advances frames (fields, t, x, z) by one: drops the first and appends `next` (fields, x, z).
void advance_frames(std::span<double> frames, std::span<const double> next);

/// Writes the scaled fields of sample `sample` in physical units into the array of all samples' outputs: (points, 4),
/// or, for forecasts, (4, x, z).
void write_fields_of(std::span<const double> scaled, const FlowScaling& scaling, const TensorRef& out,
                     std::int64_t sample);

}  // namespace cambium::superres
