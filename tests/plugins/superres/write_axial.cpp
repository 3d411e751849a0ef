// Writes vision transformers with made-up weights, their inputs, outputs and gradients, for check_axial.py.
#include <fmt/format.h>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/start_kokkos.hpp"
#include "tests/plugins/superres/axial_shapes.hpp"
#include "tests/plugins/superres/plane_case.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::testing;

namespace {

template <class T>
void write_case(io::File& file, const std::string& name, const AxialShape& shape) {
  const auto info = axial_parameters(shape);
  ParameterArrays<T> weights(info), gradients(info);
  weights.fill(0.4);
  const auto points = static_cast<std::size_t>(2 * shape.points[0] * shape.points[1]);
  const auto x = numbers(points * shape.inputs, 11), way = numbers(points * shape.outputs, 12);
  AxialLayers<T> layers(shape, weights.views);
  const auto y = layers.forward({x.begin(), x.end()}, 2, {});
  layers.backward({way.begin(), way.end()}, gradients.views, {});
  auto group = file.create_group(name);
  group.set_attribute("points", std::vector<int>{shape.points[0], shape.points[1]});
  group.set_attribute("patch", std::vector<int>{shape.patch[0], shape.patch[1]});
  group.set_attribute("wraps", shape.wraps ? 1 : 0);
  group.set_attribute("heads", shape.heads);
  group.set_attribute("layers", shape.layers);
  group.write("x", x);
  group.write("way", way);
  group.write("y", y);
  for (std::size_t p = 0; p < info.size(); ++p) {
    group.write("weights/" + info[p].name, weights.memory[p]);
    group.write("gradients/" + info[p].name, gradients.memory[p]);
    group.dataset("weights/" + info[p].name).set_attribute("shape", info[p].shape);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  train::start_kokkos();
  const auto shapes = axial_shapes();
  io::write_h5_atomically(words[1], [&](io::File& file) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      write_case<double>(file, fmt::format("float64_{}", k), shapes[k]);
      write_case<float>(file, fmt::format("float32_{}", k), shapes[k]);
    }
  });
  return 0;
}
