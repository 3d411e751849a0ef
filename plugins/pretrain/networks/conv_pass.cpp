#include "plugins/pretrain/networks/conv_pass.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/pack.hpp"
#include "plugins/pretrain/networks/register_width.hpp"

namespace cambium::pretrain {
namespace {

/// Values of one field, and the sums of a gathering over its cells.
template <class T>
struct Job {
  const Gathering& g;
  const T* values;
  std::int64_t channels;  ///< of values
  const T *weights, *bias;
  std::int64_t all;  ///< channels of results
  T* results;
};

/// Results in registers, N registers for each of R cells that share every weight. Step: distance between the values of
/// the cells in each group of four, which then need one address; 0: each needs its own.
template <class T, int W, int N, int R, int Step>
void gather_cells(const Job<T>& job, std::size_t cell, std::int64_t first) {
  using P = Pack<T, W>;
  constexpr int addresses = Step > 0 ? R / 4 : R, each = R / addresses;
  P sums[R][N];
  const T* at[addresses];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sums[r][n] = P::load(job.bias + first + n * W);
#pragma GCC unroll 16
  for (int a = 0; a < addresses; ++a)
    at[a] = job.values + job.g.from[cell + static_cast<std::size_t>(a * each)] * job.channels;
  for (const auto& run : job.g.runs) {
    const T* w = job.weights + run.weight * job.channels * job.all + first;
    const auto begin = run.offset * job.channels, end = begin + run.length * job.channels;
    for (auto c = begin; c < end; ++c, w += job.all) {
      P by[N];
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) by[n] = P::load(w + n * W);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const P value(at[r / each][c + r % each * Step]);
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n) sums[r][n] = fma(value, by[n], sums[r][n]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n)
      sums[r][n].store(job.results + job.g.to[cell + static_cast<std::size_t>(r)] * job.all + first + n * W);
}

template <class T, int W, int N, int R, int Step>
void gather_from(const Job<T>& job, std::size_t cell, std::int64_t first) {
  for (; cell + R <= job.g.from.size(); cell += R) gather_cells<T, W, N, R, Step>(job, cell, first);
  if constexpr (R > 4)
    gather_from<T, W, N, R / 2, Step>(job, cell, first);
  else if constexpr (R > 1)
    gather_from<T, W, N, R / 2, 0>(job, cell, first);
}

/// All channels of results.
template <class T, int W, int Step>
void gather_channels(const Job<T>& job) {
  constexpr int R = Step > 0 && W * sizeof(T) == 64 ? 8 : 4;
  std::int64_t first = 0;
  for (; first + 2 * W <= job.all; first += 2 * W) gather_from<T, W, 2, R, Step>(job, 0, first);
  if (first < job.all) gather_from<T, W, 1, 2 * R, Step>(job, 0, first);
}

template <class T>
void gather(const Job<T>& job) {
  with_register_width<T>(job.all, [&](auto w) {
    constexpr int W = decltype(w)::value;
    if constexpr (W > 1 && W == native_width<T>) {
      switch (job.g.step_of_four() * job.channels) {
        case 4:
          return gather_channels<T, W, 4>(job);
        case 8:
          return gather_channels<T, W, 8>(job);
        case 16:
          return gather_channels<T, W, 16>(job);
        case 32:
          return gather_channels<T, W, 32>(job);
        case 64:
          return gather_channels<T, W, 64>(job);
        case 128:
          return gather_channels<T, W, 128>(job);
      }
    }
    gather_channels<T, W, 0>(job);
  });
}

/// Contributions to a weight gradient, [row][output].
template <class T>
struct RowsJob {
  const Gathering& g;
  const std::vector<std::int64_t>& rows;  ///< offset of each row's values from a cell
  const T* values;
  std::int64_t inputs;
  const T* dy;
  std::int64_t outputs;
  T* dweight;
};

struct Cells {
  std::size_t begin, end;
};

/// R rows from `row`, N registers of each from channel `first`: all these cells contribute. Their values are
/// contiguous, or `Apart`.
template <class T, int W, int N, int R, bool Apart>
void add_rows(const RowsJob<T>& job, Cells cells, std::size_t row, std::int64_t first) {
  using P = Pack<T, W>;
  P sums[R][N];
  const T* at[Apart ? R : 1];
  T* const to = job.dweight + static_cast<std::int64_t>(row) * job.outputs + first;
#pragma GCC unroll 16
  for (std::size_t r = 0; r < (Apart ? R : 1); ++r) at[r] = job.values + job.rows[row + r];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sums[r][n] = P::load(to + r * job.outputs + n * W);
  const T* d = job.dy + static_cast<std::int64_t>(cells.begin) * job.outputs + first;
  for (std::size_t cell = cells.begin; cell < cells.end; ++cell, d += job.outputs) {
    const auto from = job.g.from[cell] * job.inputs;
    P by[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) by[n] = P::load(d + n * W);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const P value(Apart ? at[Apart ? r : 0][from] : at[0][from + r]);
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sums[r][n] = fma(value, by[n], sums[r][n]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sums[r][n].store(to + r * job.outputs + n * W);
}

template <class T, int W, int N, int R>
void add_rows_from(const RowsJob<T>& job, Cells cells, std::size_t row, std::int64_t first) {
  for (; row + R <= job.rows.size(); row += R) {
    const bool apart = job.rows[row + R - 1] - job.rows[row] != R - 1;
    (apart ? add_rows<T, W, N, R, true> : add_rows<T, W, N, R, false>)(job, cells, row, first);
  }
  if constexpr (R > 1) add_rows_from<T, W, N, R / 2>(job, cells, row, first);
}

template <class T>
void add_rows_of(const RowsJob<T>& job) {
  constexpr std::size_t together = 128;  // the values stay in the L1 cache for all rows
  with_register_width<T>(job.outputs, [&](auto w) {
    constexpr int W = decltype(w)::value, R = W * sizeof(T) == 64 ? 8 : 4;
    for (std::size_t begin = 0; begin < job.g.from.size(); begin += together) {
      const Cells cells{begin, std::min(begin + together, job.g.from.size())};
      std::int64_t first = 0;
      for (; first + 2 * W <= job.outputs; first += 2 * W) add_rows_from<T, W, 2, R>(job, cells, 0, first);
      if (first < job.outputs) add_rows_from<T, W, 1, 2 * R>(job, cells, 0, first);
    }
  });
}

}  // namespace

template <class T>
ConvPass<T>::ConvPass(const ConvShape& shape, const T* weight, const T* bias)
    : shape_(shape), entering_(shape.cells, shape.periodic), leaving_(shape.out(), shape.periodic),
      forward_(forward_gathering(shape, entering_)), backward_(backward_gatherings(shape, leaving_)),
      bias_(bias, bias + shape.outputs), zeros_(static_cast<std::size_t>(shape.inputs), T(0)) {
  if (!shape.handled()) throw InternalError("a convolution that ConvPass does not support");
  for (const auto& run : forward_.runs)
    for (std::int64_t c = 0; c < run.length * shape.inputs; ++c) rows_.push_back(run.offset * shape.inputs + c);
  const auto taps = shape.taps(), in = shape.inputs, out = shape.outputs;
  by_output_.resize(taps * in * out);
  by_input_.resize(by_output_.size());
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t c = 0; c < in; ++c)
      for (std::int64_t t = 0; t < taps; ++t) {
        const T w = weight[(o * in + c) * taps + t];
        by_output_[(t * in + c) * out + o] = w;
        by_input_[((taps - 1 - t) * out + o) * in + c] = w;
      }
}

template <class T>
const T* ConvPass<T>::around(const Surrounded& cells, const T* values, std::int64_t channels, std::vector<T>& room) {
  if (const auto n = static_cast<std::size_t>(cells.count() * channels); room.size() < n) room.resize(n);
  cells.fill(values, channels, room.data());
  return room.data();
}

template <class T>
void ConvPass<T>::forward(const T* x, T* y, std::vector<T>& room) const {
  const T* values = around(entering_, x, shape_.inputs, room);
  gather<T>({forward_, values, shape_.inputs, by_output_.data(), bias_.data(), shape_.outputs, y});
}

template <class T>
void ConvPass<T>::input_gradient(const T* dy, T* dx, std::vector<T>& room) const {
  const T* values = around(leaving_, dy, shape_.outputs, room);
  for (const auto& g : backward_)
    gather<T>({g, values, shape_.outputs, by_input_.data(), zeros_.data(), shape_.inputs, dx});
}

template <class T>
void ConvPass<T>::add_weight_gradient(const T* x, const T* dy, T* dweight, std::vector<T>& room) const {
  const T* values = around(entering_, x, shape_.inputs, room);
  add_rows_of<T>({forward_, rows_, values, shape_.inputs, dy, shape_.outputs, dweight});
}

template class ConvPass<float>;
template class ConvPass<double>;

}  // namespace cambium::pretrain
