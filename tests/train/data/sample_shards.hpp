#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"
#include "core/train/data/hdf5_dataset.hpp"

namespace cambium::train {

/// What a test needs of the world.
struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing, nullptr, 1, ".", "", "", nullptr, false, false};
};

/// A shard with "x" (rows, width) float64 = 1000 * sample + column and "label" (rows) int32 = sample, numbered from
/// `first`.
struct ShardSpec {
  std::int64_t first = 0, rows = 10, width = 3;
  std::int64_t chunk = 0;  ///< samples per chunk of x; 0: in one piece
  std::string unit = "eV";
};

inline void write_shard(const std::string& path, const ShardSpec& spec) {
  auto file = io::File::create(path);
  std::vector<double> x;
  std::vector<std::int32_t> label;
  for (std::int64_t i = spec.first; i < spec.first + spec.rows; ++i) {
    for (std::int64_t k = 0; k < spec.width; ++k) x.push_back(1000.0 * static_cast<double>(i) + static_cast<double>(k));
    label.push_back(static_cast<std::int32_t>(i));
  }
  const std::vector<std::int64_t> shape{spec.rows, spec.width}, start{0, 0}, chunk{spec.chunk, spec.width};
  auto set = file.allocate("x", DType::f64, shape, spec.chunk ? chunk : std::vector<std::int64_t>{});
  set.write_block(start, io::tensor_of(x.data(), {spec.rows, spec.width}));
  set.set_attribute("unit", spec.unit);
  file.write("label", label);
  file.close();
}

/// Nothing stays in memory unless `cache` MiB do.
inline Hdf5Dataset::Params shard_params(std::vector<std::string> files, double cache = 0.0) {
  return {std::move(files), {{"x", "", {}}, {"label", "", {}}}, {}, false, cache};
}

inline double x_of(const Sample& sample, int column) {
  return static_cast<const double*>(sample.fields.at("x").data)[column];
}

}  // namespace cambium::train
