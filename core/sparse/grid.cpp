#include <algorithm>
#include <optional>

#include "core/base/counts.hpp"
#include "core/sparse/divisions.hpp"
#include "core/sparse/entries.hpp"
#include "core/sparse/grid_block.hpp"
#include "core/sparse/groups.hpp"
#include "core/sparse/messages.hpp"
#include "core/sparse/row_coder.hpp"
#include "core/sparse/schemes.hpp"

namespace cambium::sparse {

namespace {

/// SUMMA on every layer, then each row block's sums over layers are reduced to the layer that owns the piece.
template <class T>
class GridProduct : public ProductBase<T> {
 public:
  GridProduct(const DividedMatrix& matrix, const LayoutKeys& keys, const Comm& comm)
      : ProductBase<T>(matrix, keys, comm), grid_(matrix.first, keys.scheme, comm.rank()),
        row_(comm, grid_.i * grid_.layers + grid_.k, grid_.j), column_(comm, grid_.j * grid_.layers + grid_.k, grid_.i),
        fibre_(comm, grid_.i * grid_.side + grid_.j, grid_.k), coder_(keys.codec, comm.rank(), comm.size()),
        forward_(blocks_of(matrix.own, matrix, comm)) {
    if (matrix.own_transposed) backward_.emplace(blocks_of(*matrix.own_transposed, matrix, comm));
    this->share_ = {grid_.piece(grid_.i, grid_.k), grid_.j, grid_.side, 0, 1};
  }

  void apply(std::int64_t width, Rows<const T> h, Rows<T> out) override { run(forward_, width, h, out); }
  void apply_transposed(std::int64_t width, Rows<const T> h, Rows<T> out) override {
    run(backward_ ? *backward_ : forward_, width, h, out);
  }
  void begin_step(std::uint64_t seed, std::int64_t step) override { coder_.begin_step(seed, step); }
  void sum_parts(std::span<T> of_rows) override { sum_over(of_rows, row_.comm(), this->words_); }
  void max_parts(std::span<T> of_rows) override { max_over(of_rows, row_.comm(), this->words_); }
  Rows<const T> whole_rows(std::int64_t width, Rows<const T> h) override;

 private:
  struct Stage {
    Stage(const Comm& row, const Comm& column, Words& words) : block(row, words), dense(column, words) {}
    Messages block, dense;
    std::vector<std::byte> block_bytes, dense_bytes;
    RowBuffer<T> rows;
  };

  GridBlocks<T> blocks_of(const Csr<double>& rows, const DividedMatrix& matrix, const Comm& comm) const {
    const auto entries = sent_to_owners(
        rows, matrix.first[at(comm.rank())],
        [&](std::int64_t row, std::int64_t column) { return grid_.owner(row, column); }, comm);
    return {converted<T>(block_of(entries, grid_.block(grid_.i), grid_.piece(grid_.j, grid_.k))), row_.comm()};
  }

  void start(const GridBlocks<T>& blocks, int m, Rows<const T> h, Stage& stage) {
    blocks.broadcast(m, stage.block_bytes, stage.block);
    const std::int64_t numbers = grid_.piece(m, grid_.k).size() * h.width;
    stage.dense_bytes.resize(at(coder_.bytes(numbers)));
    if (m == grid_.i) coder_.encode(h, stage.dense_bytes.data());
    stage.dense.broadcast(stage.dense_bytes.data(), std::ssize(stage.dense_bytes), m, numbers);
  }

  void run(const GridBlocks<T>& blocks, std::int64_t width, Rows<const T> h, Rows<T> out) {
    const Range columns = this->share_.columns(width);
    const auto sums = grid_.layers == 1 ? out : sums_.rows(grid_.block(grid_.i).size(), columns.size());
    start(blocks, 0, h, stages_[0]);
    for (int m = 0; m < grid_.side; ++m) {
      Stage& here = stages_[m % 2];
      if (m + 1 < grid_.side) start(blocks, m + 1, h, stages_[(m + 1) % 2]);
      here.block.wait();
      here.dense.wait();
      multiply_block<T>(blocks.received(m, grid_.piece(m, grid_.k).size(), here.block_bytes, block_),
                        m == grid_.i ? h : decoded(m, columns.size(), here), sums, m > 0);
    }
    if (grid_.layers > 1) add_layers(sums, out);
  }

  Rows<const T> decoded(int m, std::int64_t width, Stage& stage) {
    const auto rows = stage.rows.rows(grid_.piece(m, grid_.k).size(), width);
    coder_.decode(stage.dense_bytes.data(), rows);
    return rows;
  }

  void add_layers(Rows<const T> sums, Rows<T> out);

  Grid grid_;
  Group row_, column_, fibre_;
  RowCoder<T> coder_;
  Stage stages_[2] = {Stage(row_.comm(), column_.comm(), this->words_),
                      Stage(row_.comm(), column_.comm(), this->words_)};
  GridBlocks<T> forward_;
  std::optional<GridBlocks<T>> backward_;
  Csr<T> block_;  ///< of another rank, as received
  RowBuffer<T> sums_, parts_, whole_;
};

/// Every layer sends each other one its piece of the row block; they are added in the order of layers.
template <class T>
void GridProduct<T>::add_layers(Rows<const T> sums, Rows<T> out) {
  const std::int64_t width = out.width, numbers = out.rows * width, size = sizeof(T);
  const auto parts = parts_.rows(out.rows * grid_.layers, width);
  const std::int64_t base = grid_.block(grid_.i).begin;
  Messages messages(fibre_.comm(), this->words_);
  for (int layer = 0; layer < grid_.layers; ++layer) {
    const Range piece = grid_.piece(grid_.i, layer);
    const T* from = sums.row(piece.begin - base);
    if (layer == grid_.k) {
      std::copy_n(from, numbers, parts.row(layer * out.rows));
      continue;
    }
    messages.receive(reinterpret_cast<std::byte*>(parts.row(layer * out.rows)), numbers * size, layer, numbers);
    messages.send(reinterpret_cast<const std::byte*>(from), piece.size() * width * size, layer);
  }
  messages.wait();
  for (std::int64_t row = 0; row < out.rows; ++row)
    for (std::int64_t c = 0; c < width; ++c) {
      T sum = parts.row(row)[c];
      for (int layer = 1; layer < grid_.layers; ++layer) sum += parts.row(layer * out.rows + row)[c];
      out.row(row)[c] = sum;
    }
}

/// Parts are sent unencoded: the ranks of a row compute with the same values.
template <class T>
Rows<const T> GridProduct<T>::whole_rows(std::int64_t width, Rows<const T> h) {
  if (grid_.side == 1) return h;
  const std::int64_t size = sizeof(T), most = (width + grid_.side - 1) / grid_.side;
  const auto own = sums_.rows(h.rows, h.width), parts = parts_.rows(h.rows * grid_.side, most),
             whole = whole_.rows(h.rows, width);
  for (std::int64_t row = 0; row < h.rows; ++row) std::copy_n(h.row(row), h.width, own.row(row));
  const auto columns = [&](int part) { return Share{{}, part, grid_.side, 0, 1}.columns(width); };
  Messages messages(row_.comm(), this->words_);
  for (int part = 0; part < grid_.side; ++part) {
    if (part == grid_.j) continue;
    const std::int64_t numbers = h.rows * columns(part).size();
    messages.receive(reinterpret_cast<std::byte*>(parts.row(part * h.rows)), numbers * size, part, numbers);
    messages.send(reinterpret_cast<const std::byte*>(own.data), h.rows * h.width * size, part);
  }
  messages.wait();
  for (int part = 0; part < grid_.side; ++part) {
    const Range range = columns(part);
    const T* from = part == grid_.j ? own.data : parts.row(part * h.rows);
    for (std::int64_t row = 0; row < h.rows; ++row, from += range.size())
      std::copy_n(from, range.size(), whole.row(row) + range.begin);
  }
  return whole;
}

}  // namespace

template <class T>
std::unique_ptr<DividedProduct<T>> make_grid(const DividedMatrix& matrix, const LayoutKeys& keys, const Comm& comm) {
  return std::make_unique<GridProduct<T>>(matrix, keys, comm);
}
template std::unique_ptr<DividedProduct<double>> make_grid(const DividedMatrix&, const LayoutKeys&, const Comm&);
template std::unique_ptr<DividedProduct<float>> make_grid(const DividedMatrix&, const LayoutKeys&, const Comm&);

}  // namespace cambium::sparse
