#include "core/train/tables/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"

namespace cambium::train {

template <class T>
std::int64_t TablePieces<T>::block_of(std::int64_t width) const {
  constexpr std::int64_t bytes = 64'000'000;
  return std::max<std::int64_t>(1, bytes / (width * static_cast<std::int64_t>(sizeof(T))));
}

/// Collective: the rows of a piece, in order, on rank 0.
template <class T>
std::vector<T> TablePieces<T>::exchange(Piece piece) {
  const int table = static_cast<int>(piece.table);
  const auto part = static_cast<Part>(piece.part);
  const std::int64_t width = store_.width(table, part);
  const auto range = [&](int rank) {
    return std::pair(places_.held_below(table, rank, piece.begin), places_.held_below(table, rank, piece.end));
  };
  const auto mine = range(comm_.rank());
  std::vector<T> own((mine.second - mine.first) * width);
  store_.copy_out(table, part, mine.first, mine.second - mine.first, own.data());
  std::vector<int> counts, starts{0};
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const auto [from, to] = range(rank);
    counts.push_back(static_cast<int>((to - from) * width));
    starts.push_back(starts.back() + counts.back());
  }
  std::vector<T> by_rank(comm_.root() ? static_cast<std::size_t>(starts.back()) : 0), out(by_rank.size());
  const MPI_Datatype type = sizeof(T) == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), type, by_rank.data(), counts.data(), starts.data(), type, 0,
              comm_.handle());
  if (!comm_.root()) return out;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const auto [from, to] = range(rank);
    const T* row = by_rank.data() + starts[rank];
    for (auto k = from; k < to; ++k, row += width)
      std::copy_n(row, width, out.data() + (places_.first(table, rank) + k * places_.stride() - piece.begin) * width);
  }
  return out;
}

/// Rank 0 broadcasts the next piece.
static void announce(Piece& piece, const Comm& comm) {
  std::array<std::int64_t, 4> numbers{piece.table, piece.part, piece.begin, piece.end};
  MPI_Bcast(numbers.data(), 4, MPI_INT64_T, 0, comm.handle());
  piece = {numbers[0], numbers[1], numbers[2], numbers[3]};
}

template <class T>
void TablePieces<T>::write(io::File& file, Part part, const std::string& name) {
  for (std::int64_t t = 0; t < std::ssize(tables_); ++t) {
    const TableInfo& info = tables_[t];
    const std::int64_t width = store_.width(static_cast<int>(t), part);
    if (width == 0) continue;
    const std::int64_t shape[] = {info.rows, width};
    auto array = file.allocate(fmt::format("/rows/{}/{}", info.name, name), dtype_of<T>(), shape);
    for (std::int64_t begin = 0; begin < info.rows; begin += block_of(width)) {
      Piece piece{t, static_cast<std::int64_t>(part), begin, std::min(info.rows, begin + block_of(width))};
      announce(piece, comm_);
      const auto rows = exchange(piece);
      const std::int64_t at[] = {begin, 0};
      array.write_block(at, io::tensor_of(rows.data(), {piece.end - piece.begin, width}));
    }
  }
}

template <class T>
void TablePieces<T>::serve() {
  for (Piece piece;; exchange(piece)) {
    announce(piece, comm_);
    if (piece.table < 0) return;
  }
}

template <class T>
void TablePieces<T>::end_serving() {
  Piece end;
  announce(end, comm_);
}

template <class T>
void TablePieces<T>::read(const io::File& file, Part into, const std::string& from) {
  for (std::int64_t t = 0; t < std::ssize(tables_); ++t) {
    const TableInfo& info = tables_[t];
    const int table = static_cast<int>(t);
    const std::int64_t width = store_.width(table, into);
    if (width == 0) continue;
    const std::string name = fmt::format("/rows/{}/{}", info.name, from);
    const std::vector<std::int64_t> shape{info.rows, width};
    if (!file.exists(name) || file.dataset(name).shape() != shape)
      throw InputError(fmt::format(
          "'{}': table '{}' needs {} of shape [{}, {}], but the file has {}; take the network and tables that wrote it",
          file.file(), info.name, name, info.rows, width,
          file.exists(name) ? fmt::format("[{}]", fmt::join(file.dataset(name).shape(), ", ")) : "no such array"));
    const auto array = file.dataset(name);
    std::vector<T> rows, own;
    for (std::int64_t begin = 0; begin < info.rows; begin += block_of(width)) {
      const std::int64_t end = std::min(info.rows, begin + block_of(width));
      const std::int64_t first = places_.held_below(table, comm_.rank(), begin),
                         last = places_.held_below(table, comm_.rank(), end);
      if (first == last) continue;
      rows.resize((end - begin) * width);
      const std::int64_t at[] = {begin, 0};
      array.read_block(at, io::tensor_of(rows.data(), {end - begin, width}));
      own.resize((last - first) * width);
      for (auto k = first; k < last; ++k)
        std::copy_n(rows.data() + (places_.first(table, comm_.rank()) + k * places_.stride() - begin) * width, width,
                    own.data() + (k - first) * width);
      store_.copy_in(table, into, first, last - first, own.data());
    }
  }
}

template class TablePieces<double>;
template class TablePieces<float>;

}  // namespace cambium::train
