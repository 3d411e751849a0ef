#include "plugins/pretrain/features/table.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/train/data/numbers.hpp"

namespace cambium::pretrain {

namespace {

/// The numbers of one array of a sample as a row; false where the sample lacks it.
bool add_row(const train::Sample& sample, const char* name, Matrix& to) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end()) return false;
  const auto count = found->second.elements();
  if (to.rows == 0) to.columns = count;
  if (count != to.columns) throw InternalError("samples of a data set of fields differ in shape");
  to.values.resize(static_cast<std::size_t>((to.rows + 1) * count));
  train::copy_numbers<double>(found->second, std::span(to.values).last(static_cast<std::size_t>(count)));
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
  if (out.rows() == 0) throw InternalError("a data set of fields is empty");
  return out;
}

}  // namespace cambium::pretrain
