#include "plugins/cosmo/networks/pooled_convolution.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/pack.hpp"

namespace cambium::cosmo {
namespace {

/// Strides of a cube with one layer of ghost cells.
struct Padded {
  std::int64_t edge, inputs;
  std::int64_t x() const { return edge * edge * inputs; }
  std::int64_t y() const { return edge * inputs; }
  std::size_t size() const { return static_cast<std::size_t>(edge * x()); }
};

Padded padded(const PooledShape& s) { return {s.cells + 2, s.inputs}; }

/// For each row along z of the padded cube: visit(its first element, first element of the row that it copies).
template <class Visit>
void for_each_row(const PooledShape& s, const Visit& visit) {
  const auto n = s.cells;
  const auto wrapped = [n](std::int64_t i) { return (i + n - 1) % n; };
  const auto p = padded(s);
  for (std::int64_t x = 0; x < n + 2; ++x)
    for (std::int64_t y = 0; y < n + 2; ++y) visit(x * p.x() + y * p.y(), (wrapped(x) * n + wrapped(y)) * n * s.inputs);
}

/// The cube with periodic ghost cells, and room for a register that begins at its last element.
template <class T>
std::vector<T> around(const PooledShape& s, const T* cube) {
  std::vector<T> out(padded(s).size() + native_width<T>, T(0));
  const auto row = s.cells * s.inputs, c = s.inputs;
  for_each_row(s, [&](std::int64_t to, std::int64_t from) {
    T* at = std::copy_n(cube + from + row - c, c, out.data() + to);
    std::copy_n(cube + from, c, std::copy_n(cube + from, row, at));
  });
  return out;
}

/// Adds the ghost layer of a cube to the cells that it copies.
template <class T>
void fold(const PooledShape& s, const std::vector<T>& gathered, T* cube) {
  const auto row = s.cells * s.inputs, c = s.inputs;
  for_each_row(s, [&](std::int64_t from, std::int64_t to) {
    const T* at = gathered.data() + from;
    for (std::int64_t k = 0; k < c; ++k) cube[to + row - c + k] += at[k];
    for (std::int64_t k = 0; k < row; ++k) cube[to + k] += at[c + k];
    for (std::int64_t k = 0; k < c; ++k) cube[to + k] += at[c + row + k];
  });
}

/// Offsets of the eight cells under an output, of the 27 taps of a cell and of the nine rows of these, relative to the
/// first of each.
struct Places {
  std::array<std::int64_t, 8> eight;
  std::array<std::int64_t, 27> taps;
  std::array<std::int64_t, 9> rows;
  explicit Places(const Padded& p) {
    const auto at = [&](int n, int k) { return k / (n * n) * p.x() + k / n % n * p.y() + k % n * p.inputs; };
    for (int k = 0; k < 8; ++k) eight[k] = at(2, k);
    for (int k = 0; k < 27; ++k) taps[k] = at(3, k);
    for (std::size_t k = 0; k < 9; ++k) rows[k] = taps[3 * k];
  }
};

/// Calls visit(index of the output's cell, first padded element under it).
template <class Visit>
void for_each_output(const PooledShape& s, const Visit& visit) {
  const auto p = padded(s);
  const auto half = s.cells / 2;
  for (std::int64_t x = 0; x < half; ++x)
    for (std::int64_t y = 0; y < half; ++y)
      for (std::int64_t z = 0; z < half; ++z)
        visit((x * half + y) * half + z, 2 * (x * p.x() + y * p.y() + z * p.inputs));
}

/// W outputs of the eight cells under one: one register for each; each tap is loaded once for all eight.
template <class T, int W>
void eight_of(const T* first, const Places& places, std::int64_t inputs, const T* weight, std::int64_t stride,
              Pack<T, W> (&sums)[8]) {
  using P = Pack<T, W>;
  for (auto& sum : sums) sum = P(T(0));
  for (const auto tap : places.taps)
    for (std::int64_t c = 0; c < inputs; ++c, weight += stride) {
      const P w = P::load(weight);
      const T* at = first + tap + c;
#pragma GCC unroll 8
      for (std::size_t k = 0; k < 8; ++k) sums[k] = fma(P(at[places.eight[k]]), w, sums[k]);
    }
}

/// The largest of eight, with what comes to it and after it, and which one that is.
template <class T, int W>
void largest_of(const Pack<T, W> (&sums)[8], Pack<T, W> bias, T slope, Pack<T, W>& best, Pack<T, W>& which) {
  using P = Pack<T, W>;
  best = sums[0];
  which = P(T(0));
  for (int k = 1; k < 8; ++k) {
    const auto more = sums[k] > best;
    best = select(more, sums[k], best);
    which = select(more, P(static_cast<T>(k)), which);
  }
  best = best + bias;
  best = select(best < P(T(0)), best * P(slope), best);
}

/// Applies `leave` to eight rows of intermediate values, `stride` apart.
template <class T, int W>
void leave_eight(const T* rows, std::int64_t middle, std::int64_t stride, const T* leave, std::int64_t outputs,
                 Pack<T, W> (&sums)[8]) {
  using P = Pack<T, W>;
  for (auto& sum : sums) sum = P(T(0));
  for (std::int64_t m = 0; m < middle; ++m) {
    const P w = P::load(leave + m * outputs);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) sums[k] = fma(P(rows[k * stride + m]), w, sums[k]);
  }
}

template <class T, int W>
void product_of(const PooledShape& s, const T* x, std::int64_t middle, std::int64_t padded_middle, const T* core,
                std::int64_t padded_outputs, const T* leave, const T* bias, T* y) {
  using P = Pack<T, W>;
  const auto cube = around(s, x);
  const Places places(padded(s));
  std::vector<T> rows(8 * padded_middle);
  for_each_output(s, [&](std::int64_t cell, std::int64_t first) {
    P sums[8], best, which;
    for (std::int64_t m = 0; m < middle; m += W) {
      eight_of<T, W>(cube.data() + first, places, s.inputs, core + m, padded_middle, sums);
      for (int k = 0; k < 8; ++k) sums[k].store(rows.data() + k * padded_middle + m);
    }
    for (std::int64_t o = 0; o < s.outputs; o += W) {
      leave_eight<T, W>(rows.data(), middle, padded_middle, leave + o, padded_outputs, sums);
      largest_of<T, W>(sums, P::load(bias + o), static_cast<T>(s.slope), best, which);
      T values[W];
      best.store(values);
      std::copy_n(values, std::min<std::int64_t>(W, s.outputs - o), y + cell * s.outputs + o);
    }
  });
}

template <class T, int W>
void forward_of(const PooledShape& s, const T* x, std::int64_t stride, const T* weights, const T* bias, T* y,
                std::uint8_t* largest) {
  using P = Pack<T, W>;
  const auto cube = around(s, x);
  const Places places(padded(s));
  for_each_output(s, [&](std::int64_t cell, std::int64_t first) {
    for (std::int64_t o = 0; o < s.outputs; o += W) {
      P sums[8];
      eight_of<T, W>(cube.data() + first, places, s.inputs, weights + o, stride, sums);
      P best, which;
      largest_of<T, W>(sums, P::load(bias + o), static_cast<T>(s.slope), best, which);
      T values[W], numbers[W];
      best.store(values);
      which.store(numbers);
      for (std::int64_t l = 0; l < std::min<std::int64_t>(W, s.outputs - o); ++l) {
        y[cell * s.outputs + o + l] = values[l];
        largest[cell * s.outputs + o + l] = static_cast<std::uint8_t>(numbers[l]);
      }
    }
  });
}

/// Gradient that flows back to one output: to and from the nine rows of cells under the largest of its eight. N:
/// registers of a row, 0 where that is not known here.
template <class T, int W, int N, bool OfInput>
void back_through(T g, const T* x, T* dx, const T* weight, T* dweight, const std::array<std::int64_t, 9>& rows,
                  std::int64_t row) {
  using P = Pack<T, W>;
  const P by(g);
  const auto length = N > 0 ? N * W : row;
  for (const auto at : rows)
    for (std::int64_t k = 0; k < length; k += W, weight += W, dweight += W) {
      fma(by, P::load(x + at + k), P::load(dweight)).store(dweight);
      if constexpr (OfInput) fma(by, P::load(weight), P::load(dx + at + k)).store(dx + at + k);
    }
}

template <class T, int W, int N, bool OfInput>
void backward_of(const PooledShape& s, const T* weights, const T* x, const T* y, const std::uint8_t* largest,
                 const T* dy, T* dx, T* dweight, T* dbias) {
  const auto cube = around(s, x);
  std::vector<T> back(OfInput ? cube.size() : 0, T(0));
  const Places places(padded(s));
  const auto row = s.gradient_row<T>();
  for_each_output(s, [&](std::int64_t cell, std::int64_t first) {
    for (std::int64_t o = 0; o < s.outputs; ++o) {
      const auto at = cell * s.outputs + o;
      const T g = y[at] > T(0) ? dy[at] : static_cast<T>(s.slope) * dy[at];
      dbias[o] += g;
      const auto from = first + places.eight[largest[at]];
      back_through<T, W, N, OfInput>(g, cube.data() + from, back.data() + (OfInput ? from : 0), weights + o * 9 * row,
                                     dweight + o * 9 * row, places.rows, row);
    }
  });
  if constexpr (OfInput) fold(s, back, dx);
}

/// Calls act(an integral constant): the widest register, or a part of one, that `fits` accepts.
template <class T, int W = native_width<T>, class Fits, class Act>
void with_width(const Fits& fits, const Act& act) {
  if constexpr (W > 1 && W * sizeof(T) > 16) {
    if (!fits(W)) return with_width<T, W / 2>(fits, act);
    act(std::integral_constant<int, W>{});
  } else if (W > 1 && fits(W)) {
    act(std::integral_constant<int, W>{});
  } else {
    act(std::integral_constant<int, 1>{});
  }
}

/// Calls act with the width of registers in which `outputs` are computed: more than half of one is used.
template <class T, class Act>
void with_output_width(std::int64_t outputs, const Act& act) {
  with_width<T>([outputs](int w) { return outputs > w / 2; }, act);
}

/// The same for rows of gradients. If the channels of a cell fill full registers, no row reaches into the next cell: a
/// load that partly overlaps an earlier store stalls store forwarding.
template <class T, class Act>
void with_row_width(std::int64_t inputs, const Act& act) {
  with_width<T>([inputs](int w) { return inputs % w == 0 || (inputs % 4 != 0 && 3 * inputs > w / 2); }, act);
}

}  // namespace

template <class T>
std::int64_t PooledShape::gradient_row() const {
  std::int64_t out = 0;
  with_row_width<T>(inputs, [&](auto w) { out = (3 * inputs + w - 1) / w * w; });
  return out;
}

template <class T>
PooledConvolution<T>::PooledConvolution(PooledShape shape, const T* weight, const T* bias) : shape_(shape) {
  const auto& s = shape_;
  if (s.cells < 2 || s.cells % 2 != 0) throw InternalError("a pooled convolution halves an even number of cells");
  with_output_width<T>(s.outputs, [&](auto w) { padded_outputs_ = (s.outputs + w - 1) / w * w; });
  by_output_.assign(27 * s.inputs * padded_outputs_, T(0));
  const auto row = s.gradient_row<T>();
  by_input_.assign(s.outputs * 9 * row, T(0));
  bias_.assign(padded_outputs_, T(0));
  std::copy_n(bias, s.outputs, bias_.begin());
  for (std::int64_t o = 0; o < s.outputs; ++o)
    for (std::int64_t c = 0; c < s.inputs; ++c)
      for (std::int64_t t = 0; t < 27; ++t) {
        const T w = weight[(o * s.inputs + c) * 27 + t];
        by_output_[(t * s.inputs + c) * padded_outputs_ + o] = w;
        by_input_[(o * 9 + t / 3) * row + t % 3 * s.inputs + c] = w;
      }
}

template <class T>
void PooledConvolution<T>::forward(const T* x, T* y, std::uint8_t* largest) const {
  with_output_width<T>(shape_.outputs, [&](auto w) {
    forward_of<T, decltype(w)::value>(shape_, x, padded_outputs_, by_output_.data(), bias_.data(), y, largest);
  });
}

template <class T>
void PooledConvolution<T>::backward(const T* x, const T* y, const std::uint8_t* largest, const T* dy, T* dx, T* dweight,
                                    T* dbias) const {
  with_row_width<T>(shape_.inputs, [&](auto w) {
    constexpr int width = decltype(w)::value;
    const auto packs = shape_.gradient_row<T>() / width;
    const auto pass = [&](auto n, auto of_input) {
      backward_of<T, width, decltype(n)::value, decltype(of_input)::value>(shape_, by_input_.data(), x, y, largest, dy,
                                                                           dx, dweight, dbias);
    };
    const auto with_packs = [&](auto of_input) {
      if (packs == 1) return pass(std::integral_constant<int, 1>{}, of_input);
      if (packs == 3) return pass(std::integral_constant<int, 3>{}, of_input);
      pass(std::integral_constant<int, 0>{}, of_input);
    };
    dx ? with_packs(std::true_type{}) : with_packs(std::false_type{});
  });
}

template <class T>
PooledProduct<T>::PooledProduct(PooledShape shape, std::int64_t middle, const T* core, const T* leave, const T* bias)
    : shape_(shape), middle_(middle) {
  const auto& s = shape_;
  with_output_width<T>(std::max(s.outputs, middle), [&](auto w) {
    padded_outputs_ = (s.outputs + w - 1) / w * w;
    padded_middle_ = (middle + w - 1) / w * w;
  });
  core_.assign(27 * s.inputs * padded_middle_, T(0));
  leave_.assign(middle * padded_outputs_, T(0));
  bias_.assign(padded_outputs_, T(0));
  std::copy_n(bias, s.outputs, bias_.begin());
  for (std::int64_t m = 0; m < middle; ++m) {
    for (std::int64_t k = 0; k < 27 * s.inputs; ++k)
      core_[(k % 27 * s.inputs + k / 27) * padded_middle_ + m] = core[m * 27 * s.inputs + k];
    for (std::int64_t o = 0; o < s.outputs; ++o) leave_[m * padded_outputs_ + o] = leave[o * middle + m];
  }
}

template <class T>
void PooledProduct<T>::forward(const T* x, T* y) const {
  with_output_width<T>(std::max(shape_.outputs, middle_), [&](auto w) {
    product_of<T, decltype(w)::value>(shape_, x, middle_, padded_middle_, core_.data(), padded_outputs_, leave_.data(),
                                      bias_.data(), y);
  });
}

template std::int64_t PooledShape::gradient_row<float>() const;
template std::int64_t PooledShape::gradient_row<double>() const;
template class PooledConvolution<float>;
template class PooledConvolution<double>;
template class PooledProduct<float>;
template class PooledProduct<double>;

}  // namespace cambium::cosmo
