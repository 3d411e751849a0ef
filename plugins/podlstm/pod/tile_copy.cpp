#include "plugins/podlstm/pod/tile_copy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"

namespace cambium::podlstm {
namespace {

std::int64_t product_of(std::span<const std::int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies<>());
}

/// Calls action(start, count) for the boxes of `extent` (multiples of a chunk, except the last along an axis) that
/// cover start..start+count-1; the last axis changes fastest.
void for_each_box(const ArrayPiece& whole, const std::vector<std::int64_t>& extent,
                  const std::function<void(const ArrayPiece&)>& action) {
  ArrayPiece box = whole;
  const std::size_t rank = extent.size();
  for (std::size_t k = 0; k < rank; ++k) box.start[k] = whole.start[k] / extent[k] * extent[k];
  const auto origin = box.start;
  for (;;) {
    ArrayPiece cut = box;
    for (std::size_t k = 0; k < rank; ++k) {
      cut.start[k] = std::max(box.start[k], whole.start[k]);
      cut.count[k] = std::min(box.start[k] + extent[k], whole.start[k] + whole.count[k]) - cut.start[k];
    }
    action(cut);
    std::size_t k = rank;
    while (k > 0 && (box.start[k - 1] += extent[k - 1]) >= whole.start[k - 1] + whole.count[k - 1]) {
      box.start[k - 1] = origin[k - 1];
      --k;
    }
    if (k == 0) return;
  }
}

}  // namespace

std::int64_t ArrayPiece::values() const { return product_of(count); }

std::vector<ArrayPiece> pieces_of(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& chunk,
                                  std::int64_t first, std::int64_t last, std::int64_t most) {
  const std::int64_t row = product_of(std::span(shape).subspan(2));  // cells per index of the first spatial axis
  ArrayPiece whole{std::vector<std::int64_t>(shape.size(), 0), shape};
  whole.start[1] = first / row;
  whole.count[1] = (last + row - 1) / row - whole.start[1];
  // The largest boxes possible, filled along the last axes first, which gives the longest rows. Entire chunks, if one
  // fits.
  std::vector<std::int64_t> extent(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 0;) extent[k] = std::min(chunk[k], shape[k]);
  for (std::size_t k = 0; product_of(extent) > most && k < shape.size(); ++k)
    extent[k] = std::max<std::int64_t>(1, extent[k] / ((product_of(extent) + most - 1) / most));
  for (std::size_t k = shape.size(); k-- > 0;) {
    const std::int64_t fit = most / std::max<std::int64_t>(1, product_of(extent));
    if (fit > 1) extent[k] = std::min(shape[k], extent[k] * fit);
  }
  std::vector<ArrayPiece> out;
  for_each_box(whole, extent, [&](const ArrayPiece& box) { out.push_back(box); });
  return out;
}

bool cuts_chunks(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& chunk,
                 const std::vector<ArrayPiece>& boxes) {
  for (const ArrayPiece& box : boxes)
    for (std::size_t k = 1; k < shape.size(); ++k) {
      const std::int64_t from = box.start[k - 1], to = from + box.count[k - 1];
      if (from % chunk[k] != 0 || (to % chunk[k] != 0 && to != shape[k])) return true;
    }
  return false;
}

TileCopy::TileCopy(const std::string& folder, std::vector<std::int64_t> first, std::int64_t snapshots)
    : folder_(folder), first_(std::move(first)), snapshots_(snapshots) {
  std::string name = folder + "/cambium.tiles.XXXXXX";
  file_ = mkstemp(name.data());
  if (file_ < 0)
    throw InputError(
        fmt::format("no file can be made in '{}' for the blocks of a field that is larger than 'buffer': "
                    "{}; give a larger 'buffer', or another folder of the run",
                    folder, std::strerror(errno)));
  unlink(name.c_str());
}

TileCopy::~TileCopy() { close(file_); }

/// Offset of a snapshot of a tile, in values.
std::int64_t TileCopy::place(std::size_t tile, std::int64_t snapshot) const {
  return (first_[tile] - first_.front()) * snapshots_ + snapshot * (first_[tile + 1] - first_[tile]);
}

void TileCopy::write_at(std::int64_t place, const double* values, std::int64_t count) const {
  const auto* from = reinterpret_cast<const char*>(values);
  auto left = static_cast<std::size_t>(count) * sizeof(double);
  auto at = static_cast<off_t>(place) * static_cast<off_t>(sizeof(double));
  while (left > 0) {
    const ssize_t done = pwrite(file_, from, left, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      throw InputError(
          fmt::format("the blocks of a field that is larger than 'buffer' take {:.3g} GB of '{}', which "
                      "failed: {}; make room there, or give a larger 'buffer'",
                      1e-9 * 8.0 * static_cast<double>((first_.back() - first_.front()) * snapshots_), folder_,
                      std::strerror(errno)));
    from += done;
    left -= static_cast<std::size_t>(done);
    at += done;
  }
}

void TileCopy::write(const ArrayPiece& piece, const std::vector<std::int64_t>& shape, std::int64_t from,
                     const double* values) {
  // Contiguous cells in the array: along the last axis, and along those before it if it is complete.
  const std::size_t rank = shape.size();
  std::size_t k = rank - 1;
  std::int64_t run = piece.count[k];
  while (k > 1 && piece.count[k] == shape[k]) run *= piece.count[--k];
  const std::int64_t cells = product_of(std::span(piece.count).subspan(1)), times = piece.count[0];
  for (std::int64_t offset = 0; offset < cells; offset += run) {
    std::int64_t left = offset, flat = 0, stride = 1;
    for (std::size_t a = rank; a-- > 1; stride *= shape[a]) {
      flat += (piece.start[a] + left % piece.count[a]) * stride;
      left /= piece.count[a];
    }
    std::int64_t here = std::max(flat, first_.front());
    while (here < std::min(flat + run, first_.back())) {
      const auto tile =
          static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), here) - first_.begin()) - 1;
      const std::int64_t end = std::min(flat + run, first_[tile + 1]), n = end - here,
                         width = first_[tile + 1] - first_[tile];
      const double* const source = values + offset + (here - flat);
      if (n == width) {  // rows of a tile are contiguous
        rows_.resize(static_cast<std::size_t>(times * n));
        for (std::int64_t t = 0; t < times; ++t) std::copy_n(source + t * cells, n, rows_.data() + t * n);
        write_at(place(tile, from), rows_.data(), times * n);
      } else {
        for (std::int64_t t = 0; t < times; ++t)
          write_at(place(tile, from + t) + here - first_[tile], source + t * cells, n);
      }
      here = end;
    }
  }
}

void TileCopy::read(std::size_t tile, double* out) const {
  auto* to = reinterpret_cast<char*>(out);
  auto left = static_cast<std::size_t>((first_[tile + 1] - first_[tile]) * snapshots_) * sizeof(double);
  auto at = static_cast<off_t>(place(tile, 0)) * static_cast<off_t>(sizeof(double));
  while (left > 0) {
    const ssize_t done = pread(file_, to, left, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      throw InputError(
          fmt::format("the blocks of a field in '{}' cannot be read back: {}", folder_, std::strerror(errno)));
    to += done;
    left -= static_cast<std::size_t>(done);
    at += done;
  }
}

}  // namespace cambium::podlstm
