#pragma once
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/data/hdf5_shards.hpp"
#include "core/train/data/marked_array.hpp"
#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/has_coordinates.hpp"

namespace cambium::train {

/// Arrays of HDF5 files whose first axis is the sample axis. Several files (shards) are concatenated; each field is one
/// array with the same name, type, unit and row shape in every file. Rank 0 inspects all files when the set is opened
/// and broadcasts their properties; every rank then opens the files that it reads from.
class Hdf5Dataset : public Dataset, public HasCoordinates {
 public:
  struct Field {
    std::string name;
    std::string array;                ///< path in the files; default: the name
    std::optional<std::string> unit;  ///< expected by the deck
    std::vector<double> fill = {};    ///< stored values that mark missing data
    io::cf::ValidRange valid_range = io::cf::ValidRange::as_file;
    static void describe(deck::Describe<Field>& d);
  };
  struct Params {
    std::vector<std::string> files;
    std::vector<Field> fields;
    std::optional<std::array<std::int64_t, 2>> range;
    bool scan = false;
    double cache = 256;  ///< MiB
    static void describe(deck::Describe<Params>& d);
  };
  Hdf5Dataset(const Params& params, Context&) : params_(params) {}

  /// InputError, on every rank: a file is missing or no HDF5 file, an array is missing, shards differ in shape, type or
  /// unit, arrays of a shard differ in length; with `scan`, also a value that is not finite.
  void open(Context&) override;
  std::int64_t size() const override { return last_ - first_; }
  std::vector<FieldInfo> fields() const override { return shards_.fields; }
  /// One read per run of neighbours; samples of one chunk are read together, including others between them. A set of at
  /// most `cache` MiB stays in memory, so each of its samples is read once. InputError for a value that is not finite,
  /// or missing according to the attributes of its array: names file, array, sample.
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override;
  /// Chunks of the field with the most bytes.
  std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t id) const override;
  /// Coordinates named by the fields' dimensions and the attribute `coordinates` (netCDF, dimension scales of HDF5):
  /// sample coordinates if all files have them in the same unit, those of other axes from the first file.
  std::vector<Coordinate> coordinates() override;
  /// Files, or memory if `cache` holds the set.
  Origin origin() const override { return cached_.empty() ? Origin::files : Origin::memory; }
  bool plain() const override { return true; }
  /// Stored size of the chunks that were touched; for contiguous arrays, of the rows that were read.
  std::int64_t bytes_read() const override { return bytes_read_; }

 private:
  struct Block;
  std::int64_t sample_bytes() const;
  std::vector<SamplePtr> read_files(std::span<const std::int64_t> ids);
  void read_run(std::span<const std::int64_t> ids, std::vector<SamplePtr>& out);
  Block read_block(std::size_t shard, std::size_t field, std::int64_t first, std::int64_t rows);
  void require_finite(std::size_t shard, std::size_t field, const TensorRef& row, std::int64_t number) const;
  void require_there(std::size_t shard, std::size_t field, const Block& block, std::int64_t row) const;
  const io::File& file(std::size_t shard);
  WantedField wanted(std::size_t field) const;

  Params params_;
  Shards shards_;
  std::int64_t first_ = 0, last_ = 0;  ///< samples of all shards that belong to this set
  std::mutex reading_;                 ///< held by read(): opens files
  std::vector<std::optional<io::File>> files_;
  /// By shard and field: an open data set keeps the chunk that it decoded last.
  std::map<std::pair<std::size_t, std::size_t>, io::Dataset> arrays_;
  std::map<std::pair<std::size_t, std::size_t>, MarkedArray> marked_;  ///< arrays whose attributes change their values
  std::vector<SamplePtr> cached_;  ///< by index of the sample, null until it is read; empty for a larger set
  std::atomic<std::int64_t> bytes_read_ = 0;
};

}  // namespace cambium::train
