#pragma once
// A network `message_passing` with random weights: its model file, and its energy by plain sums over pairs.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "tests/periodic.hpp"

namespace cambium::test {

/// Hydrogen and oxygen.
class RandomMessages {
 public:
  using Values = std::vector<double>;
  static constexpr int width = 5, radial = 4;
  static constexpr double cutoff = 3.4, deviation = 0.7;
  int stated_layers;  ///< in the file's keys
  bool stated_vectors;
  std::string precision = "float32";  ///< of the network that was trained

  explicit RandomMessages(int layers, bool vectors = true)
      : stated_layers(layers), stated_vectors(vectors), layers_(layers), vectors_(vectors) {
    const int said = (vectors ? 3 : 1) * width;
    add("embedding.weight", 2, width);
    for (int k = 0; k < layers; ++k) {
      const auto name = "interactions." + std::to_string(k) + ".";
      linear(name + "sender_in", width, width);
      linear(name + "sender_out", width, said);
      linear(name + "filter", radial, said);
      linear(name + "mix_in", (vectors ? 2 : 1) * width, width);
      linear(name + "mix_out", width, said);
      if (vectors) add(name + "vectors.weight", 2 * width, width);
    }
    linear("readout.in", width, width / 2);
    linear("readout.out", width / 2, 1);
  }

  /// `unit` of energies; `type` and `reference` of the network.
  void write(const std::string& path, const std::string& unit = "eV", const std::string& type = "message_passing",
             bool bonds = false) const {
    auto file = io::File::create(path);
    auto model = file.create_group("/model");
    model.set_attribute("format", 1);
    model.set_attribute("type", type);
    model.write("config", "layers: " + std::to_string(stated_layers) + "\nwidth: " + std::to_string(width) +
                              "\nnum_radial: " + std::to_string(radial) + "\ncutoff: " + std::to_string(cutoff) +
                              " angstrom\nprecision: " + precision +
                              "\nvector_messages: " + (stated_vectors ? "true" : "false") + "\n");
    const std::string counts = std::string(R"({\\\"bonds\\\":)") + (bonds ? "true" : "false") +
                               R"(,\\\"kinds\\\":[[1,0,0,-0.25],[8,0,0,-1.5]]})";
    model.write("state", std::string(R"({"elements":[1,8],"unit":")") + unit + R"(","forces":true,"deviation":1.5,)" +
                             R"("force_deviation":1.0,"atom_deviation":)" + std::to_string(deviation) +
                             R"(,"reference":"{\"kind\":\")" + (bonds ? "bonds" : "atoms") + R"(\",\"fit\":\")" +
                             counts + R"(\"}"})");
    for (const auto& [name, a] : arrays_)
      if (a.rows > 0)
        file.write("/weights/" + name, io::tensor_of(a.values.data(), {a.rows, a.columns}));
      else
        file.write("/weights/" + name, io::tensor_of(a.values));
  }

  /// eV. `number`: of the model's element by type.
  double energy(const PeriodicSystem& s, const std::vector<int>& number) const {
    const int n = s.particles.nlocal;
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
    std::vector<int> element(n);
    std::vector<Values> scalar(n), vector(n, Values(3 * width, 0.0));
    for (int i = 0; i < n; ++i) {
      element[i] = number[static_cast<int>(x(i, 3))];
      for (int c = 0; c < width; ++c)
        scalar[i].push_back(arrays_.at("embedding.weight").values[element[i] * width + c]);
    }
    for (int k = 0; k < layers_; ++k) layer("interactions." + std::to_string(k) + ".", s, x, scalar, vector);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
      const auto last = apply("readout.out", silu(apply("readout.in", scalar[i])));
      sum += (element[i] == 0 ? -0.25 : -1.5) + deviation * last[0];
    }
    return sum;
  }

 private:
  struct Array {
    std::int64_t rows = 0, columns = 0;  ///< rows: 0 of biases
    Values values;
  };

  void add(const std::string& name, int rows, int columns) {
    Array a{rows, columns, {}};
    const double size = 0.9 / std::sqrt(std::max(columns, 1));
    for (int i = 0; i < std::max(rows, 1) * columns; ++i)
      a.values.push_back(size * (2.0 * Random4(7, Stream::external, arrays_.size(), i).uniform(0) - 1.0));
    arrays_[name] = a;
  }
  void linear(const std::string& name, int in, int out) {
    add(name + ".weight", out, in);
    add(name + ".bias", 0, out);
  }

  Values apply(const std::string& name, const Values& in) const {
    const auto& weight = arrays_.at(name + ".weight");
    const auto bias = arrays_.find(name + ".bias");
    Values out;
    for (int o = 0; o < weight.rows; ++o) {
      out.push_back(bias == arrays_.end() ? 0.0 : bias->second.values[o]);
      for (int i = 0; i < weight.columns; ++i) out.back() += weight.values[o * weight.columns + i] * in[i];
    }
    return out;
  }
  static Values silu(Values v) {
    for (double& x : v) x /= 1.0 + std::exp(-x);
    return v;
  }

  template <class X>
  void layer(const std::string& name, const PeriodicSystem& s, const X& x, std::vector<Values>& scalar,
             std::vector<Values>& vector) const {
    const int n = s.particles.nlocal;
    auto scalars = scalar, vectors = vector;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < s.particles.total(); ++j) {
        const int home = j < n ? j : s.owner[j - n];
        const double d[3] = {x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2)};
        const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), t = r / cutoff;
        if (i == j || r >= cutoff) continue;
        const double cut = 1.0 - 10.0 * t * t * t + 15.0 * t * t * t * t - 6.0 * t * t * t * t * t;
        Values waves;
        for (int m = 1; m <= radial; ++m) waves.push_back(std::sin(m * M_PI * t) / r * cut);
        const auto filter = apply(name + "filter", waves);
        const auto said = apply(name + "sender_out", silu(apply(name + "sender_in", scalar[home])));
        for (int c = 0; c < width; ++c) {
          const auto part = [&](int p) { return said[p * width + c] * filter[p * width + c] * cut; };
          scalars[i][c] += part(0);
          for (int a = 0; vectors_ && a < 3; ++a)
            vectors[i][a * width + c] += part(1) * d[a] / r + part(2) * vector[home][a * width + c];
        }
      }
    for (int i = 0; i < n; ++i) mix(name, scalars[i], vectors[i]);
    scalar = scalars;
    vector = vectors;
  }

  void mix(const std::string& name, Values& scalar, Values& vector) const {
    Values u[3], joined = scalar;
    if (vectors_) {
      for (int a = 0; a < 3; ++a)
        u[a] = apply(name + "vectors", Values(vector.begin() + a * width, vector.begin() + (a + 1) * width));
      for (int c = width; c < 2 * width; ++c)
        joined.push_back(std::sqrt(u[0][c] * u[0][c] + u[1][c] * u[1][c] + u[2][c] * u[2][c] + 1e-8));
    }
    const auto part = apply(name + "mix_out", silu(apply(name + "mix_in", joined)));
    for (int c = 0; c < width; ++c) {
      scalar[c] += part[c];
      for (int a = 0; vectors_ && a < 3; ++a) {
        scalar[c] += part[width + c] * u[a][c] * u[a][width + c];
        vector[a * width + c] += part[2 * width + c] * u[a][c];
      }
    }
  }

  int layers_;
  bool vectors_;
  std::map<std::string, Array> arrays_;
};

}  // namespace cambium::test
