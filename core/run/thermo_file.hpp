#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/table_file.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/physics.hpp"

namespace cambium {

/// Observables of a run over its steps: thermo.csv and thermo.h5 in the run directory (core/io/table_file.hpp).
class ThermoFile {
 public:
  /// Collective. With `resumed_at`, rows up to that step of the earlier run are kept and later ones dropped; `mark` is
  /// their mark from the checkpoint (io::table_mark).
  ThermoFile(const Context& context, const std::vector<Observable>& observables, const std::string& time_unit,
             std::optional<std::int64_t> resumed_at = {}, std::optional<io::TableMark> mark = {});

  /// Collective. One value per observable; those of rank 0 are written. InputError if the disk fails.
  void append(std::int64_t step, double time, std::span<const double> values);
  /// Collective: for a checkpoint of the present state.
  void save_mark(io::Group& group) const { table_.save_mark(group); }
  static std::vector<std::string> files() { return {"thermo.csv", "thermo.h5"}; }

 private:
  io::TableFile table_;  ///< time first
};

}  // namespace cambium
