#pragma once
// What the tests of the Deep Potential share: random water, comparisons, models from the oracle script.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/parallel/random.hpp"
#include "plugins/deepmd/engine/evaluate.hpp"
#include "plugins/deepmd/model/random_model.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

namespace cambium::deepmd::test {

using Position = std::array<double, 3>;

struct Configuration {
  std::vector<Position> x;
  std::vector<int> types;
  std::optional<Box> box;
};

/// n^3 water-like molecules (O H H) on a distorted lattice of edge 3.1 Å in a slightly triclinic cell.
inline Configuration water(int n, std::uint64_t seed = 3, double edge = 3.1) {
  Configuration c;
  const double l = edge * n, rows[3][3] = {{l, 0, 0}, {0.06 * l, l, 0}, {-0.04 * l, 0.05 * l, l}};
  c.box = Box::from_vectors(rows);
  std::uint64_t id = 0;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      for (int d = 0; d < n; ++d) {
        const Random4 jitter(seed, Stream::test, id++, 0), turn(seed, Stream::test, id++, 0);
        const double s[3] = {(a + 0.1 * jitter.uniform(0)) / n, (b + 0.1 * jitter.uniform(1)) / n,
                             (d + 0.1 * jitter.uniform(2)) / n};
        Position o;
        c.box->to_cartesian(s, o.data());
        c.x.push_back(o);
        c.types.push_back(0);
        for (int h = 0; h < 2; ++h) {
          const double z = 2.0 * turn.uniform(2 * h) - 1.0, angle = 6.2831853 * turn.uniform(2 * h + 1);
          const double q = std::sqrt(1.0 - z * z);
          const double length = 0.97 + 0.05 * h;
          c.x.push_back({o[0] + length * q * std::cos(angle), o[1] + length * q * std::sin(angle), o[2] + length * z});
          c.types.push_back(1);
        }
      }
  return c;
}

/// A small model with the water example's shape.
inline RandomModel small_model(std::uint64_t seed = 1) {
  RandomModel spec;
  spec.neuron = {8, 16, 32};
  spec.axis_neuron = 6;
  spec.fitting = {24, 24};
  spec.rcut = 5.0;
  spec.seed = seed;
  return spec;
}

/// The same with the descriptor se_e3.
inline RandomModel small_angles(std::uint64_t seed = 1) {
  RandomModel spec = small_model(seed);
  spec.descriptor = DeepPotentialModel::Descriptor::se_e3;
  spec.neuron = {5, 10, 10};
  spec.rcut = 4.0;
  spec.angular_deviation = 0.3;
  return spec;
}

/// The same with one embedding network for all species.
inline RandomModel small_species(std::uint64_t seed = 1) {
  RandomModel spec = small_model(seed);
  spec.descriptor = DeepPotentialModel::Descriptor::se_atten;
  spec.type_one_side = false;
  spec.type_embedding = {5};
  return spec;
}

/// se_e2_a with type embedding, a mean other than zero and slots by species.
inline RandomModel small_types(std::uint64_t seed = 1) {
  RandomModel spec = small_model(seed);
  spec.with_types = true;
  spec.type_embedding = {5};
  return spec;
}

/// se_atten with attention, and with more neighbours than slots.
inline RandomModel small_attention(std::uint64_t seed = 1) {
  RandomModel spec = small_species(seed);
  spec.attn_layer = 2;
  spec.rcut = 3.2;
  spec.sel = {6, 4};
  return spec;
}

/// Angles, distances with angles, and distances, each with a cut-off of its own.
inline RandomModel small_hybrid(std::uint64_t seed = 1) {
  RandomModel spec = small_model(seed);
  spec.descriptor = DeepPotentialModel::Descriptor::hybrid;
  spec.parts = {small_angles(seed + 1), small_model(seed + 2), small_model(seed + 3)};
  spec.parts[0].rcut = 3.5;
  spec.parts[1].neuron = {7, 14};
  spec.parts[1].type_one_side = false;
  spec.parts[2].descriptor = DeepPotentialModel::Descriptor::se_e2_r;
  spec.parts[2].neuron = {9};
  spec.parts[2].rcut = 4.5;
  return spec;
}

/// Two descriptors with type embeddings, one of them made by a network, around one without.
inline RandomModel hybrid_of_species(std::uint64_t seed = 1) {
  RandomModel spec = small_model(seed);
  spec.descriptor = DeepPotentialModel::Descriptor::hybrid;
  spec.parts = {small_species(seed + 1), small_model(seed + 2), small_species(seed + 3)};
  spec.parts[0].type_embedding = {2, 4, 4};
  spec.parts[0].type_one_side = true;
  spec.parts[1].neuron = {7, 14};
  spec.parts[2].concat_output_tebd = false;
  spec.parts[2].rcut = 4.5;
  return spec;
}

template <class V>
std::vector<double> flat(const V& rows) {
  std::vector<double> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

/// Largest difference over the largest expected value.
inline double relative_error(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0.0, scale = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    worst = std::max(worst, std::abs(found[k] - expected[k]));
    scale = std::max(scale, std::abs(expected[k]));
  }
  return scale > 0.0 ? worst / scale : worst;
}

inline Evaluation evaluate(Engine& engine, const Configuration& c) {
  return cambium::deepmd::evaluate(engine, c.x, c.types, c.box);
}

/// A Python with numpy and h5py, or "" (said on stdout) when there is none.
inline std::string oracle_python() {
  for (const char* python : {"/usr/bin/python3", "python3"})
    if (std::system((std::string(python) + " -c 'import numpy, h5py, yaml' 2>/dev/null").c_str()) == 0) return python;
  std::cout << "SKIPPED: oracle models: no python3 with numpy, h5py and yaml\n";
  return {};
}

inline bool run_oracle(const std::string& arguments) {
  const std::string python = oracle_python();
  return !python.empty() &&
         std::system(
             (python + " " CAMBIUM_SOURCE_DIR "/tests/plugins/deepmd/oracle/deep_potential.py " + arguments).c_str()) ==
             0;
}

}  // namespace cambium::deepmd::test
