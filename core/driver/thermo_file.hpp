#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/csv.hpp"
#include "core/io/h5.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/physics.hpp"

namespace cambium {

/// Observables of a run over its steps, in two forms in the run directory: thermo.csv for people and spreadsheets, and
/// thermo.h5 with one series per column in group /thermo (attributes unit and doc). Every row reaches the operating
/// system before append() returns.
class ThermoFile {
 public:
  /// Collective. With `resumed_at`, rows up to that step of the earlier run stay and later ones are dropped.
  ThermoFile(const Context& context, const std::vector<Observable>& observables, const std::string& time_unit,
             std::optional<std::int64_t> resumed_at = {});

  /// Collective. One value per observable; those of rank 0 are written. InputError when the disk refuses.
  void append(std::int64_t step, double time, std::span<const double> values);
  static std::vector<std::string> files() { return {"thermo.csv", "thermo.h5"}; }

 private:
  void make_series(const Context& context, const std::string& path);

  const Comm& comm_;
  std::vector<io::Column> columns_;   ///< time first
  std::unique_ptr<io::CsvFile> csv_;  ///< rank 0 only, as all that follows
  std::unique_ptr<io::File> file_;
  std::vector<io::Dataset> series_;  ///< step, then the columns
};

}  // namespace cambium
