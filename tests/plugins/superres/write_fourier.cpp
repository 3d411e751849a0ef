// Writes Fourier operators with made-up weights, their inputs, outputs and gradients, for check_fourier.py.
#include <fmt/format.h>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/start_kokkos.hpp"
#include "tests/plugins/superres/fourier_case.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::testing;

namespace {

template <class T>
void write_case(io::File& file, const std::string& name, const FourierShape& shape) {
  BasicFourierCase<T> made(shape, 2);
  const auto x = numbers(made.inputs(), 11), way = numbers(made.outputs(), 12);
  auto layers = made.layers();
  const auto y = layers.forward({x.begin(), x.end()}, made.samples);
  layers.backward({way.begin(), way.end()}, made.gradients.views, {});
  const auto& g = shape.grid;
  auto group = file.create_group(name);
  group.set_attribute("points", std::vector<int>{g.points[0], g.points[1]});
  group.set_attribute("modes", std::vector<int>{g.modes[0], g.modes[1]});
  group.set_attribute("ends", std::vector<int>{static_cast<int>(g.ends[0]), static_cast<int>(g.ends[1])});
  group.set_attribute("padding", g.padding);
  group.set_attribute("layers", shape.layers);
  group.set_attribute("kernel", shape.kernel);
  group.write("x", x);
  group.write("way", way);
  group.write("y", y);
  const auto info = fourier_parameters(shape);
  for (std::size_t p = 0; p < info.size(); ++p) {
    group.write("weights/" + info[p].name, made.weights.memory[p]);
    group.write("gradients/" + info[p].name, made.gradients.memory[p]);
    group.dataset("weights/" + info[p].name).set_attribute("shape", info[p].shape);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  train::start_kokkos();
  const std::vector<SpectralGrid> grids{{{8, 6}, {3, 3}, {Continuation::periodic, Continuation::mirror}, 0.25},
                                        {{10, 7}, {4, 4}, {Continuation::periodic, Continuation::zeros}, 0.3},
                                        {{5, 7}, {2, 5}, {Continuation::mirror, Continuation::mirror}, 0.25},
                                        {{6, 5}, {2, 3}, {Continuation::periodic, Continuation::mirror_nodes}, 0.25}};
  io::write_h5_atomically(words[1], [&](io::File& file) {
    for (std::size_t k = 0; k < grids.size(); ++k) {
      const FourierShape shape{grids[k], 3, 2, 5, 2, 4, k % 2 == 0 ? 3 : 1};
      write_case<double>(file, fmt::format("float64_{}", k), shape);
      write_case<float>(file, fmt::format("float32_{}", k), shape);
    }
  });
  return 0;
}
