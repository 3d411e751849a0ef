#include "plugins/pretrain/archive/augment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "plugins/pretrain/archive/streams.hpp"

namespace cambium::pretrain {

void Reflection::describe(deck::Describe<Reflection>& d) {
  d("axis", &Reflection::axis, "axis that is reversed, counted from 0").range(0, 2);
  d("odd", &Reflection::odd, "channels that change their sign, counted from 0: the component along the axis").def({});
}

void AugmentKeys::describe(deck::Describe<AugmentKeys>& d) {
  d("shift", &AugmentKeys::shift, "periodic axes along which a field is shifted by any number of cells").def({});
  d("reflect", &AugmentKeys::reflect, "mirrors, each used half of the time").def({}).example("[{axis: 0, odd: [1]}]");
  d("noise", &AugmentKeys::noise,
    "standard deviation of the noise added to every value, in units of its channel's standard deviation")
      .non_negative()
      .def(0.0);
  d("crop", &AugmentKeys::crop, "crop size: number of cells along each axis; default: full fields").def({});
  d("warp", &AugmentKeys::warp, "pictures only: turned, stretched, slanted and bent, before they are cropped")
      .example("{rotate: 15, stretch: 0.15, shear: 0.2, elastic: 0.7}");
}

std::int64_t FieldShape::numbers() const {
  std::int64_t out = channels;
  for (const auto n : cells) out *= n;
  return out;
}

static std::string cells_text(const std::vector<std::int64_t>& cells) {
  std::string out;
  for (const auto n : cells) out += (out.empty() ? "" : " x ") + std::to_string(n);
  return out;
}

static void require_axis(const char* key, std::int64_t axis, const FieldShape& shape) {
  if (axis < 0 || axis >= std::ssize(shape.cells))
    throw KeyError(
        "augment.axis", deck::child_path("augment", key),
        fmt::format("augment.{} names axis {}, but fields have the axes 0 to {}", key, axis, shape.cells.size() - 1));
}

void require_fitting(const AugmentKeys& keys, const FieldShape& shape) {
  for (const auto axis : keys.shift) {
    require_axis("shift", axis, shape);
    if (shape.periodic[axis] == 0)
      throw KeyError("augment.shift.periodic", "augment.shift",
                     fmt::format("augment.shift names axis {}, which is not periodic: a shifted field would not be one "
                                 "of this system; remove "
                                 "it, or crop along it",
                                 axis));
  }
  for (const auto& reflection : keys.reflect) {
    require_axis("reflect", reflection.axis, shape);
    for (const auto channel : reflection.odd)
      if (channel < 0 || channel >= shape.channels)
        throw KeyError("augment.reflect.odd", "augment.reflect",
                       fmt::format("augment.reflect: odd names channel {}, but fields have the channels 0 to {}",
                                   channel, shape.channels - 1));
  }
  if (keys.warp && (shape.cells.size() != 2 || shape.periodic[0] != 0 || shape.periodic[1] != 0))
    throw KeyError("augment.warp", "augment.warp",
                   "augment.warp bends pictures, fields over two axes that are not periodic; remove it, and set shift "
                   "and reflect as these fields allow");
  if (keys.crop.empty()) return;
  if (keys.crop.size() != shape.cells.size())
    throw KeyError(
        "augment.crop.axes", "augment.crop",
        fmt::format("augment.crop has {} extents, but fields have {} axes", keys.crop.size(), shape.cells.size()));
  for (std::size_t a = 0; a < keys.crop.size(); ++a) {
    if (keys.crop[a] < 1 || keys.crop[a] > shape.cells[a])
      throw KeyError("augment.crop.range", "augment.crop",
                     fmt::format("augment.crop is {}, but fields have {} cells; take at most those",
                                 cells_text(keys.crop), cells_text(shape.cells)));
    if (shape.periodic[a] != 0 && keys.crop[a] < shape.cells[a])
      throw KeyError("augment.crop.periodic", "augment.crop",
                     fmt::format("augment.crop cuts axis {}, which is periodic and wrapped by the network; keep its {} "
                                 "cells, and shift it",
                                 a, shape.cells[a]));
  }
}

FieldShape augmented_shape(const AugmentKeys& keys, const FieldShape& shape) {
  FieldShape out = shape;
  if (!keys.crop.empty()) out.cells = keys.crop;
  return out;
}

namespace {

using Triple = std::array<std::int64_t, 3>;

/// Source cell of each cell of the copy.
struct Move {
  Triple from{1, 1, 1}, to{1, 1, 1};  ///< extents; missing axes come first and have one cell
  Triple origin{0, 0, 0}, shift{0, 0, 0};
  std::array<bool, 3> turned{};
  /// Source cells along an axis, in the order of the copy's cells.
  std::vector<std::int64_t> sources(std::size_t axis) const {
    std::vector<std::int64_t> out;
    for (std::int64_t cell = 0; cell < to[axis]; ++cell) {
      const std::int64_t k = cell + origin[axis];
      out.push_back(((turned[axis] ? from[axis] - 1 - k : k) + shift[axis]) % from[axis]);
    }
    return out;
  }
};

std::int64_t below(std::int64_t n, double uniform) {
  return std::min(n - 1, static_cast<std::int64_t>(uniform * static_cast<double>(n)));
}

Move choose(const AugmentKeys& keys, const FieldShape& shape, const AugmentAddress& address) {
  Move out;
  const std::size_t first = 3 - shape.cells.size();
  const auto target = augmented_shape(keys, shape);
  const auto id = 2 * static_cast<std::uint64_t>(address.sample) + static_cast<std::uint64_t>(address.view);
  const auto drawn = [&](std::size_t axis) {
    return Random4(address.seed, augment_stream, id, 4 * static_cast<std::uint64_t>(address.step) + axis);
  };
  for (std::size_t a = 0; a < shape.cells.size(); ++a) {
    out.from[first + a] = shape.cells[a];
    out.to[first + a] = target.cells[a];
    out.origin[first + a] = below(shape.cells[a] - target.cells[a] + 1, drawn(a).uniform(0));
  }
  for (const auto axis : keys.shift) {
    const auto a = static_cast<std::size_t>(axis);
    out.shift[first + a] = below(shape.cells[a], drawn(a).uniform(1));
  }
  for (const auto& reflection : keys.reflect) {
    const auto a = static_cast<std::size_t>(reflection.axis);
    out.turned[first + a] = drawn(a).uniform(2) < 0.5;
  }
  return out;
}

}  // namespace

std::vector<float> augmented(std::span<const float> field, const FieldShape& shape, const AugmentKeys& keys,
                             std::span<const double> deviation, const AugmentAddress& address) {
  const Move move = choose(keys, shape, address);
  std::vector<float> out, bent;
  if (keys.warp) {
    bent = warped(field, shape, *keys.warp, address);
    field = bent;
  }
  out.reserve(augmented_shape(keys, shape).numbers());
  const std::size_t first = 3 - shape.cells.size();
  const auto planes = move.sources(0), rows = move.sources(1), cells_along = move.sources(2);
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    double sign = 1.0;
    for (const auto& mirror : keys.reflect)
      if (move.turned[first + static_cast<std::size_t>(mirror.axis)] &&
          std::find(mirror.odd.begin(), mirror.odd.end(), c) != mirror.odd.end())
        sign = -sign;
    for (const auto i : planes)
      for (const auto j : rows) {
        const float* const row = field.data() + ((c * move.from[0] + i) * move.from[1] + j) * move.from[2];
        for (const auto k : cells_along) out.push_back(static_cast<float>(sign) * row[k]);
      }
  }
  if (keys.noise == 0.0) return out;
  const auto cells = out.size() / static_cast<std::size_t>(shape.channels);
  const auto id = 2 * static_cast<std::uint64_t>(address.sample) + static_cast<std::uint64_t>(address.view);
  for (std::size_t k = 0; k < out.size(); k += 4) {
    const Random4 random(address.seed, noise_stream, id,
                         (static_cast<std::uint64_t>(address.step) << 24) + static_cast<std::uint64_t>(k / 4));
    for (std::size_t lane = 0; lane < 4 && k + lane < out.size(); ++lane)
      out[k + lane] +=
          static_cast<float>(keys.noise * deviation[(k + lane) / cells] * random.normal(static_cast<int>(lane)));
  }
  return out;
}

}  // namespace cambium::pretrain
