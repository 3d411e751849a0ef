#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/cf/field.hpp"
#include "core/parallel/context.hpp"
#include "plugins/podlstm/pod/dense.hpp"
#include "plugins/podlstm/pod/tile_copy.hpp"

namespace cambium::podlstm {

enum class Missing { refuse, land, drop, fill };
enum class AreaWeights { none, cos_latitude };

/// A field in files, as configured in the deck.
struct FieldParams {
  struct Mask {
    std::string file, array;
    static void describe(deck::Describe<Mask>& d);
  };
  std::vector<std::string> files;
  std::string array, time;
  std::vector<std::string> axes;
  std::vector<double> fill;
  io::cf::ValidRange valid_range = io::cf::ValidRange::as_file;
  std::optional<Mask> mask;
  Missing missing = Missing::refuse;
  static void describe(deck::Describe<FieldParams>& d);
};

/// Background subtracted from a field before the decomposition: q = mean + year + trend + norm * anomaly, by least
/// squares in every cell.
struct AnomalyKeys {
  int harmonics = 0;                ///< of the year
  std::vector<std::int64_t> years;  ///< first and last year of the climatology; empty: the training snapshots
  bool detrend = false, standardise = false;
  static void describe(deck::Describe<AnomalyKeys>& d);
};

/// Snapshots of some cells: `values` is (snapshots, cells) row-major, equal to sqrt(w) (q - mean), with the mean over
/// the training snapshots and the cell's weight w; or to sqrt(w) times the anomaly.
struct CellBlock {
  std::vector<std::int64_t> cells;  ///< flattened indices, ascending
  std::vector<double> mean, root_weight;
  std::vector<double> norm, trend;  ///< by cell; empty if the anomalies have none. trend: per day
  std::vector<double> year;         ///< (2 harmonics, cells): cosines and sines alternate
  std::vector<double> values;
  std::int64_t size() const { return std::ssize(cells); }
};

/// A field over time with cells distributed over ranks and read in blocks that fit into a buffer.
class Field {
 public:
  /// Collective. Reads the times and the mask. InputError: files that are not consecutive, times that do not increase.
  Field(const FieldParams& params, AreaWeights weights, std::optional<std::int64_t> training, double buffer_bytes,
        Context& context);

  /// Call before any data are read. KeyError for years without snapshots, or too few to fit, and
  /// for harmonics that their times do not resolve.
  void take_off(const AnomalyKeys& keys);
  const AnomalyKeys& anomalies() const { return anomalies_; }
  /// In the file's own unit if its length is not known ("t_ff").
  double day(std::int64_t snapshot) const {
    return times_[static_cast<std::size_t>(snapshot)] * (time_unit_.seconds > 0.0 ? time_unit_.days() : 1.0);
  }
  double trend_from() const { return trend_from_; }  ///< day at which the trend is zero
  double period() const;                             ///< of the year of the calendar, d

  std::int64_t snapshots() const { return std::ssize(times_); }
  std::int64_t training() const { return training_; }
  std::int64_t cells() const { return cells_; }  ///< of the full array, including land
  const std::vector<double>& times() const { return times_; }
  const io::cf::TimeUnit& time_unit() const { return time_unit_; }  ///< of times(), since a date of the first file
  const io::cf::Field& first_file() const { return files_.front(); }
  std::vector<std::int64_t> spatial_shape() const;
  const std::string& array() const { return params_.array; }

  /// Collective: calls `action` for this rank's blocks in order. If they fit into the buffer, they are read once and
  /// kept. Otherwise, if blocks would split chunks of the files, this rank's cells are copied to the run directory in
  /// the order of the blocks, and each chunk is read once.
  /// InputError, on every rank, for a missing value that is not allowed.
  void for_each_block(const std::function<void(const CellBlock&)>& action);

  /// Collective. For `cambium check`: reads the field completely, as a run does; InputError for anything that a run
  /// would refuse. Reads only the first snapshot, and returns false, if a rank would have to read more than
  /// `most_bytes`.
  bool look_through(double most_bytes);
  /// InputError if no cell of all ranks is left.
  void require_cells(std::int64_t cells) const;

  std::int64_t bytes_read() const { return bytes_read_; }        ///< by this rank so far
  std::int64_t largest_block() const { return largest_block_; }  ///< bytes in memory at once on this rank
  std::int64_t blocks() const { return std::ssize(tiles_); }     ///< of this rank
  int passes() const { return passes_; }

 private:
  struct Tile {
    std::vector<std::int64_t> start, count;  ///< without time
    std::int64_t first = 0, cells = 0;       ///< flattened
  };
  void open_files();
  void require_rising_times() const;
  void read_mask();
  /// Warns of a value of the first snapshot that may be a fill value without an attribute.
  void doubt_fill() const;
  void require_latitudes() const;
  void look_at_first_snapshot();
  void make_tiles(std::int64_t most_cells);
  bool cuts_chunks_of_files() const;
  void copy_tiles();
  void read_values(std::size_t tile, double* out);
  CellBlock read(std::size_t tile);
  /// False if the cell is omitted; fills gaps if requested by the deck, using the training snapshots only.
  bool accept(double* column, std::int64_t stride, std::int64_t cell) const;
  void normalise(CellBlock& block) const;
  /// Least squares of mean, harmonics and trend at the times of the climatology.
  void fit_waves();
  void fit_background(CellBlock& block) const;
  std::string place(std::int64_t cell) const;
  /// The first snapshot without any valid value in a block of the full field; none for a part.
  std::optional<std::int64_t> empty_snapshot(const double* block, std::int64_t cells) const;

  FieldParams params_;
  AreaWeights weights_;
  Context& context_;
  std::vector<io::cf::Field> files_;
  std::vector<double> times_;
  io::cf::TimeUnit time_unit_;
  std::vector<char> mask_;
  AnomalyKeys anomalies_;
  std::vector<std::int64_t> reference_;  ///< snapshots of the climatology
  Matrix waves_, solver_;                ///< (snapshots, terms); (terms, reference): least squares of the background
  double trend_from_ = 0.0;
  std::vector<Tile> tiles_;
  std::vector<CellBlock> kept_;
  std::unique_ptr<TileCopy> copy_;  ///< if blocks split chunks
  bool keep_ = false, copies_ = false;
  std::int64_t cells_ = 0, training_ = 0, bytes_read_ = 0, largest_block_ = 0;
  int passes_ = 0;
};

}  // namespace cambium::podlstm
