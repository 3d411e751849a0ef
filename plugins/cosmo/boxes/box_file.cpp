#include "plugins/cosmo/boxes/box_file.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/io/hdf5/labels.hpp"

namespace cambium::cosmo {

BoxFile BoxFile::create(const std::string& path, const Shape& shape, const std::vector<Varied>& varied) {
  io::File file = io::File::create(path);
  io::follow_cf(file);
  const std::int64_t n = shape.cells, boxes = shape.boxes, many = std::ssize(varied);
  std::vector<std::string> names;
  std::vector<double> low, high;
  for (const auto& v : varied) {
    names.push_back(v.name);
    low.push_back(v.low);
    high.push_back(v.high);
  }
  file.set_attribute("varied", names);
  file.set_attribute("low", low);
  file.set_attribute("high", high);
  file.set_attribute("done", std::int64_t{0});
  for (const auto& [name, length] : {std::pair{"box", boxes}, {"varied_parameter", many}, {"x", n}, {"y", n}, {"z", n}})
    io::write_dimension(file, name, length);
  io::write_dimension(file, "bin", shape.bins);
  const auto room = [&](const char* name, DType type, std::vector<std::int64_t> extents,
                        std::vector<std::int64_t> chunk, const char* unit,
                        const char* doc) { io::labelled(file.allocate(name, type, extents, chunk), unit, doc); };
  room("counts", DType::f32, {boxes, n, n, n}, {1, n, n, n}, "", "particles in the cell, after mass assignment");
  file.attach_scales("counts", {"box", "x", "y", "z"});
  room("target", DType::f64, {boxes, many}, {}, "", "parameters, -1 to 1 over their intervals");
  room("parameters", DType::f64, {boxes, many}, {}, "", "of the cosmology");
  for (const char* name : {"target", "parameters"}) file.attach_scales(name, {"box", "varied_parameter"});
  room("power", DType::f64, {boxes, shape.bins}, {}, "(Mpc/h)^3", "power of the particles, shot noise included");
  file.attach_scales("power", {"box", "bin"});
  return {std::move(file), shape, varied};
}

BoxFile::BoxFile(const std::string& path, bool append) : file_(append ? io::File::append(path) : io::File::open(path)) {
  for (const char* name : {"counts", "target", "parameters", "power"})
    if (!file_.exists(name) || !file_.has_attribute("varied"))
      throw InputError(
          fmt::format("'{}' holds no boxes of many cosmologies; give the file of a stage structure_boxes", path));
  const auto counts = file_.dataset("counts").shape(), power = file_.dataset("power").shape();
  shape_ = {counts.at(0), counts.at(1), power.at(1)};
  const auto low = file_.attribute<std::vector<double>>("low"), high = file_.attribute<std::vector<double>>("high");
  const auto names = file_.attribute<std::vector<std::string>>("varied");
  for (std::size_t k = 0; k < names.size(); ++k) varied_.push_back({names[k], low.at(k), high.at(k)});
}

void BoxFile::put(const char* name, std::int64_t row, const TensorRef& values) {
  std::vector<std::int64_t> start(values.rank, 0);
  start[0] = row;
  file_.dataset(name).write_block(start, values);
}

void BoxFile::write(std::int64_t box, std::span<const float> counts, std::span<const double> parameters,
                    std::span<const double> power) {
  const std::int64_t n = shape_.cells, many = std::ssize(varied_);
  std::vector<double> target;
  for (std::size_t k = 0; k < varied_.size(); ++k)
    target.push_back(2.0 * (parameters[k] - varied_[k].low) / (varied_[k].high - varied_[k].low) - 1.0);
  put("counts", box, io::tensor_of(counts.data(), {1, n, n, n}));
  put("target", box, io::tensor_of(target.data(), {1, many}));
  put("parameters", box, io::tensor_of(parameters.data(), {1, many}));
  put("power", box, io::tensor_of(power.data(), {1, shape_.bins}));
}

void BoxFile::set_done(std::int64_t boxes) {
  file_.set_attribute("done", boxes);
  file_.flush();
}

std::vector<double> BoxFile::rows(const std::string& name, std::int64_t first, std::int64_t last) const {
  const auto set = file_.dataset(name);
  const std::int64_t width = set.shape().at(1), start[2] = {first, 0};
  std::vector<double> out((last - first) * width);
  TensorRef to = io::tensor_of(out.data(), {last - first, width});
  to.is_const = false;
  set.read_block(start, to);
  return out;
}

std::vector<double> BoxFile::wave_numbers() const { return file_.dataset("k").read<std::vector<double>>(); }

std::vector<double> BoxFile::counts(std::int64_t box) const {
  const std::int64_t n = shape_.cells, start[4] = {box, 0, 0, 0};
  std::vector<double> out(n * n * n);
  TensorRef to = io::tensor_of(out.data(), {1, n, n, n});
  to.is_const = false;
  file_.dataset("counts").read_block(start, to);
  return out;
}

}  // namespace cambium::cosmo
