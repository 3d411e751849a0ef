#include "plugins/superres/samples/window.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::superres {
namespace {

/// Storage that the fields of a sample point into.
struct Memory {
  std::vector<float> coarse, values;
  std::array<std::vector<double>, 3> axis;
  std::vector<double> points;
};

}  // namespace

Windows::Windows(FieldData coarse, std::array<int, 3> size, const std::array<double, 3>& ratio)
    : coarse_(std::move(coarse)), size_(size) {
  constexpr const char* names[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a) {
    const int there = static_cast<int>(coarse_.axis[a].size());
    if (size_[a] == 0) size_[a] = there;
    if (size_[a] > there)
      throw KeyError(
          "window.crop.range", "",
          fmt::format("a crop of {} coarse samples along {} is larger than the domain: '{}' has {} of them at ratio "
                      "{:g}; give a crop of at most {}, a smaller ratio or more {}",
                      size_[a], names[a], coarse_.file, there, ratio[a], there, a == 0 ? "frames" : "points"));
    if (size_[a] < 2)
      throw KeyError("window.crop.one", "",
                     fmt::format("a crop of {} coarse sample along {} has no cell to decode in; give 2 or more",
                                 size_[a], names[a]));
  }
}

int Windows::starts(int axis) const {
  const int there = static_cast<int>(coarse_.axis[axis].size());
  return axis == 1 && coarse_.period > 0.0 ? there : there - size_[axis] + 1;
}

std::vector<double> Windows::nodes(int axis, int start) const {
  const auto& all = coarse_.axis[axis];
  const int n = static_cast<int>(all.size()), count = size_[axis] + (axis == 1 && wraps() ? 1 : 0);
  std::vector<double> out;
  for (int k = start; k < start + count; ++k) out.push_back(all[k % n] + k / n * coarse_.period);
  return out;
}

train::SamplePtr Windows::sample(const std::array<int, 3>& start, std::vector<double> points, std::vector<float> values,
                                 std::int64_t id) const {
  auto memory = std::make_shared<Memory>();
  for (int a = 0; a < 3; ++a) memory->axis[a] = nodes(a, start[a]);
  const auto fields = coarse_.values.size();
  for (std::size_t f = 0; f < fields; ++f)
    for (int t = 0; t < size_[0]; ++t)
      for (int x = 0; x < size_[1]; ++x)
        for (int z = 0; z < size_[2]; ++z)
          memory->coarse.push_back(
              static_cast<float>(coarse_.at(f, start[0] + t, (start[1] + x) % coarse_.nx(), start[2] + z)));
  memory->points = std::move(points);
  memory->values = std::move(values);
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  const auto count = std::ssize(memory->points) / 3;
  sample->fields["coarse"] =
      io::tensor_of(memory->coarse.data(), {std::ssize(coarse_.values), size_[0], size_[1], size_[2]});
  constexpr const char* axes[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a)
    sample->fields[axes[a]] = io::tensor_of(memory->axis[a].data(), {std::ssize(memory->axis[a])});
  sample->fields["points"] = io::tensor_of(memory->points.data(), {count, 3});
  if (!memory->values.empty())
    sample->fields["values"] = io::tensor_of(memory->values.data(), {count, std::ssize(coarse_.values)});
  sample->bytes =
      static_cast<std::int64_t>(4 * (memory->coarse.size() + memory->values.size()) + 8 * memory->points.size());
  sample->storage = memory;
  return sample;
}

}  // namespace cambium::superres
