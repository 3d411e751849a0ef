#include <algorithm>
#include <optional>

#include "core/sparse/row_exchange.hpp"
#include "core/sparse/schemes.hpp"

namespace cambium::sparse {

namespace {

/// The own rows split by columns: own, of lower and of higher ranks; if sums need no order, all columns of others are
/// in `lower`, for a single product.
template <class T>
struct CutRows {
  Csr<T> own, lower, higher;
  std::vector<std::int32_t> wanted;  ///< first those of lower ranks

  CutRows(const Csr<double>& rows, std::span<const std::int64_t> first, int rank, bool ordered) {
    const auto r = static_cast<std::size_t>(rank);
    const Range mine{first[r], first[r + 1]};
    const auto local = local_rows(converted<T>(rows), first, rank);
    wanted = local.wanted;
    const std::int64_t below =
        ordered ? std::lower_bound(wanted.begin(), wanted.end(), mine.begin) - wanted.begin() : std::ssize(wanted);
    own = columns_of(local.matrix, {0, mine.size()});
    lower = columns_of(local.matrix, {mine.size(), mine.size() + below});
    higher = columns_of(local.matrix, {mine.size() + below, local.matrix.columns});
  }

  static Csr<T> columns_of(const Csr<T>& rows, Range columns) {
    Csr<T> out;
    out.rows = rows.rows;
    out.columns = columns.size();
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      for (std::size_t e = 0; e < rows.length(i); ++e)
        if (columns.holds(rows.columns_of(i)[e])) {
          out.column.push_back(static_cast<std::int32_t>(rows.columns_of(i)[e] - columns.begin));
          out.value.push_back(rows.values_of(i)[e]);
        }
      out.start.push_back(std::ssize(out.column));
    }
    return out;
  }
};

/// One of the products with A and with its transpose.
template <class T>
class Direction {
 public:
  Direction(const Csr<double>& rows, std::span<const std::int64_t> first, const LayoutKeys& keys, const Comm& comm)
      : rows_(rows, first, comm.rank(), keys.ordered), exchange_(first, rows_.wanted, keys.codec, comm),
        ordered_(keys.ordered) {}

  /// Multiplies own columns while the others' rows are in flight; in column order if that must be kept.
  void apply(Rows<const T> h, Rows<T> out) {
    const auto wanted = buffer_.rows(exchange_.wanted_rows(), h.width);
    const Rows<const T> lower{wanted.data, rows_.lower.columns, h.width, wanted.stride},
        higher{wanted.row(rows_.lower.columns), rows_.higher.columns, h.width, wanted.stride};
    exchange_.begin(h, wanted);
    if (!ordered_) multiply_block<T>(rows_.own, h, out, false);
    exchange_.finish();
    multiply_block<T>(rows_.lower, lower, out, !ordered_);
    if (ordered_) multiply_block<T>(rows_.own, h, out, true);
    multiply_block<T>(rows_.higher, higher, out, true);
  }

  RowExchange<T>& exchange() { return exchange_; }

 private:
  CutRows<T> rows_;
  RowExchange<T> exchange_;
  RowBuffer<T> buffer_;
  bool ordered_;
};

template <class T>
class NeededRows : public ProductBase<T> {
 public:
  NeededRows(const DividedMatrix& matrix, const LayoutKeys& keys, const Comm& comm)
      : ProductBase<T>(matrix, keys, comm), forward_(matrix.own, matrix.first, keys, comm) {
    if (matrix.own_transposed) backward_.emplace(*matrix.own_transposed, matrix.first, keys, comm);
    const auto rank = static_cast<std::size_t>(comm.rank());
    this->share_.rows = {matrix.first[rank], matrix.first[rank + 1]};
  }

  void apply(std::int64_t, Rows<const T> h, Rows<T> out) override { run(forward_, h, out); }
  void apply_transposed(std::int64_t, Rows<const T> h, Rows<T> out) override {
    run(backward_ ? *backward_ : forward_, h, out);
  }
  void begin_step(std::uint64_t seed, std::int64_t step) override {
    forward_.exchange().begin_step(seed, step);
    if (backward_) backward_->exchange().begin_step(seed, step);
  }

 private:
  void run(Direction<T>& direction, Rows<const T> h, Rows<T> out) {
    direction.apply(h, out);
    this->words_ = forward_.exchange().words();
    if (backward_) this->words_ += backward_->exchange().words();
  }

  Direction<T> forward_;
  std::optional<Direction<T>> backward_;
};

}  // namespace

template <class T>
std::unique_ptr<DividedProduct<T>> make_needed_rows(const DividedMatrix& matrix, const LayoutKeys& keys,
                                                    const Comm& comm) {
  return std::make_unique<NeededRows<T>>(matrix, keys, comm);
}
template std::unique_ptr<DividedProduct<double>> make_needed_rows(const DividedMatrix&, const LayoutKeys&, const Comm&);
template std::unique_ptr<DividedProduct<float>> make_needed_rows(const DividedMatrix&, const LayoutKeys&, const Comm&);

}  // namespace cambium::sparse
