#include "plugins/podlstm/pod/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/units.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::podlstm {

void FieldParams::Mask::describe(deck::Describe<Mask>& d) {
  d("file", &Mask::file, "file of the mask");
  d("array", &Mask::array, "mask array, of the field's shape without time; nonzero cells are used").def("mask");
}

void FieldParams::describe(deck::Describe<FieldParams>& d) {
  d("files", &FieldParams::files, "files that follow one another in time: HDF5, NetCDF-4, or NetCDF-3 with libnetcdf")
      .example("[sst.wkmean.1981-1989.nc]");
  d("array", &FieldParams::array, "the variable, an array (time, ...)").example("sst");
  d("time", &FieldParams::time, "its times, which must increase; where left out, the coordinate that measures time")
      .def("")
      .example("T");
  d("axes", &FieldParams::axes,
    "coordinates of its other axes, in their order; where left out, those that the file names (dimensions, attributes "
    "of CF)")
      .def({});
  d("fill", &FieldParams::fill, "additional fill values that mark missing data, besides those of the file").def({});
  d("valid_range", &FieldParams::valid_range,
    "units of the attributes valid_range, valid_min and valid_max of packed data; as_file: packed units, refused if "
    "they are real numbers on packed integers")
      .options({{"as_file", io::cf::ValidRange::as_file},
                {"stored", io::cf::ValidRange::stored},
                {"unpacked", io::cf::ValidRange::unpacked},
                {"ignored", io::cf::ValidRange::ignored}})
      .def(io::cf::ValidRange::as_file);
  d("mask", &FieldParams::mask, "mask of the cells to keep");
  d("missing", &FieldParams::missing,
    "treatment of missing or NaN values: refuse them, omit cells without any data (land), omit cells that lack a value "
    "(drop), or replace them by the cell's mean over the training snapshots (fill; cells without any are omitted)")
      .options({{"refuse", Missing::refuse}, {"land", Missing::land}, {"drop", Missing::drop}, {"fill", Missing::fill}})
      .def(Missing::refuse);
  d.check([](const FieldParams& p) { return p.files.empty() ? "files: name at least one file" : ""; });
}

Field::Field(const FieldParams& params, AreaWeights weights, std::optional<std::int64_t> training, double buffer_bytes,
             Context& context)
    : params_(params), weights_(weights), context_(context) {
  io::on_every_rank(context.comm, [&] {
    open_files();
    require_rising_times();
    if (params_.mask) read_mask();
    if (snapshots() < 2)
      throw InputError(
          fmt::format("'{}' of '{}' has {} snapshot, modes need two or more: name the other files (files), or the "
                      "coordinate that counts them (time)",
                      params_.array, params_.files.front(), snapshots()));
  });
  training_ = training.value_or(snapshots());
  if (training_ > snapshots())
    throw KeyError(
        "field.training.range", "training",
        fmt::format("training: {} snapshots requested, but '{}' has {}", training_, params_.array, snapshots()));
  io::on_root(context.comm, [&] { doubt_fill(); });
  if (weights_ == AreaWeights::cos_latitude) require_latitudes();
  cells_ = 1;
  for (std::int64_t n : spatial_shape()) cells_ *= n;
  const double column = 8.0 * static_cast<double>(snapshots());
  const auto most = static_cast<std::int64_t>(buffer_bytes / column);
  if (most < 1)
    throw KeyError("field.buffer.range", "buffer",
                   fmt::format("buffer: one cell takes {:.3g} MiB ({} snapshots in float64); give at least that",
                               column / 1048576.0, snapshots()));
  const std::int64_t share = (cells_ + context.comm.size() - 1) / context.comm.size();
  keep_ = share <= most;
  make_tiles(std::min(most, share));
  copies_ = !keep_ && !tiles_.empty() && cuts_chunks_of_files();
}

std::vector<std::int64_t> Field::spatial_shape() const {
  auto shape = first_file().shape();
  shape.erase(shape.begin());
  return shape;
}

void Field::require_latitudes() const {
  const auto& file = first_file();
  const auto latitude = file.axis(io::cf::Role::latitude);
  if (!latitude) {
    const auto curved = file.curved(io::cf::Role::latitude);
    std::vector<std::string> names;
    for (const auto& axis : file.axes()) names.push_back(axis.name);
    if (!curved.empty())
      throw KeyError("field.weights.latitude.axis", "weights",
                     fmt::format("weights: cos_latitude needs latitudes along one axis, those of '{}' change along two "
                                 "('{}'); bring the field to a regular grid (cdo remapbil), or set weights: none",
                                 params_.array, curved));
    if (const auto listed = file.listed(io::cf::Role::latitude); !listed.empty())
      throw KeyError("field.weights.latitude.listed", "weights",
                     fmt::format("weights: cos_latitude: '{}' has a list of cells with latitudes in '{}', which do not "
                                 "tell their areas; set weights: none where areas are equal (ICON, HEALPix), or name "
                                 "the latitudes (axes: [{}]) where cells are those of a regular grid",
                                 params_.array, listed, listed));
    throw KeyError(
        "field.weights.latitude.missing", "weights",
        fmt::format(
            "weights: cos_latitude needs latitudes, found the axes {}; none of them has units degrees_north, the "
            "standard_name latitude or a name that begins with lat: name them (axes: [lat, lon]), or set weights: none",
            join(names)));
  }
  for (const double x : file.axes()[*latitude].values)
    if (!(std::abs(x) <= 90.001))
      throw KeyError("field.weights.latitude.range", "weights",
                     fmt::format("weights: cos_latitude: '{}' of '{}' is {}, beyond 90 degrees; fix the file",
                                 file.axes()[*latitude].name, file.path(), number_text(x)));
}

void Field::open_files() {
  for (const auto& path : params_.files) {
    files_.push_back(
        io::cf::Field::open(path, {params_.array, params_.time, params_.axes, {params_.fill, params_.valid_range}}));
    const auto& file = files_.back();
    const auto& first = files_.front();
    if (files_.size() == 1) time_unit_ = io::cf::plain_unit(file.time_unit());
    auto mine = file.shape(), others = first.shape();
    mine[0] = others[0] = 0;
    if (mine != others)
      throw KeyError("field.files.shape", "field.files",
                     fmt::format("'{}' has another shape than '{}'", path, params_.files.front()));
    if (files_.size() > 1) io::cf::require_same_axes(file, first, fmt::format("'{}'", path));
    if (!io::cf::is_same_unit(file.unit(), first.unit()))
      throw KeyError("field.files.unit", "field.files",
                     fmt::format("'{}' of '{}' is in '{}', of '{}' in '{}'; convert one of them", params_.array, path,
                                 file.unit(), first.path(), first.unit()));
    const auto times =
        io::cf::converted(file.times(), file.time_unit(), time_unit_, fmt::format("times of '{}'", path));
    times_.insert(times_.end(), times.begin(), times.end());
  }
}

void Field::require_rising_times() const {
  for (std::size_t k = 1; k < times_.size(); ++k)
    if (!(times_[k] > times_[k - 1]))
      throw KeyError(
          "field.files.times", "field.files",
          fmt::format("times of '{}' do not increase: snapshot {} is at {}, the one before at {} ({}); sort the "
                      "snapshots, or list the files in order",
                      params_.array, k, number_text(times_[k]), number_text(times_[k - 1]), time_unit_.text));
}

void Field::read_mask() {
  const auto& mask = *params_.mask;
  const auto file = io::cf::Field::open_still(mask.file, {mask.array, "", {}, {}});
  std::int64_t expected = 1, found = 1;
  for (std::int64_t n : spatial_shape()) expected *= n;
  auto shape = file.shape();
  for (std::int64_t n : shape) found *= n;
  if (found != expected)
    throw KeyError("field.mask.count", "field.mask",
                   fmt::format("the mask '{}' of '{}' has {} values, the field has {} cells", mask.array, mask.file,
                               found, expected));
  const std::string what = fmt::format("the mask '{}' of '{}'", mask.array, mask.file);
  if (shape.size() > 1) {
    if (shape != spatial_shape())
      throw KeyError("field.mask.shape", "field.mask",
                     fmt::format("{} has the shape ({}), the field ({}); turn it (ncpdq -a)", what,
                                 fmt::join(shape, ", "), fmt::join(spatial_shape(), ", ")));
    io::cf::require_same_axes(file, first_file(), what);
  }
  std::vector<double> values(found);
  file.read(std::vector<std::int64_t>(shape.size(), 0), shape, values.data());
  for (double x : values) mask_.push_back(x != 0.0 && !std::isnan(x));
}

namespace {

/// A value shared by many cells and far from all others.
struct LoneValue {
  double value = 0.0;
  std::int64_t cells = 0;
  double low = 0.0, high = 0.0;  ///< of the others
};

/// Detects a lowest or highest value that is separated from the others by more than their range, in two cells or more.
/// There must be at least two other values.
std::optional<LoneValue> lone_value(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  if (x.size() < 4) return {};
  const auto above = std::upper_bound(x.begin(), x.end(), x.front());
  const auto below = std::lower_bound(x.begin(), x.end(), x.back());
  const auto apart = [](double gap, double low, double high) { return high > low && gap > high - low; };
  if (above - x.begin() >= 2 && above != x.end() && apart(*above - x.front(), *above, x.back()))
    return LoneValue{x.front(), above - x.begin(), *above, x.back()};
  if (x.end() - below >= 2 && below != x.begin() && apart(x.back() - below[-1], x.front(), below[-1]))
    return LoneValue{x.back(), x.end() - below, x.front(), below[-1]};
  return {};
}

}  // namespace

void Field::doubt_fill() const {
  auto count = first_file().shape();
  const std::vector<std::int64_t> start(count.size(), 0);
  count[0] = 1;
  std::vector<double> all(1), values;
  for (const auto n : count) all.resize(all.size() * static_cast<std::size_t>(n));
  first_file().read(start, count, all.data());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::isfinite(all[i]) && (mask_.empty() || mask_[i])) values.push_back(all[i]);
  const auto found = lone_value(std::move(values));
  if (!found) return;
  context_.log.warn(
      fmt::format("'{}' is {:.9g} in {} cells of its first snapshot, far from all others ({:.6g} to {:.6g}), and the "
                  "file does not mark it as missing: if it marks missing data, set fill: [{:.9g}] (of packed data the "
                  "stored value) and missing: land",
                  params_.array, found->value, found->cells, found->low, found->high, found->value));
}

void Field::make_tiles(std::int64_t most_cells) {
  const auto shape = spatial_shape();
  // Axis k is split; those before it are traversed one by one, those after it are complete.
  std::size_t k = shape.size() - 1;
  std::int64_t below = 1, before = 1;
  while (k > 0 && below * shape[k] <= most_cells) below *= shape[k--];
  for (std::size_t i = 0; i < k; ++i) before *= shape[i];
  const std::int64_t step = std::max<std::int64_t>(1, std::min(shape[k], most_cells / below));
  const std::int64_t cuts = (shape[k] + step - 1) / step, all = before * cuts;
  const std::int64_t ranks = context_.comm.size(), rank = context_.comm.rank();
  for (std::int64_t t = all * rank / ranks; t < all * (rank + 1) / ranks; ++t) {
    Tile tile{std::vector<std::int64_t>(shape.size(), 0), shape, 0, 0};
    std::int64_t outer = t / cuts;
    for (std::size_t i = k; i-- > 0; outer /= shape[i]) {
      tile.start[i] = outer % shape[i];
      tile.count[i] = 1;
    }
    tile.start[k] = t % cuts * step;
    tile.count[k] = std::min(step, shape[k] - tile.start[k]);
    tile.first = (t / cuts * shape[k] + tile.start[k]) * below;
    tile.cells = tile.count[k] * below;
    tiles_.push_back(std::move(tile));
  }
}

std::string Field::place(std::int64_t cell) const {
  std::vector<std::string> words;
  const auto& axes = first_file().axes();
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto n = std::ssize(axes[i].values);
    words.insert(words.begin(), fmt::format("{} {}", axes[i].name, number_text(axes[i].values[cell % n])));
    cell /= n;
  }
  return join(words);
}

bool Field::accept(double* column, std::int64_t stride, std::int64_t cell) const {
  std::int64_t absent = 0, first = -1, seen = 0;
  double sum = 0.0;
  for (std::int64_t t = 0; t < snapshots(); ++t) {
    const double x = column[t * stride];
    if (!std::isfinite(x)) {
      if (++absent; first < 0) first = t;
    } else if (t < training_) {  // later years must not leak into training data
      sum += x, ++seen;
    }
  }
  if (absent == 0) return true;
  const bool land = absent == snapshots();
  if (params_.missing == Missing::drop || (land && params_.missing != Missing::refuse)) return false;
  if (params_.missing == Missing::fill) {
    if (seen == 0) return false;
    const double mean = sum / static_cast<double>(seen);
    for (std::int64_t t = 0; t < snapshots(); ++t)
      if (!std::isfinite(column[t * stride])) column[t * stride] = mean;
    return true;
  }
  if (const auto none = !land && stride == cells_ ? empty_snapshot(column - cell, cells_) : std::nullopt)
    throw KeyError("field.missing", "field.missing",
                   fmt::format("'{}' has no finite value in snapshot {}, as after a run that was interrupted; leave "
                               "the snapshot out of the file (cdo delete,timestep={})",
                               params_.array, *none, *none + 1));
  throw KeyError(
      "field.missing", "field.missing",
      fmt::format(
          "'{}' is NaN or missing in {} of {} snapshots at {} (first in snapshot {}) and no mask leaves that cell out; "
          "{}",
          params_.array, absent, snapshots(), place(cell), first,
          land ? "name a mask, or set missing: land"
               : "set missing: drop (leave such cells out) or missing: fill (use the cell's mean over the training "
                 "snapshots)"));
}

std::optional<std::int64_t> Field::empty_snapshot(const double* block, std::int64_t cells) const {
  for (std::int64_t t = 0; t < snapshots(); ++t)
    if (std::none_of(block + t * cells, block + (t + 1) * cells, [](double x) { return std::isfinite(x); })) return t;
  return {};
}

bool Field::cuts_chunks_of_files() const {
  std::vector<ArrayPiece> boxes;
  for (const auto& tile : tiles_) boxes.push_back({tile.start, tile.count});
  for (const auto& file : files_)
    if (const auto chunk = file.chunk(); !chunk.empty() && cuts_chunks(file.shape(), chunk, boxes)) return true;
  return false;
}

/// One pass over the files, in pieces of entire chunks; half of the buffer for a piece, half for its rows in order.
void Field::copy_tiles() {
  std::vector<std::int64_t> first;
  std::int64_t largest = 0;
  for (const auto& tile : tiles_) {
    first.push_back(tile.first);
    largest = std::max(largest, tile.cells);
  }
  first.push_back(tiles_.back().first + tiles_.back().cells);
  copy_ = std::make_unique<TileCopy>(context_.run_directory, first, snapshots());
  const std::int64_t most = std::max<std::int64_t>(1, largest * snapshots() / 2);
  std::vector<double> values;
  std::int64_t from = 0;
  for (const auto& file : files_) {
    auto chunk = file.chunk();
    if (chunk.empty()) chunk.assign(file.shape().size(), 1);
    for (const ArrayPiece& piece : pieces_of(file.shape(), chunk, first.front(), first.back(), most)) {
      values.resize(static_cast<std::size_t>(piece.values()));
      file.read(piece.start, piece.count, values.data());
      copy_->write(piece, file.shape(), from + piece.start[0], values.data());
      bytes_read_ += piece.values() * 8;
    }
    from += file.shape()[0];
  }
}

void Field::read_values(std::size_t number, double* out) {
  const Tile& tile = tiles_[number];
  if (copy_) return copy_->read(number, out);
  std::int64_t from = 0;
  for (const auto& file : files_) {
    auto start = tile.start, count = tile.count;
    const std::int64_t n = file.shape()[0];
    start.insert(start.begin(), 0);
    count.insert(count.begin(), n);
    file.read(start, count, out + from * tile.cells);
    from += n;
  }
  bytes_read_ += snapshots() * tile.cells * 8;
}

CellBlock Field::read(std::size_t number) {
  const Tile& tile = tiles_[number];
  if (copies_ && !copy_) copy_tiles();
  CellBlock block;
  block.values.resize(snapshots() * tile.cells);
  read_values(number, block.values.data());
  largest_block_ = std::max(largest_block_, snapshots() * tile.cells * 8);
  std::vector<std::int64_t> columns;
  for (std::int64_t i = 0; i < tile.cells; ++i) {
    const std::int64_t cell = tile.first + i;
    if ((mask_.empty() || mask_[cell]) && accept(block.values.data() + i, tile.cells, cell)) {
      columns.push_back(i);
      block.cells.push_back(cell);
    }
  }
  double* out = block.values.data();  // in place: the write position is below the read position
  for (std::int64_t t = 0; t < snapshots(); ++t)
    for (std::int64_t i : columns) *out++ = block.values[t * tile.cells + i];
  block.values.resize(out - block.values.data());
  normalise(block);
  return block;
}

void Field::normalise(CellBlock& block) const {
  const std::int64_t n = block.size();
  block.root_weight.assign(block.cells.size(), 1.0);
  fit_background(block);
  if (weights_ == AreaWeights::cos_latitude) {
    const auto axis = *first_file().axis(io::cf::Role::latitude);
    const auto& latitude = first_file().axes()[axis].values;
    std::int64_t per_row = 1;
    for (std::size_t k = axis + 1; k < first_file().axes().size(); ++k)
      per_row *= std::ssize(first_file().axes()[k].values);
    for (std::size_t i = 0; i < block.cells.size(); ++i) {
      const auto row = static_cast<std::size_t>(block.cells[i] / per_row % std::ssize(latitude));
      block.root_weight[i] = std::sqrt(std::max(0.0, std::cos(latitude[row] * constants::pi / 180.0)));
    }
  }
  for (std::int64_t t = 0; t < snapshots(); ++t)
    for (std::size_t i = 0; i < block.cells.size(); ++i) {
      double& x = block.values[static_cast<std::size_t>(t * n) + i];
      x = block.root_weight[i] * (x - block.mean[i]);
    }
}

void Field::for_each_block(const std::function<void(const CellBlock&)>& action) {
  ++passes_;
  io::on_every_rank(context_.comm, [&] {
    if (keep_ && !kept_.empty()) {
      for (const auto& block : kept_) action(block);
      return;
    }
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      CellBlock block = read(tile);
      action(block);
      if (keep_) kept_.push_back(std::move(block));
    }
  });
}

bool Field::look_through(double most_bytes) {
  const double cells = static_cast<double>((cells_ + context_.comm.size() - 1) / context_.comm.size());
  if (8.0 * static_cast<double>(snapshots()) * cells > most_bytes) {
    io::on_every_rank(context_.comm, [&] { look_at_first_snapshot(); });
    return false;
  }
  std::int64_t left = 0;
  copies_ = false;  // a check writes nothing
  for_each_block([&](const CellBlock& block) { left += block.size(); });
  require_cells(context_.comm.sum(left));
  return true;
}

void Field::look_at_first_snapshot() {
  if (params_.missing != Missing::refuse) return;
  std::vector<double> values;
  for (const auto& tile : tiles_) {
    auto start = tile.start, count = tile.count;
    start.insert(start.begin(), 0);
    count.insert(count.begin(), 1);
    values.resize(tile.cells);
    first_file().read(start, count, values.data());
    for (std::int64_t i = 0; i < tile.cells; ++i)
      if (!std::isfinite(values[i]) && (mask_.empty() || mask_[tile.first + i]))
        throw KeyError("field.missing.first", "field.missing",
                       fmt::format("'{}' is NaN or missing in the first snapshot at {} and no mask leaves that cell "
                                   "out; name a mask, or set missing: land (never any), drop or fill",
                                   params_.array, place(tile.first + i)));
  }
}

void Field::require_cells(std::int64_t cells) const {
  if (cells == 0)
    throw KeyError("field.mask.all", "field.mask",
                   fmt::format("no cell of '{}' is left; the mask and `missing` leave all of them out", params_.array));
}

}  // namespace cambium::podlstm
