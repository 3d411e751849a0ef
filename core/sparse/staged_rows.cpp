#include <optional>

#include "core/base/counts.hpp"
#include "core/sparse/divisions.hpp"
#include "core/sparse/entries.hpp"
#include "core/sparse/groups.hpp"
#include "core/sparse/messages.hpp"
#include "core/sparse/row_coder.hpp"
#include "core/sparse/schemes.hpp"

namespace cambium::sparse {

namespace {

/// The own range of rows of A or of its transpose, split at the ranges of the stages.
template <class T>
std::vector<Csr<T>> blocks_of(const Csr<double>& rows, const DividedMatrix& matrix, const Ranges& ranges,
                              const Comm& comm) {
  const auto owner = [&](std::int64_t row, std::int64_t column) {
    return range_of(ranges.first, row) * ranges.copies + ranges.copy_of(range_of(ranges.first, column));
  };
  const auto entries = sent_to_owners(rows, matrix.first[at(comm.rank())], owner, comm);
  std::vector<Csr<T>> out;
  for (int q = ranges.stages_begin(ranges.copy); q < ranges.stages_begin(ranges.copy + 1); ++q)
    out.push_back(converted<T>(block_of(entries, ranges.of(ranges.range), ranges.of(q))));
  return out;
}

/// Range after range is sent to all ranks of a column of the grid of ranges and copies; the copies sum the results of
/// their stages.
template <class T>
class StagedRows : public ProductBase<T> {
 public:
  StagedRows(const DividedMatrix& matrix, const LayoutKeys& keys, const Comm& comm)
      : ProductBase<T>(matrix, keys, comm), ranges_(matrix.first, keys.copies, comm.rank()),
        column_(comm, ranges_.copy, ranges_.range), row_(comm, ranges_.range, ranges_.copy),
        coder_(keys.codec, comm.rank(), comm.size()), forward_(blocks_of<T>(matrix.own, matrix, ranges_, comm)) {
    if (matrix.own_transposed) backward_ = blocks_of<T>(*matrix.own_transposed, matrix, ranges_, comm);
    this->share_ = {ranges_.of(ranges_.range), 0, 1, ranges_.copy, ranges_.copies};
  }

  void apply(std::int64_t, Rows<const T> h, Rows<T> out) override { run(forward_, h, out); }
  void apply_transposed(std::int64_t, Rows<const T> h, Rows<T> out) override {
    run(backward_ ? *backward_ : forward_, h, out);
  }
  void begin_step(std::uint64_t seed, std::int64_t step) override { coder_.begin_step(seed, step); }

 private:
  /// Rows of one stage in flight.
  struct Stage {
    explicit Stage(const Comm& comm, Words& words) : messages(comm, words) {}
    Messages messages;
    std::vector<std::byte> bytes;
    RowBuffer<T> rows;
  };

  void start(int q, Rows<const T> h, Stage& stage) {
    const std::int64_t numbers = ranges_.of(q).size() * h.width;
    stage.bytes.resize(at(coder_.bytes(numbers)));
    if (q == ranges_.range) coder_.encode(h, stage.bytes.data());
    stage.messages.broadcast(stage.bytes.data(), std::ssize(stage.bytes), q, numbers);
  }

  /// The own range needs no message: it is first, while others are in flight, unless sums keep the column order.
  void run(const std::vector<Csr<T>>& blocks, Rows<const T> h, Rows<T> out) {
    const int begin = ranges_.stages_begin(ranges_.copy), end = begin + static_cast<int>(blocks.size());
    const bool own = begin <= ranges_.range && ranges_.range < end, own_first = own && !this->keys_.ordered;
    start(begin, h, stages_[0]);
    if (own_first) multiply_block<T>(blocks[at(ranges_.range - begin)], h, out, false);
    bool add = own_first;
    for (int q = begin; q < end; ++q) {
      Stage& here = stages_[(q - begin) % 2];
      if (q + 1 < end) start(q + 1, h, stages_[(q + 1 - begin) % 2]);
      here.messages.wait();
      if (q == ranges_.range && own_first) continue;
      multiply_block<T>(blocks[at(q - begin)], q == ranges_.range ? h : decoded(q, h.width, here), out, add);
      add = true;
    }
    add_copies(out);
  }

  Rows<const T> decoded(int q, std::int64_t width, Stage& stage) {
    const auto rows = stage.rows.rows(ranges_.of(q).size(), width);
    coder_.decode(stage.bytes.data(), rows);
    return rows;
  }

  void add_copies(Rows<T> out) {
    if (ranges_.copies == 1) return;
    const auto all = sums_.rows(out.rows, out.width);
    for (std::int64_t i = 0; i < out.rows; ++i) std::copy_n(out.row(i), out.width, all.row(i));
    sum_over(std::span<T>(all.data, at(out.rows * out.width)), row_.comm(), this->words_);
    for (std::int64_t i = 0; i < out.rows; ++i) std::copy_n(all.row(i), out.width, out.row(i));
  }

  Ranges ranges_;
  Group column_, row_;
  RowCoder<T> coder_;
  Stage stages_[2] = {Stage(column_.comm(), this->words_), Stage(column_.comm(), this->words_)};
  RowBuffer<T> sums_;
  std::vector<Csr<T>> forward_;
  std::optional<std::vector<Csr<T>>> backward_;
};

}  // namespace

template <class T>
std::unique_ptr<DividedProduct<T>> make_staged_rows(const DividedMatrix& matrix, const LayoutKeys& keys,
                                                    const Comm& comm) {
  return std::make_unique<StagedRows<T>>(matrix, keys, comm);
}
template std::unique_ptr<DividedProduct<double>> make_staged_rows(const DividedMatrix&, const LayoutKeys&, const Comm&);
template std::unique_ptr<DividedProduct<float>> make_staged_rows(const DividedMatrix&, const LayoutKeys&, const Comm&);

}  // namespace cambium::sparse
