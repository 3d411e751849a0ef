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

/// A field in the files of a deck.
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

/// What is taken off a field before its modes are computed: q = mean + year + trend + norm * anomaly, by least squares
/// in every cell.
struct AnomalyKeys {
  int harmonics = 0;                ///< of the year
  std::vector<std::int64_t> years;  ///< first and last year of the climatology; empty: the training snapshots
  bool detrend = false, standardise = false;
  static void describe(deck::Describe<AnomalyKeys>& d);
};

/// Snapshots of some cells: `values` is (snapshots, cells) row-major and holds sqrt(w) (q - mean), with the mean over
/// the training snapshots and the cell's weight w; or sqrt(w) times the anomaly.
struct CellBlock {
  std::vector<std::int64_t> cells;  ///< flattened indices, rising
  std::vector<double> mean, root_weight;
  std::vector<double> norm, trend;  ///< by cell; empty where the anomalies have none. trend: per day
  std::vector<double> year;         ///< (2 harmonics, cells): cosines and sines in turn
  std::vector<double> values;
  std::int64_t size() const { return std::ssize(cells); }
};

/// A field over time whose cells are dealt out to the ranks and read in blocks that fit a buffer.
class Field {
 public:
  /// Collective. Reads the times and the mask. InputError: files that do not follow one another, times that do not
  /// rise.
  Field(const FieldParams& params, AreaWeights weights, std::optional<std::int64_t> training, double buffer_bytes,
        Context& context);

  /// Before anything is read. KeyError for years without snapshots, or too few to fit.
  void take_off(const AnomalyKeys& keys);
  const AnomalyKeys& anomalies() const { return anomalies_; }
  double day(std::int64_t snapshot) const { return times_[static_cast<std::size_t>(snapshot)] * time_unit_.days(); }
  double trend_from() const { return trend_from_; }  ///< day at which the trend is zero
  double period() const;                             ///< of the year of the calendar, d

  std::int64_t snapshots() const { return std::ssize(times_); }
  std::int64_t training() const { return training_; }
  std::int64_t cells() const { return cells_; }  ///< of the whole array, land included
  const std::vector<double>& times() const { return times_; }
  const io::cf::TimeUnit& time_unit() const { return time_unit_; }  ///< of times(), since a date of the first file
  const io::cf::Field& first_file() const { return files_.front(); }
  std::vector<std::int64_t> spatial_shape() const;
  const std::string& array() const { return params_.array; }

  /// Collective: calls `action` for this rank's blocks in order. What fits the buffer as a whole is read once and kept.
  /// Else, where blocks would cut chunks of the files, this rank's cells are copied to the run's folder in the order of
  /// the blocks, each chunk being read once.
  /// InputError, on every rank, for a number that is missing where none may be.
  void for_each_block(const std::function<void(const CellBlock&)>& action);

  /// Collective. For `cambium check`: reads the field through, as a run does; InputError for what a run would refuse.
  /// The first snapshot alone where that would take more than `most_bytes` on a rank; then it is false.
  bool look_through(double most_bytes);
  /// InputError when no cell of all ranks is left.
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
  /// Warns of a number of the first snapshot that may be a fill value no attribute names.
  void doubt_fill() const;
  void require_latitudes() const;
  void look_at_first_snapshot();
  void make_tiles(std::int64_t most_cells);
  bool cuts_chunks_of_files() const;
  void copy_tiles();
  void read_values(std::size_t tile, double* out);
  CellBlock read(std::size_t tile);
  /// False when the cell is left out; fills holes where the deck says so, by what the training snapshots say alone.
  bool accept(double* column, std::int64_t stride, std::int64_t cell) const;
  void normalise(CellBlock& block) const;
  void fit_background(CellBlock& block) const;
  std::string place(std::int64_t cell) const;
  /// The first snapshot without a single number in a block of the whole field; none of a part.
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
  std::unique_ptr<TileCopy> copy_;  ///< where blocks cut chunks
  bool keep_ = false, copies_ = false;
  std::int64_t cells_ = 0, training_ = 0, bytes_read_ = 0, largest_block_ = 0;
  int passes_ = 0;
};

}  // namespace cambium::podlstm
