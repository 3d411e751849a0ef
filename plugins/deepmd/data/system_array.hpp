#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::deepmd {

/// An array of a system, whose values in row-major order are those of frames, of equally many each, of which some are
/// read. The number of frames is not known to the array, as it may be flattened.
class SystemArray {
 public:
  virtual ~SystemArray() = default;
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t elements() const { return elements_; }
  /// Values of the frames [first, first + count) of `frames`.
  virtual std::vector<double> read(std::int64_t frames, std::int64_t first, std::int64_t count) const = 0;
  /// Frames of a storage chunk, which is read as a whole; 1 if frames are stored one after the other.
  virtual std::int64_t chunk_frames(std::int64_t frames) const = 0;
  /// Bytes that such a read takes from storage.
  std::int64_t stored_bytes(std::int64_t frames, std::int64_t first, std::int64_t count) const;

 protected:
  SystemArray(std::vector<std::int64_t> shape, std::int64_t stored_bytes);

 private:
  std::vector<std::int64_t> shape_;
  std::int64_t elements_ = 1, stored_bytes_ = 0;
};

/// A `.npy` file. In Fortran order the values of a frame are scattered: every read takes the whole file.
std::unique_ptr<SystemArray> npy_array(const std::string& path);
/// A dataset of an HDF5 file, of at most 6 dimensions; those of more are read as a whole.
std::unique_ptr<SystemArray> hdf5_array(io::Dataset dataset);

}  // namespace cambium::deepmd
