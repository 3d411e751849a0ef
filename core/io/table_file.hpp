#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/csv.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/context.hpp"

namespace cambium::io {

/// A growing table in two forms in the run directory: <name>.csv for people and spreadsheets, and <name>.h5 with one
/// series per column in group /<name>, and at the top, where xarray looks (attributes units and long_name, rows along
/// the time or the step). Every row reaches the operating system before append() returns.
class TableFile {
 public:
  /// Collective. With `resumed_at`, rows up to that step of the earlier run are kept and later ones dropped; `mark` is
  /// their mark from the checkpoint. InputError as CsvFile.
  TableFile(const Context& context, std::string name, std::vector<Column> columns,
            std::optional<std::int64_t> resumed_at = {}, std::optional<TableMark> mark = {});

  /// Collective. One value per column; those of rank 0 are written. InputError if the disk fails.
  void append(std::int64_t step, std::span<const double> values);
  /// Collective: stores the root's mark of the present table in a checkpoint's group. The rows are then on disk.
  void save_mark(Group& group) const;
  std::vector<std::string> files() const { return {name_ + ".csv", name_ + ".h5"}; }

 private:
  void make_series(const Context& context, const std::string& path);

  const Comm& comm_;
  std::string name_;
  std::vector<Column> columns_;
  std::unique_ptr<CsvFile> csv_;  ///< rank 0 only, as all that follows
  std::unique_ptr<File> file_;
  std::vector<Dataset> series_;  ///< step, then the columns
};

/// Record of a table in a checkpoint; none in checkpoints of earlier versions.
std::optional<TableMark> table_mark(const Group& group, const std::string& name);

}  // namespace cambium::io
