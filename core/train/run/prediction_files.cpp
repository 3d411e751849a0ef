#include "core/train/run/prediction_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "core/io/csv.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/provenance.hpp"

namespace cambium::train {

namespace {

/// Shape without trailing extents of 1.
std::vector<std::int64_t> stored_shape(const FieldInfo& field) {
  auto shape = field.shape;
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

bool whole(const FieldInfo& field) { return field.dtype != DType::f64 && field.dtype != DType::f32; }

/// Name of its array: a slash would make a group of what precedes it.
std::string array_name(const FieldInfo& field) {
  auto out = field.name;
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

/// Text of a value of a field with categories; integers are given by their bits.
const std::string& category_of(const FieldInfo& field, double value) {
  const auto index = whole(field) ? std::bit_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return field.categories.at(static_cast<std::size_t>(index));
}

std::string heading(const std::string& name, const std::string& unit) {
  return io::csv_cell(unit.empty() ? name : fmt::format("{} [{}]", name, unit));
}

/// Names of the columns of an output: "output", or "output_0", "output_1"; of several axes "output_0_2".
std::vector<std::string> columns_of(const FieldInfo& output) {
  std::vector<std::string> out{output.name};
  for (const auto extent : stored_shape(output)) {
    std::vector<std::string> longer;
    for (const auto& name : out)
      for (std::int64_t k = 0; k < extent; ++k) longer.push_back(fmt::format("{}_{}", name, k));
    out = std::move(longer);
  }
  return out;
}

void label(io::Dataset array, const Coordinate& c) {
  io::labelled(array, c.units, c.long_name.empty() ? c.name : c.long_name);
  if (!c.calendar.empty()) array.set_attribute("calendar", c.calendar);
}

}  // namespace

std::int64_t numbers_in(const FieldInfo& field) {
  return std::accumulate(field.shape.begin(), field.shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t PredictionFiles::numbers(std::span<const FieldInfo> outputs, std::span<const FieldInfo> kept) {
  std::size_t out = kept.size();
  for (const auto& output : outputs) out += static_cast<std::size_t>(numbers_in(output));
  return out;
}

PredictionFiles::PredictionFiles(Plan plan, const Context& context) : plan_(std::move(plan)), samples_("sample") {
  for (const auto& c : plan_.coordinates)
    if (c.axis == 0 && !c.beside) samples_ = c.name;
  if (!plan_.h5.empty()) begin_h5(context);
  if (!plan_.csv.empty()) begin_csv();
}

PredictionFiles::~PredictionFiles() {
  if (csv_) std::fclose(csv_);
}

void PredictionFiles::begin_h5(const Context& context) {
  h5_part_.emplace(plan_.h5);
  h5_.emplace(io::File::create(h5_part_->part(), plan_.h5));
  io::follow_cf(*h5_);
  io::write_provenance(*h5_, io::provenance_of(context));
  write_coordinates();
  std::string beside;
  for (const auto& c : plan_.coordinates)
    if (c.axis == 0 && c.beside) beside += (beside.empty() ? "" : " ") + c.name;
  texts_.resize(plan_.kept.size());
  for (const auto& field : plan_.kept) {
    const auto name = array_name(field);
    if (name.find(' ') == std::string::npos) beside += (beside.empty() ? "" : " ") + name;  // a list without blanks
    if (!field.categories.empty()) continue;                                                // written at the end
    auto array = h5_->allocate(name, whole(field) ? DType::i64 : DType::f64, std::vector{plan_.samples});
    io::labelled(array, field.unit, field.name);
    h5_->attach_scales(name, {samples_});
  }
  for (const auto& output : plan_.outputs) {
    auto shape = stored_shape(output);
    shape.insert(shape.begin(), plan_.samples);
    auto array = h5_->allocate(output.name, DType::f64, shape);
    io::labelled(array, output.unit, output.name + ", predicted");
    if (!beside.empty()) io::set_coordinates(array, beside);
    h5_->attach_scales(output.name, dimensions_of(output));
  }
}

/// Coordinates of samples; their indices if the data have none.
void PredictionFiles::write_coordinates() {
  if (samples_ == "sample") {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(plan_.samples));
    std::iota(numbers.begin(), numbers.end(), 0);
    io::labelled(h5_->write("sample", numbers), "", "index of the sample in the data set");
  }
  for (const auto& c : plan_.coordinates)
    if (c.axis == 0 && !h5_->exists(c.name)) label(h5_->write(c.name, c.values), c);
  for (const auto& c : plan_.coordinates)
    if (c.axis == 0 && c.beside) h5_->attach_scales(c.name, {samples_});
}

/// Creates the dimensions of an output and returns their names. Its last axes are those of an input if all of them have
/// equal lengths, for example latitude and longitude after channels.
std::vector<std::string> PredictionFiles::dimensions_of(const FieldInfo& output) {
  const auto shape = stored_shape(output);
  std::vector<std::string> out{samples_};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t behind = shape.size() - k;
    const Coordinate* found = nullptr;
    for (const auto& input : plan_.inputs) {
      if (input.shape.size() < behind || !std::equal(shape.end() - static_cast<std::ptrdiff_t>(behind), shape.end(),
                                                     input.shape.end() - static_cast<std::ptrdiff_t>(behind)))
        continue;
      const int axis = static_cast<int>(input.shape.size() - behind) + 1;
      for (const auto& c : plan_.coordinates)
        if (c.field == input.name && c.axis == axis && std::ssize(c.values) == shape[k]) found = &c;
    }
    if (found) {
      if (!h5_->exists(found->name)) label(h5_->write(found->name, found->values), *found);
      out.push_back(found->name);
      continue;
    }
    out.push_back(shape.size() == 1 ? output.name + "_component" : fmt::format("{}_axis_{}", output.name, k));
    io::write_dimension(*h5_, out.back(), shape[k]);
  }
  return out;
}

void PredictionFiles::begin_csv() {
  csv_part_.emplace(plan_.csv);
  csv_ = std::fopen(csv_part_->part().c_str(), "wb");
  if (!csv_) io::refuse_write(plan_.csv, std::strerror(errno));
  std::string line = "sample";
  for (const auto& c : plan_.coordinates)
    if (c.axis == 0) line += "," + heading(c.name, c.units);
  for (const auto& field : plan_.kept) line += "," + heading(field.name, field.unit);
  for (const auto& output : plan_.outputs)
    for (const auto& name : columns_of(output)) line += "," + heading(name, output.unit);
  std::fputs((line + "\n").c_str(), csv_);
}

void PredictionFiles::add(std::int64_t first, std::span<const double> rows) {
  if (h5_) add_h5(first, rows);
  if (csv_) add_csv(first, rows);
}

void PredictionFiles::add_h5(std::int64_t first, std::span<const double> rows) {
  const std::size_t width = numbers(plan_.outputs, plan_.kept), count = rows.size() / width;
  std::size_t at = 0;
  const auto write = [&](const std::string& name, std::size_t each, DType type,
                         const std::vector<std::int64_t>& shape) {
    std::vector<double> block(count * each);
    for (std::size_t s = 0; s < count; ++s) std::copy_n(&rows[s * width + at], each, &block[s * each]);
    TensorRef t;
    t.data = block.data();
    t.dtype = type;
    t.shape[t.rank++] = static_cast<std::int64_t>(count);
    for (const auto extent : shape) t.shape[t.rank++] = extent;
    for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
    std::vector<std::int64_t> start(static_cast<std::size_t>(t.rank), 0);
    start[0] = first;
    h5_->dataset(name).write_block(start, t);
    at += each;
  };
  for (const auto& output : plan_.outputs)
    write(output.name, static_cast<std::size_t>(numbers_in(output)), DType::f64, stored_shape(output));
  for (const auto& field : plan_.kept) {
    if (field.categories.empty())
      write(array_name(field), 1, whole(field) ? DType::i64 : DType::f64, {});
    else
      ++at;
  }
  add_texts(rows);
}

void PredictionFiles::add_texts(std::span<const double> rows) {
  const std::size_t kept = plan_.kept.size(), width = numbers(plan_.outputs, plan_.kept), answers = width - kept;
  for (std::size_t k = 0; k < kept; ++k)
    for (std::size_t row = 0; !plan_.kept[k].categories.empty() && row < rows.size(); row += width)
      texts_[k].push_back(category_of(plan_.kept[k], rows[row + answers + k]));
}

void PredictionFiles::write_texts() {
  for (std::size_t k = 0; k < plan_.kept.size(); ++k) {
    const auto& field = plan_.kept[k];
    if (field.categories.empty()) continue;
    io::labelled(h5_->write(array_name(field), texts_[k]), field.unit, field.name);
    h5_->attach_scales(array_name(field), {samples_});
  }
}

void PredictionFiles::add_csv(std::int64_t first, std::span<const double> rows) {
  const std::size_t kept = plan_.kept.size(), width = numbers(plan_.outputs, plan_.kept), answers = width - kept;
  std::string text;
  for (std::size_t s = 0; s * width < rows.size(); ++s) {
    const auto row = rows.subspan(s * width, width);
    text += fmt::format("{}", first + static_cast<std::int64_t>(s));
    for (const auto& c : plan_.coordinates)
      if (c.axis == 0) text += fmt::format(",{}", c.values[static_cast<std::size_t>(first) + s]);
    for (std::size_t k = 0; k < kept; ++k) {
      const auto& field = plan_.kept[k];
      const double value = row[answers + k];
      text += !field.categories.empty() ? "," + io::csv_cell(category_of(field, value))
              : whole(field)            ? fmt::format(",{}", std::bit_cast<std::int64_t>(value))
                                        : fmt::format(",{}", value);
    }
    for (std::size_t k = 0; k < answers; ++k) text += fmt::format(",{}", row[k]);
    text += '\n';
  }
  if (std::fwrite(text.data(), 1, text.size(), csv_) != text.size()) io::refuse_write(plan_.csv, std::strerror(errno));
}

void PredictionFiles::commit() {
  if (h5_) {
    write_texts();
    h5_->close();
    h5_.reset();
    io::seal(h5_part_->part(), plan_.h5);
    h5_part_->commit();
  }
  if (csv_) {
    const int failed = std::fclose(std::exchange(csv_, nullptr));
    if (failed) io::refuse_write(plan_.csv, std::strerror(errno));
    csv_part_->commit();
  }
}

}  // namespace cambium::train
