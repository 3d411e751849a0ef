#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/cf/field.hpp"
#include "core/parallel/context.hpp"

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

/// Snapshots of some cells: `values` is (snapshots, cells) row-major and holds sqrt(w) (q - mean), with the mean over
/// the training snapshots and the cell's weight w.
struct CellBlock {
  std::vector<std::int64_t> cells;  ///< flattened indices, rising
  std::vector<double> mean, root_weight;
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

  std::int64_t snapshots() const { return std::ssize(times_); }
  std::int64_t training() const { return training_; }
  std::int64_t cells() const { return cells_; }  ///< of the whole array, land included
  const std::vector<double>& times() const { return times_; }
  const io::cf::TimeUnit& time_unit() const { return time_unit_; }  ///< of times(), since a date of the first file
  const io::cf::Field& first_file() const { return files_.front(); }
  std::vector<std::int64_t> spatial_shape() const;
  const std::string& array() const { return params_.array; }

  /// Collective: calls `action` for this rank's blocks in order. What fits the buffer as a whole is read once and kept.
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
  void require_latitudes() const;
  void look_at_first_snapshot();
  void make_tiles(std::int64_t most_cells);
  CellBlock read(const Tile& tile);
  /// False when the cell is left out; fills holes where the deck says so, by what the training snapshots say alone.
  bool accept(double* column, std::int64_t stride, std::int64_t cell) const;
  void normalise(CellBlock& block) const;
  std::string place(std::int64_t cell) const;

  FieldParams params_;
  AreaWeights weights_;
  Context& context_;
  std::vector<io::cf::Field> files_;
  std::vector<double> times_;
  io::cf::TimeUnit time_unit_;
  std::vector<char> mask_;
  std::vector<Tile> tiles_;
  std::vector<CellBlock> kept_;
  bool keep_ = false;
  std::int64_t cells_ = 0, training_ = 0, bytes_read_ = 0, largest_block_ = 0;
  int passes_ = 0;
};

}  // namespace cambium::podlstm
