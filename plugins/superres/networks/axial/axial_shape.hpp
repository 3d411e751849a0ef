#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::superres {

/// Sizes of a vision transformer with axial attention.
struct AxialShape {
  std::array<int, 2> points{}, patch{};  ///< x, z
  bool wraps = false;                    ///< around a periodic x
  int inputs = 0, outputs = 0;           ///< channels of the plane
  int width = 64, heads = 4, layers = 4;
  int hidden = 256;  ///< channels inside each feed-forward part

  /// Patches along an axis, and points in each.
  int tokens(int axis) const { return points[axis] / patch[axis]; }
  int patch_points() const { return patch[0] * patch[1]; }
  /// Number of distances between two patches along an axis with their own bias.
  int distances(int axis) const { return axis == 0 && wraps ? tokens(0) : 2 * tokens(axis) - 1; }
  /// Index of the distance from a query to a key.
  int distance(int axis, int query, int key) const {
    const int n = tokens(axis);
    return axis == 0 && wraps ? (key - query + n) % n : key - query + n - 1;
  }
};

/// "embed.w" (inputs patch points, width), rows by channel, x and z, "embed.b"; "positions.z" (patches along z, width)
/// and, if x is not periodic, "positions.x". For each layer l, prefixed by "layers.<l>.": "norm1.scale", "norm1.shift",
/// "qkv.w" (width, 3 width), queries, keys, values, each by head, "qkv.b", "bias.x" and "bias.z" (heads, distances),
/// "out.w" (width, width), "out.b", "norm2.scale", "norm2.shift", "mlp.0.w" (width, hidden), "mlp.0.b", "mlp.1.w"
/// (hidden, width), "mlp.1.b". "norm.scale", "norm.shift", "project.w" (width, outputs patch points), "project.b".
std::vector<train::ParameterInfo> axial_parameters(const AxialShape& shape);
/// First parameter of the embedding, of each layer, and of the projection.
std::vector<int> axial_modules(const AxialShape& shape);
/// Initialises matrices with normal values of variance 1 / inputs, or 1 / (2 layers inputs) if they add to the residual
/// stream, and positions with standard deviation 0.02, a function of (seed, parameter, element); scales are 1, biases
/// and shifts 0. `last_is_zero`: so are the projection's weights.
void initialise_axial(const AxialShape& shape, std::span<const TensorRef> weights, std::uint64_t seed,
                      bool last_is_zero);
/// InputError naming `patch` or `heads` if they do not divide the points or the width.
void require_divisible(const AxialShape& shape);

}  // namespace cambium::superres
