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

/// Arrays of HDF5 files whose first axis counts samples. Several files (shards) follow one another; each field is one
/// array of the same name, type, unit and row shape in every file. Rank 0 looks at all files when the set is opened and
/// tells the others; every rank then opens the files that it reads from.
class Hdf5Dataset : public Dataset, public HasCoordinates {
 public:
  struct Field {
    std::string name;
    std::string array;                ///< path in the files; the name, where empty
    std::optional<std::string> unit;  ///< what the deck expects
    std::vector<double> fill = {};    ///< stored numbers that are missing
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
  /// unit, arrays of a shard differ in length; with `scan`, also a number that is not finite.
  void open(Context&) override;
  std::int64_t size() const override { return last_ - first_; }
  std::vector<FieldInfo> fields() const override { return shards_.fields; }
  /// One read per run of neighbours; samples of one chunk are read together although others lie between them. A set of
  /// at most `cache` MiB stays in memory, so that each of its samples is read once.
  /// InputError for a number that is not finite, or missing by the attributes of its array: names file, array, sample.
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override;
  /// By the chunks of the field with the most bytes.
  std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t id) const override;
  /// Those that the fields' dimensions and the attribute `coordinates` name (netCDF, dimension scales of HDF5): of
  /// samples where all files have them in the same unit, of other axes from the first file.
  std::vector<Coordinate> coordinates() override;
  /// For chunked arrays, the stored size of the chunks that were touched; of others, the rows that were read.
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
  /// By shard and field: a data set that stays open keeps the chunk that it has decoded last.
  std::map<std::pair<std::size_t, std::size_t>, io::Dataset> arrays_;
  std::map<std::pair<std::size_t, std::size_t>, MarkedArray> marked_;  ///< those whose attributes change their numbers
  std::vector<SamplePtr> cached_;  ///< by number of the sample, null before it is read; empty for a larger set
  std::atomic<std::int64_t> bytes_read_ = 0;
};

}  // namespace cambium::train
