#include "plugins/pretrain/datasets/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/io/cf/decoding.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/pretrain/archive/streams.hpp"

namespace cambium::pretrain {

void MadeUpImages::describe(deck::Describe<MadeUpImages>& d) {
  d("samples", &MadeUpImages::samples, "number of images").at_least(4).def(1000);
  d("size", &MadeUpImages::size, "pixels along both axes").range(8, 256).def(16);
  d("classes", &MadeUpImages::classes, "number of patterns (classes)").range(2, 100).def(4);
  d("noise", &MadeUpImages::noise, "standard deviation of the noise added to every pixel").non_negative().def(0.1);
  d("seed", &MadeUpImages::seed, "seed of all random choices except the patterns").at_least(0).def(1);
}

void Images::Params::describe(deck::Describe<Params>& d) {
  d("file", &Params::file, "HDF5 file of images").def("").example("digits.h5");
  d("images", &Params::images, "array of the file, (samples, rows, columns), perhaps with an axis of one channel")
      .def("images");
  d("labels", &Params::labels, "array of the file, (samples); none: \"\"").def("labels");
  d("synthetic", &Params::made_up, "patterns of spots, instead of a file").formerly("made_up");
  d("split_halves", &Params::halves,
    "halves of each image as a positive pair: one half is the sample, the other its positive")
      .options({{"none", Halves::none}, {"top_bottom", Halves::top_bottom}, {"left_right", Halves::left_right}})
      .formerly("halves")
      .def(Halves::none);
  d("range", &Params::range, "index range of the samples: first, one past the last").example("[0, 7000]");
  d.check([](const Params& p) { return p.file.empty() == !p.made_up ? "give one of: file, synthetic" : ""; });
}

struct Images::Pictures {
  std::int64_t count = 0, rows = 0, columns = 0;
  std::vector<float> values;
  std::vector<std::int64_t> labels;
};

namespace {

/// Spots of a class, displaced by the random numbers of the sample.
void draw(const MadeUpImages& keys, std::int64_t sample, std::int64_t label, std::vector<float>& out) {
  const auto id = static_cast<std::uint64_t>(sample), seed = static_cast<std::uint64_t>(keys.seed);
  const Random4 own(seed, made_up_stream, id, 1);
  const double angle = 0.5 * own.normal(0), shift = 0.08, dx = shift * own.normal(2), dy = shift * own.normal(3);
  const auto n = keys.size;
  std::array<std::array<double, 2>, 5> spots;
  for (std::uint64_t spot = 0; spot < spots.size(); ++spot) {
    const Random4 place(7, made_up_stream, static_cast<std::uint64_t>(label), 100 + spot);
    const double px = 0.8 * (place.uniform(0) - 0.5), py = 0.8 * (place.uniform(1) - 0.5);
    spots[spot] = {std::cos(angle) * px - std::sin(angle) * py, std::sin(angle) * px + std::cos(angle) * py};
  }
  Random4 noise(seed, noise_stream, id, 0);  // four values at a time
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double y = (static_cast<double>(i) + 0.5) / static_cast<double>(n) - 0.5 - dy;
      const double x = (static_cast<double>(j) + 0.5) / static_cast<double>(n) - 0.5 - dx;
      double value = 0.0;
      for (const auto& [qx, qy] : spots) {
        const double distance = (x - qx) * (x - qx) + (y - qy) * (y - qy);
        if (distance < 0.5) value += std::exp(-60.0 * distance);  // beyond: below 1e-13
      }
      const std::int64_t pixel = i * n + j;
      if (pixel % 4 == 0) noise = Random4(seed, noise_stream, id, static_cast<std::uint64_t>(pixel / 4));
      out.push_back(static_cast<float>(value + keys.noise * noise.normal(static_cast<int>(pixel % 4))));
    }
}

/// Samples, rows and columns of an array; an axis of one channel, before or behind them, is left out. InputError for
/// other shapes.
std::array<std::int64_t, 3> plain_shape(const std::vector<std::int64_t>& shape, const Images::Params& params) {
  if (shape.size() == 4 && shape[1] == 1) return {shape[0], shape[2], shape[3]};
  if (shape.size() == 4 && shape[3] == 1) return {shape[0], shape[1], shape[2]};
  if (shape.size() != 3)
    throw InputError(fmt::format("'{}': {} has {} axes; samples, rows and columns are read", params.file, params.images,
                                 shape.size()));
  if (constexpr std::int64_t most_channels = 4; shape[2] <= most_channels && shape[1] > 2 * most_channels)
    throw InputError(
        fmt::format("'{}': {} has the shape ({}): images of {} columns look like one image with its channels last; "
                    "store (samples, rows, columns), one channel of each image",
                    params.file, params.images, fmt::join(shape, ", "), shape[2]));
  return {shape[0], shape[1], shape[2]};
}

}  // namespace

Images::Pictures Images::pictures() const {
  Pictures out;
  if (params_.made_up) {
    const auto& keys = *params_.made_up;
    out = {keys.samples, keys.size, keys.size, {}, {}};
    for (std::int64_t k = 0; k < keys.samples; ++k) {
      out.labels.push_back(k % keys.classes);
      draw(keys, k, out.labels.back(), out.values);
    }
    return out;
  }
  const auto file = io::File::open(params_.file);
  const auto set = file.dataset(params_.images);
  const auto shape = plain_shape(set.shape(), params_);
  const bool marked = io::cf::has_marks(set);
  out = {shape[0], shape[1], shape[2], marked ? std::vector<float>{} : set.read<std::vector<float>>(), {}};
  if (marked)
    for (const double x : io::cf::decoded(set)) out.values.push_back(static_cast<float>(x));
  const bool whole_numbers = !marked && set.dtype() != DType::f32 && set.dtype() != DType::f64;
  const auto cells = out.rows * out.columns;
  for (std::size_t k = 0; k < out.values.size(); ++k) {
    if (!std::isfinite(out.values[k]))
      throw InputError(fmt::format("'{}': {} is not finite in sample {}; leave it out with 'range'", params_.file,
                                   params_.images, static_cast<std::int64_t>(k) / cells));
    if (whole_numbers) out.values[k] /= 255.0f;
  }
  if (!params_.labels.empty()) out.labels = file.read<std::vector<std::int64_t>>(params_.labels);
  if (!out.labels.empty() && std::ssize(out.labels) != out.count)
    throw InputError(fmt::format("'{}' has {} labels for {} images", params_.file, out.labels.size(), out.count));
  return out;
}

std::vector<train::FieldInfo> Images::fields() const {
  std::vector<train::FieldInfo> out{{"field", "", {1, rows_, columns_}, DType::f32}};
  if (params_.halves != Halves::none) out.push_back({"partner", "", {1, rows_, columns_}, DType::f32});
  out.push_back({"periodic", "", {2}, DType::i64});
  if (params_.made_up || !params_.labels.empty()) out.push_back({"label", "", {}, DType::i64});
  return out;
}

void Images::open(Context& context) {
  samples_.clear();
  Pictures all;
  io::on_every_rank(context.comm, [&] { all = pictures(); });
  const bool down = params_.halves == Halves::top_bottom, across = params_.halves == Halves::left_right;
  rows_ = down ? all.rows / 2 : all.rows;
  columns_ = across ? all.columns / 2 : all.columns;
  const auto range = params_.range.value_or(std::array<std::int64_t, 2>{0, all.count});
  if (range[0] < 0 || range[1] > all.count || range[0] >= range[1])
    throw KeyError("images.range", "range",
                   fmt::format("range is [{}, {}], but there are {} images", range[0], range[1], all.count));
  struct Held {
    std::vector<float> field, partner;
    std::vector<std::int64_t> periodic{0, 0};
    std::int64_t label = -1;
  };
  const auto cut = [&](std::int64_t k, std::int64_t row, std::int64_t column) {
    std::vector<float> out;
    for (std::int64_t i = row; i < row + rows_; ++i)
      for (std::int64_t j = column; j < column + columns_; ++j)
        out.push_back(all.values[(k * all.rows + i) * all.columns + j]);
    return out;
  };
  for (std::int64_t k = range[0]; k < range[1]; ++k) {
    auto held = std::make_shared<Held>();
    held->field = cut(k, 0, 0);
    if (down || across) held->partner = cut(k, down ? all.rows - rows_ : 0, across ? all.columns - columns_ : 0);
    if (!all.labels.empty()) held->label = all.labels[k];
    auto sample = std::make_shared<train::Sample>();
    sample->id = k - range[0];
    sample->fields.emplace("field", io::tensor_of(std::as_const(held->field).data(), {1, rows_, columns_}));
    if (down || across)
      sample->fields.emplace("partner", io::tensor_of(std::as_const(held->partner).data(), {1, rows_, columns_}));
    sample->fields.emplace("periodic", io::tensor_of(std::as_const(held->periodic)));
    if (!all.labels.empty()) sample->fields.emplace("label", io::tensor_of(&held->label, {}));
    sample->bytes = static_cast<std::int64_t>((held->field.size() + held->partner.size()) * sizeof(float));
    sample->storage = held;
    samples_.push_back(std::move(sample));
  }
  context.log.info(fmt::format("{} images of {} x {} pixels{}", samples_.size(), rows_, columns_,
                               down || across ? ", halves with their other halves" : ""));
}

std::vector<train::SamplePtr> Images::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) out.push_back(samples_.at(id));
  return out;
}

}  // namespace cambium::pretrain
