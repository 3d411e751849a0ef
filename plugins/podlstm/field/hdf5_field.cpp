// Fields in HDF5 and NetCDF-4 files.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/podlstm/field/field_file.hpp"

namespace cambium::podlstm {

namespace {

std::string text_attribute(const io::Object& object, const std::string& name) {
  try {
    return object.has_attribute(name) ? object.attribute<std::string>(name) : "";
  } catch (const InputError&) {
    return "";  // a number where text is usual
  }
}

/// The path of a coordinate: beside the array or at the top of the file; empty when it is at neither place.
std::string beside(const io::File& file, const std::string& array, const std::string& name) {
  const auto slash = array.rfind('/');
  const std::string sibling = slash == std::string::npos ? name : array.substr(0, slash + 1) + name;
  if (file.exists(sibling)) return sibling;
  return file.exists(name) ? name : "";
}

class Hdf5Field : public FieldFile {
 public:
  Hdf5Field(const std::string& path, const FieldNames& names) : file_(io::File::open(path)), data_(array_of(names)) {
    shape_ = data_.shape();
    if (shape_.size() < 2)
      throw InputError(fmt::format("the array '{}' of '{}' has {} dimension(s), expected (time, ...) with at least two",
                                   names.array, path, shape_.size()));
    unit_ = text_attribute(data_, "units");
    if (unit_ == "1") unit_.clear();
    for (const char* key : {"_FillValue", "missing_value"})
      if (data_.has_attribute(key))
        for (double x : data_.attribute<std::vector<double>>(key)) packing_.missing.push_back(x);
    if (data_.has_attribute("scale_factor"))
      packing_.scale = data_.attribute<std::vector<double>>("scale_factor").at(0);
    if (data_.has_attribute("add_offset")) packing_.offset = data_.attribute<std::vector<double>>("add_offset").at(0);
    read_times(path, names);
    read_axes(names);
  }

  std::vector<std::int64_t> shape() const override { return shape_; }
  const std::string& unit() const override { return unit_; }
  const std::vector<double>& times() const override { return times_; }
  const std::string& time_unit() const override { return time_unit_; }
  const std::vector<Axis>& axes() const override { return axes_; }

  void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, double* out) const override {
    TensorRef t = io::tensor_of(out, {});
    t.is_const = false;
    std::int64_t total = 1;
    for (std::int64_t n : count) t.shape[t.rank++] = n, total *= n;
    for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
    data_.read_block(start, t);
    packing_.unpack({out, static_cast<std::size_t>(total)});
  }

 private:
  io::Dataset array_of(const FieldNames& names) const {
    if (!file_.exists(names.array))
      throw InputError(
          fmt::format("'{}' has no array '{}'{}", file_.file(), names.array, suggestion(names.array, file_.list())));
    return file_.dataset(names.array);
  }

  void read_times(const std::string& path, const FieldNames& names) {
    const std::string place = beside(file_, names.array, names.time);
    if (place.empty())
      throw InputError(fmt::format("'{}' has no array '{}' beside '{}': name the times of its snapshots (time: NAME)",
                                   path, names.time, names.array));
    times_ = file_.read<std::vector<double>>(place);
    time_unit_ = text_attribute(file_.dataset(place), "units");
    if (std::ssize(times_) != shape_[0])
      throw InputError(fmt::format("'{}' has {} times in '{}' but {} snapshots in '{}'", path, times_.size(), place,
                                   shape_[0], names.array));
  }

  void read_axes(const FieldNames& names) {
    const std::vector<std::vector<std::string>> usual = {{"lat", "latitude"}, {"lon", "longitude"}};
    for (std::size_t k = 1; k < shape_.size(); ++k) {
      std::vector<std::string> candidates;
      if (!names.axes.empty())
        candidates = {k <= names.axes.size() ? names.axes[k - 1] : ""};
      else if (k + 2 >= shape_.size() && shape_.size() > 2)
        candidates = usual[k + 2 - shape_.size()];
      axes_.push_back(axis(names, k, candidates));
    }
  }

  Axis axis(const FieldNames& names, std::size_t k, const std::vector<std::string>& candidates) const {
    for (const auto& name : candidates) {
      const std::string place = name.empty() ? "" : beside(file_, names.array, name);
      if (place.empty()) continue;
      const auto values = file_.read<std::vector<double>>(place);
      if (std::ssize(values) == shape_[k])
        return {place.substr(place.rfind('/') + 1), text_attribute(file_.dataset(place), "units"), values};
    }
    if (!names.axes.empty())
      throw InputError(fmt::format("'{}' has no coordinate '{}' of {} values for axis {} of '{}'", file_.file(),
                                   candidates[0], shape_[k], k, names.array));
    Axis plain{shape_.size() == 2 ? "cell" : fmt::format("axis{}", k), "1", {}};
    for (std::int64_t i = 0; i < shape_[k]; ++i) plain.values.push_back(static_cast<double>(i));
    return plain;
  }

  io::File file_;
  io::Dataset data_;
  std::vector<std::int64_t> shape_;
  std::string unit_, time_unit_;
  std::vector<double> times_;
  std::vector<Axis> axes_;
  Packing packing_;
};

}  // namespace

std::unique_ptr<FieldFile> open_hdf5_field(const std::string& path, const FieldNames& names) {
  return std::make_unique<Hdf5Field>(path, names);
}

}  // namespace cambium::podlstm
