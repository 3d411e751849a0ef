#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::cosmo {

/// Cosmological parameter that varies from box to box, and the interval that is mapped to -1 .. 1 in targets.
struct Varied {
  std::string name;  ///< omega_m, omega_b, h, n_s or sigma_8
  double low = 0.0, high = 1.0;
};

/// Boxes of many cosmologies:
///   /counts      [box][x][y][z] particles of each cell, single precision, a chunk for each box
///   /target      [box][varied] -1 to 1 over the interval
///   /parameters  [box][varied] as they are
///   /power       [box][bin], (Mpc/h)^3; /k [bin], h/Mpc
/// Root attributes: varied (names), low, high, box, particles, done (number of boxes written).
class BoxFile {
 public:
  struct Shape {
    std::int64_t boxes = 0, cells = 0, bins = 0;
  };
  /// Creates the file; on rank 0 only.
  static BoxFile create(const std::string& path, const Shape& shape, const std::vector<Varied>& varied);
  /// Opens the file for reading, or to continue it (`append`). InputError if it is no such file.
  explicit BoxFile(const std::string& path, bool append = false);

  const Shape& shape() const { return shape_; }
  const std::vector<Varied>& varied() const { return varied_; }
  std::int64_t done() const { return file_.attribute<std::int64_t>("done"); }
  io::File& file() { return file_; }

  /// One box; `parameters` in the order of varied().
  void write(std::int64_t box, std::span<const float> counts, std::span<const double> parameters,
             std::span<const double> power);
  void set_done(std::int64_t boxes);  ///< also flushes the file to the operating system
  /// Rows first .. last - 1 of `target`, `power`, one after another.
  std::vector<double> rows(const std::string& name, std::int64_t first, std::int64_t last) const;
  /// Centres of the bins, h/Mpc.
  std::vector<double> wave_numbers() const;
  /// The cells of a box.
  std::vector<double> counts(std::int64_t box) const;

 private:
  BoxFile(io::File file, Shape shape, std::vector<Varied> varied)
      : file_(std::move(file)), shape_(shape), varied_(std::move(varied)) {}
  void put(const char* name, std::int64_t row, const TensorRef& values);

  io::File file_;
  Shape shape_;
  std::vector<Varied> varied_;
};

}  // namespace cambium::cosmo
