#include "core/run/thermo_file.hpp"

namespace cambium {

static std::vector<io::Column> columns_of(const std::vector<Observable>& observables, const std::string& time_unit) {
  std::vector<io::Column> columns{{"time", time_unit, "physical time"}};
  for (const auto& o : observables) columns.push_back({o.name, o.unit, o.doc});
  return columns;
}

ThermoFile::ThermoFile(const Context& context, const std::vector<Observable>& observables, const std::string& time_unit,
                       std::optional<std::int64_t> resumed_at, std::optional<io::TableMark> mark)
    : table_(context, "thermo", columns_of(observables, time_unit), resumed_at, mark) {}

void ThermoFile::append(std::int64_t step, double time, std::span<const double> values) {
  std::vector<double> row{time};
  row.insert(row.end(), values.begin(), values.end());
  table_.append(step, row);
}

}  // namespace cambium
