#include "plugins/deepmd/data/system_array.hpp"

#include <algorithm>
#include <optional>

#include "core/io/npy.hpp"

namespace cambium::deepmd {

SystemArray::SystemArray(std::vector<std::int64_t> shape, std::int64_t stored_bytes)
    : shape_(std::move(shape)), stored_bytes_(stored_bytes) {
  for (const auto extent : shape_) elements_ *= extent;
}

std::int64_t SystemArray::stored_bytes(std::int64_t frames, std::int64_t first, std::int64_t count) const {
  if (count == 0 || frames == 0) return 0;
  const std::int64_t chunk = chunk_frames(frames), chunks = (frames + chunk - 1) / chunk;
  const std::int64_t touched = (first + count - 1) / chunk - first / chunk + 1;
  return touched == chunks ? stored_bytes_ : stored_bytes_ / chunks * touched;
}

namespace {

/// The part of values that are there as a whole.
std::vector<double> part_of(std::vector<double> values, std::int64_t frames, std::int64_t first, std::int64_t count) {
  if (count == frames) return values;
  const auto width = std::ssize(values) / frames;
  return {values.begin() + first * width, values.begin() + (first + count) * width};
}

class NpyArrayFile : public SystemArray {
 public:
  NpyArrayFile(const std::string& path, io::NpyFile file)
      : SystemArray(file.shape(), file.bytes()), path_(path), file_(std::move(file)) {}
  std::int64_t chunk_frames(std::int64_t frames) const override {
    return file_.row_major() ? 1 : std::max<std::int64_t>(frames, 1);
  }
  std::vector<double> read(std::int64_t frames, std::int64_t first, std::int64_t count) const override {
    if (!file_.row_major()) return part_of(io::read_npy(path_).values, frames, first, count);
    const std::int64_t width = frames > 0 ? elements() / frames : 0;
    return file_.read(first * width, count * width);
  }

 private:
  std::string path_;
  io::NpyFile file_;
};

class Hdf5Array : public SystemArray {
 public:
  explicit Hdf5Array(io::Dataset dataset)
      : SystemArray(dataset.shape(), dataset.stored_bytes()), dataset_(std::move(dataset)), chunk_(dataset_.chunk()) {
    for (std::size_t k = 0; k < shape().size() && !axis_; ++k)
      if (shape()[k] != 1) axis_ = k;
  }

  std::int64_t chunk_frames(std::int64_t frames) const override {
    const auto all = std::max<std::int64_t>(frames, 1);
    if (whole(frames)) return all;
    if (chunk_.empty()) return 1;
    // Along a flattened axis a chunk need not end with a frame: such frames are read with both chunks.
    const std::int64_t values = shape()[*axis_] / frames;
    return std::clamp<std::int64_t>(chunk_[*axis_] / values, 1, all);
  }

  std::vector<double> read(std::int64_t frames, std::int64_t first, std::int64_t count) const override {
    if (whole(frames) || count == frames)
      return part_of(dataset_.read<std::vector<double>>(), std::max<std::int64_t>(frames, 1), first, count);
    std::vector<double> out(static_cast<std::size_t>(elements() / frames * count));
    const std::int64_t values = shape()[*axis_] / frames;  // of a frame along the axis
    std::vector<std::int64_t> start(shape().size(), 0);
    start[*axis_] = first * values;
    TensorRef block;
    block.data = out.data();
    block.dtype = DType::f64;
    for (const auto extent : shape()) block.shape[block.rank++] = extent;
    block.shape[*axis_] = count * values;
    for (std::int64_t stride = 1, k = block.rank - 1; k >= 0; stride *= block.shape[k--]) block.stride[k] = stride;
    dataset_.read_block(start, block);
    return out;
  }

 private:
  /// True if there are no frames to be told apart along the first axis that is longer than 1.
  bool whole(std::int64_t frames) const {
    return frames <= 1 || shape().size() > 6 || !axis_ || shape()[*axis_] == 0 || shape()[*axis_] % frames != 0;
  }

  io::Dataset dataset_;
  std::vector<std::int64_t> chunk_;
  std::optional<std::size_t> axis_;  ///< of the frames, alone or with all other axes
};

}  // namespace

std::unique_ptr<SystemArray> npy_array(const std::string& path) {
  return std::make_unique<NpyArrayFile>(path, io::NpyFile(path));
}

std::unique_ptr<SystemArray> hdf5_array(io::Dataset dataset) { return std::make_unique<Hdf5Array>(std::move(dataset)); }

}  // namespace cambium::deepmd
