#include "plugins/pretrain/features/table.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/train/data/numbers.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"

namespace cambium::pretrain {

namespace {

/// Adds the values of one array of a sample as a row; false if the sample lacks it.
bool add_row(const train::Sample& sample, const char* name, Matrix& to) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end()) return false;
  const auto count = found->second.elements();
  if (to.rows == 0) to.columns = count;
  if (count != to.columns) throw InternalError("samples of a data set of fields differ in shape");
  to.values.resize((to.rows + 1) * count);
  train::copy_numbers<double>(found->second, std::span(to.values).last(count));
  ++to.rows;
  return true;
}

template <class T>
void add_number(const train::Sample& sample, const char* name, std::vector<T>& to) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end()) return;
  T value{};
  train::copy_numbers<T>(found->second, std::span(&value, 1));
  to.push_back(value);
}

}  // namespace

std::vector<double> channel_deviations(const Table& table) {
  constexpr double rounding = 1e-7;  // of the single precision of fields
  const auto channels = static_cast<std::size_t>(table.shape.channels);
  const auto cells = static_cast<std::size_t>(table.field.columns) / channels;
  const double n = static_cast<double>(table.field.rows) * static_cast<double>(cells);
  std::vector<double> mean(channels, 0.0), out(channels, 0.0);
  for (std::int64_t k = 0; k < table.field.rows; ++k)
    for (std::size_t c = 0; c < table.field.row(k).size(); ++c) mean[c / cells] += table.field.row(k)[c] / n;
  for (std::int64_t k = 0; k < table.field.rows; ++k)
    for (std::size_t c = 0; c < table.field.row(k).size(); ++c)
      out[c / cells] += std::pow(table.field.row(k)[c] - mean[c / cells], 2) / n;
  for (std::size_t c = 0; c < channels; ++c) {
    out[c] = std::sqrt(out[c]);
    if (!(out[c] > rounding * std::abs(mean[c]))) out[c] = mean[c] == 0.0 ? 1.0 : std::abs(mean[c]);
  }
  return out;
}

Table in_units(Table table, std::span<const double> deviations) {
  for (Matrix* fields : {&table.field, &table.partner}) {
    if (fields->empty() || fields->columns % std::ssize(deviations) != 0) continue;
    const auto cells = static_cast<std::size_t>(fields->columns) / deviations.size();
    for (std::int64_t k = 0; k < fields->rows; ++k)
      for (std::size_t c = 0; c < fields->row(k).size(); ++c) fields->row(k)[c] /= deviations[c / cells];
  }
  return table;
}

std::int64_t rows_found_again(const Matrix& rows, const Matrix& known) {
  const auto bytes = [](std::span<const double> row) {
    return std::string_view(reinterpret_cast<const char*>(row.data()), row.size_bytes());
  };
  std::unordered_set<std::string_view> there;
  for (std::int64_t k = 0; k < known.rows; ++k) there.insert(bytes(known.row(k)));
  std::int64_t out = 0;
  for (std::int64_t k = 0; k < rows.rows; ++k) out += there.contains(bytes(rows.row(k)));
  return out;
}

Table read_table(train::Dataset& data) {
  constexpr std::int64_t at_once = 256;
  Table out;
  for (std::int64_t from = 0; from < data.size(); from += at_once) {
    std::vector<std::int64_t> ids;
    for (std::int64_t id = from; id < std::min(data.size(), from + at_once); ++id) ids.push_back(id);
    for (const auto& sample : data.read(ids)) {
      const auto found = sample->fields.find("field");
      if (found == sample->fields.end() || !sample->fields.contains("periodic"))
        throw InputError("the samples hold no fields; give a dataset of type field_archive or images");
      if (out.shape.cells.empty()) {
        out.shape.channels = found->second.shape[0];
        out.shape.cells.assign(found->second.shape + 1, found->second.shape + found->second.rank);
        out.shape.periodic.resize(out.shape.cells.size());
        train::copy_numbers<std::int64_t>(sample->fields.find("periodic")->second, std::span(out.shape.periodic));
      }
      add_row(*sample, "field", out.field);
      add_row(*sample, "partner", out.partner);
      add_row(*sample, "parameters", out.parameters);
      add_number(*sample, "simulation", out.simulation);
      add_number(*sample, "moment", out.moment);
      add_number(*sample, "label", out.label);
      add_number(*sample, "time", out.time);
    }
  }
  if (const auto* archive = dynamic_cast<const FieldArchive*>(&data)) {
    out.channel_names = archive->channel_names();
    out.parameter_names = archive->parameter_names();
  }
  if (out.rows() == 0) throw InternalError("a data set of fields is empty");
  return out;
}

}  // namespace cambium::pretrain
