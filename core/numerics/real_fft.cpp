#include "core/numerics/real_fft.hpp"
#include "core/base/constants.hpp"
#include "core/base/recorder.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/numerics/width.hpp"

namespace cambium {
namespace {

constexpr int W = width_of<ExecSpace, double>;
using P = Pack<double, W>;

struct Complex {
  P re, im;
  CAMBIUM_FN friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  CAMBIUM_FN friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
};

/// a (c + i s)
CAMBIUM_FN Complex times(Complex a, double c, double s) {
  const P pc(c), ps(s);
  return {fma(a.re, pc, -(a.im * ps)), fma(a.re, ps, a.im * pc)};
}

/// Multiplication by exp(sign * 2 pi i k / n) from the table of exp(-2 pi i k / n).
template <int Sign>
CAMBIUM_FN Complex twiddled(Complex a, const double* table, int k) {
  return times(a, table[2 * k], -Sign * table[2 * k + 1]);
}

template <int Sign>
CAMBIUM_FN Complex times_i(Complex a) {
  if constexpr (Sign > 0)
    return {-a.im, a.re};
  else
    return {a.im, -a.re};
}

#if !defined(CAMBIUM_SCALAR_PACKS_ONLY)
/// Rows become columns of a block of as many packs as a pack has lanes.
template <class Q>
CAMBIUM_HF void turn(Q* block) {
  constexpr int w = Q::width;
  using Ints = typename detail::VectorOf<double, w * 8>::Ints;
#pragma GCC unroll 4
  for (int h = w / 2; h >= 1; h /= 2) {
    Ints first{}, second{};
#pragma GCC unroll 8
    for (int l = 0; l < w; ++l) {
      first[l] = l & h ? w + l - h : l;
      second[l] = l & h ? w + l : l + h;
    }
#pragma GCC unroll 8
    for (int i = 0; i < w; ++i) {
      if (i & h) continue;
      const auto a = block[i].v, b = block[i + h].v;
      block[i].v = __builtin_shuffle(a, b, first);
      block[i + h].v = __builtin_shuffle(a, b, second);
    }
  }
}
#endif
template <class Q>
CAMBIUM_FN void transpose([[maybe_unused]] Q* block) {
#if !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  if constexpr (Q::width > 1) turn(block);
#endif
}

/// Columns 0..count-1 of up to W rows as packs; missing rows are zero.
CAMBIUM_FN void load_columns(const double* rows, std::size_t pitch, int lanes, int count, P* out) {
  int i = 0;
  for (; lanes == W && i + W <= count; i += W) {
    P block[W];
    for (int l = 0; l < W; ++l) block[l] = P::load(rows + l * pitch + i);
    transpose(block);
    for (int l = 0; l < W; ++l) out[i + l] = block[l];
  }
  for (; i < count; ++i) {
    double lane[W] = {};
    for (int l = 0; l < lanes; ++l) lane[l] = rows[l * pitch + i];
    out[i] = P::load(lane);
  }
}

CAMBIUM_FN void store_columns(const P* in, double* rows, std::size_t pitch, int lanes, int count) {
  int i = 0;
  for (; lanes == W && i + W <= count; i += W) {
    P block[W];
    for (int l = 0; l < W; ++l) block[l] = in[i + l];
    transpose(block);
    for (int l = 0; l < W; ++l) block[l].store(rows + l * pitch + i);
  }
  for (; i < count; ++i) {
    double lane[W];
    in[i].store(lane);
    for (int l = 0; l < lanes; ++l) rows[l * pitch + i] = lane[l];
  }
}

/// One butterfly of any radix: y_j = sum_l a_l exp(sign 2 pi i j l / radix).
template <int Sign>
CAMBIUM_FN void general_butterfly(const Complex* a, Complex* y, int radix, const double* table, int n) {
  for (int j = 0; j < radix; ++j) {
    Complex sum = a[0];
    for (int l = 1; l < radix; ++l) sum = sum + twiddled<Sign>(a[l], table, n / radix * (j * l % radix));
    y[j] = sum;
  }
}

/// A factor exp(sign 2 pi i k / n) that multiplies many values; none if it is one.
template <int Sign>
struct Twiddle {
  P c, s;
  CAMBIUM_FN Twiddle(const double* table, int k) : c(table[2 * k]), s(-Sign * table[2 * k + 1]) {}
  CAMBIUM_FN Complex operator()(Complex a) const { return {fma(a.re, c, -(a.im * s)), fma(a.re, s, a.im * c)}; }
};
struct NoTwiddle {
  CAMBIUM_FN Complex operator()(Complex a) const { return a; }
};

template <int Sign, class One, class Two, class Three>
CAMBIUM_FN void run_fours(int s, std::ptrdiff_t jump, const Complex* from, Complex* to, One one, Two two, Three three) {
  for (int q = 0; q < s; ++q, ++from, ++to) {
    const Complex a = from[0], b = from[jump], c = from[2 * jump], d = from[3 * jump];
    const Complex sum = a + c, odd = b + d, difference = a - c, turned = times_i<Sign>(b - d);
    to[0] = sum + odd;
    to[s] = one(difference + turned);
    to[2 * s] = two(sum - odd);
    to[3 * s] = three(difference - turned);
  }
}

template <class One>
CAMBIUM_FN void run_twos(int s, std::ptrdiff_t jump, const Complex* from, Complex* to, One one) {
  for (int q = 0; q < s; ++q, ++from, ++to) {
    const Complex a = from[0], b = from[jump];
    to[0] = a + b;
    to[s] = one(a - b);
  }
}

template <int Sign>
CAMBIUM_FN void run_others(int r, int s, std::ptrdiff_t jump, const Complex* from, Complex* to, int turn,
                           const double* table, int n) {
  for (int q = 0; q < s; ++q, ++from, ++to) {
    Complex a[RealFft::largest_radix], b[RealFft::largest_radix];
    for (int j = 0; j < r; ++j) a[j] = from[j * jump];
    general_butterfly<Sign>(a, b, r, table, n);
    for (int j = 0; j < r; ++j) to[j * s] = twiddled<Sign>(b[j], table, j * turn);
  }
}

/// One pass of the Stockham transform of `half` complex values: x to y.
template <int Sign>
CAMBIUM_FN void run_pass(RealFft::Pass pass, const Complex* x, Complex* y, const double* table, int n) {
  const int r = pass.radix, m = pass.remaining, s = pass.stride;
  const std::ptrdiff_t jump = static_cast<std::ptrdiff_t>(s) * m;
  for (int p = 0; p < m; ++p) {
    const int turn = 2 * p * s;  // in the table of n = 2 half entries
    const Complex* const from = x + s * p;
    Complex* const to = y + static_cast<std::ptrdiff_t>(s) * r * p;
    const NoTwiddle none{};
    if (r == 4 && p == 0)
      run_fours<Sign>(s, jump, from, to, none, none, none);
    else if (r == 4)
      run_fours<Sign>(s, jump, from, to, Twiddle<Sign>(table, turn), Twiddle<Sign>(table, 2 * turn),
                      Twiddle<Sign>(table, 3 * turn));
    else if (r == 2 && p == 0)
      run_twos(s, jump, from, to, none);
    else if (r == 2)
      run_twos(s, jump, from, to, Twiddle<Sign>(table, turn));
    else
      run_others<Sign>(r, s, jump, from, to, turn, table, n);
  }
}

template <int Sign>
CAMBIUM_FN Complex* run_passes(const View<RealFft::Pass*>& passes, Complex* x, Complex* y, const double* table, int n) {
  for (std::size_t k = 0; k < passes.extent(0); ++k) {
    run_pass<Sign>(passes(k), x, y, table, n);
    Complex* const swap = x;
    x = y;
    y = swap;
  }
  return x;
}

using Teams = Kokkos::TeamPolicy<ExecSpace>;
using TeamScratch = ExecSpace::scratch_memory_space;

/// A team of one thread for W rows, with three work arrays.
Teams policy(int rows, int n) {
  const std::size_t bytes = 3 * (static_cast<std::size_t>(n) + 2) * sizeof(P) + 64;
  return Teams((rows + W - 1) / W, 1).set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(bytes)));
}

struct Work {
  Complex *a, *b;
  P* real;
  KOKKOS_FUNCTION Work(const Teams::member_type& team, int n) {
    auto* memory = static_cast<char*>(team.team_scratch(1).get_shmem_aligned(3 * (n + 2) * sizeof(P), 64));
    real = reinterpret_cast<P*>(memory);
    a = reinterpret_cast<Complex*>(real + n + 2);
    b = a + n / 2 + 1;
  }
};

/// Modes 0..half of a real row from the transform of its `half` complex pairs.
CAMBIUM_FN void separate(const Complex* z, int half, const double* table, P* re, P* im) {
  const P zero(0.0), part(0.5);
  re[0] = z[0].re + z[0].im;
  im[0] = zero;
  re[half] = z[0].re - z[0].im;
  im[half] = zero;
  for (int k = 1; k < half; ++k) {
    const Complex a = z[k], b{z[half - k].re, -z[half - k].im};
    const Complex even = a + b, odd = twiddled<-1>(times_i<-1>(a - b), table, k);
    re[k] = part * (even.re + odd.re);
    im[k] = part * (even.im + odd.im);
  }
}

/// The inverse of separate(), normalised by the length of the row.
CAMBIUM_FN void combine(const P* re, const P* im, int half, const double* table, Complex* z) {
  const P scale(0.5 / half);
  z[0] = {scale * (re[0] + re[half]), scale * (re[0] - re[half])};
  for (int k = 1; k < half; ++k) {
    const Complex a{re[k], im[k]}, b{re[half - k], -im[half - k]};
    const Complex even = a + b, odd = times_i<1>(twiddled<1>(a - b, table, k));
    z[k] = {scale * (even.re + odd.re), scale * (even.im + odd.im)};
  }
}

}  // namespace

RealFft::RealFft(int n) : n_(n) {
  if (n < 2 || n % 2) throw InputError(fmt::format("a row of {} values cannot be transformed: take an even number", n));
  int left = n / 2, stride = 1;
  auto take = [&](int radix) {
    for (; left % radix == 0 && left > 1; left /= radix, stride *= radix)
      passes_.push_back({radix, left / radix, stride});
  };
  take(4);
  take(2);
  for (int radix = 3; radix <= largest_radix; radix += 2) take(radix);
  if (left > 1)
    throw InputError(fmt::format(
        "a row of {} values cannot be transformed: {} has a prime factor above {}; take a number made of 2, 3 and 5", n,
        n, largest_radix));
  vendor_ = make_vendor_fft(n);
  device_passes_ = View<Pass*>("fft passes", passes_.size());
  twiddle_ = View<double*>("fft twiddles", 2 * static_cast<std::size_t>(n));
  const auto passes = Kokkos::create_mirror_view(device_passes_);
  const auto twiddle = Kokkos::create_mirror_view(twiddle_);
  for (std::size_t k = 0; k < passes_.size(); ++k) passes(k) = passes_[k];
  for (int k = 0; k < n; ++k) {
    const double angle = -2.0 * constants::pi * k / n;
    twiddle(2 * k) = std::cos(angle);
    twiddle(2 * k + 1) = std::sin(angle);
  }
  Kokkos::deep_copy(device_passes_, passes);
  Kokkos::deep_copy(twiddle_, twiddle);
}

/// 2.5 n log2 n operations of a real row, as is usual; the row and its modes once through memory.
static Amount transform_amount(double n, double rows) {
  return {2.5 * n * std::log2(n) * rows, 8.0 * (2.0 * n + 2.0) * rows, 8};
}

void RealFft::forward(const View<const double**>& in, int first, const View<double**>& out, int imaginary,
                      int rows) const {
  if (vendor_ && rows > 0) return vendor_->forward(in, first, out, imaginary, rows);
  const KernelRegion region("real FFT: forward", WorkKind::elementwise, transform_amount(n_, rows));
  const int n = n_, half = n / 2;
  const auto passes = device_passes_;
  const auto twiddle = twiddle_;
  Kokkos::parallel_for(
      "fft: forward", policy(rows, n), KOKKOS_LAMBDA(const Teams::member_type& team) {
        const int row = team.league_rank() * W, lanes = rows - row < W ? rows - row : W;
        const Work work(team, n);
        const double* const table = twiddle.data();
        load_columns(&in(row, first), in.stride(0), lanes, n, reinterpret_cast<P*>(work.a));
        const Complex* z = run_passes<-1>(passes, work.a, work.b, table, n);
        P* const re = work.real;
        P* const im = reinterpret_cast<P*>(z == work.a ? work.b : work.a);
        separate(z, half, table, re, im);
        store_columns(re, &out(row, 0), out.stride(0), lanes, half + 1);
        store_columns(im, &out(row, imaginary), out.stride(0), lanes, half + 1);
      });
}

void RealFft::backward(const View<const double**>& in, int imaginary, const View<double**>& out, int first,
                       int rows) const {
  if (vendor_ && rows > 0) return vendor_->backward(in, imaginary, out, first, rows);
  const KernelRegion region("real FFT: backward", WorkKind::elementwise, transform_amount(n_, rows));
  const int n = n_, half = n / 2;
  const auto passes = device_passes_;
  const auto twiddle = twiddle_;
  Kokkos::parallel_for(
      "fft: backward", policy(rows, n), KOKKOS_LAMBDA(const Teams::member_type& team) {
        const int row = team.league_rank() * W, lanes = rows - row < W ? rows - row : W;
        const Work work(team, n);
        const double* const table = twiddle.data();
        P* const re = work.real;
        P* const im = reinterpret_cast<P*>(work.b);
        load_columns(&in(row, 0), in.stride(0), lanes, half + 1, re);
        load_columns(&in(row, imaginary), in.stride(0), lanes, half + 1, im);
        combine(re, im, half, table, work.a);
        const Complex* z = run_passes<1>(passes, work.a, work.b, table, n);
        store_columns(reinterpret_cast<const P*>(z), &out(row, first), out.stride(0), lanes, n);
      });
}

void RealFft::forward_columns(const double* in, int in_pitch, double* out, int out_pitch, int columns) const {
  const KernelRegion region("real FFT: forward", WorkKind::elementwise, transform_amount(n_, columns));
  const int n = n_, half = n / 2;
  const auto passes = device_passes_;
  const auto twiddle = twiddle_;
  Kokkos::parallel_for(
      "fft: forward, columns", policy(columns, n), KOKKOS_LAMBDA(const Teams::member_type& team) {
        const int column = team.league_rank() * W;
        const Work work(team, n);
        P* const x = reinterpret_cast<P*>(work.a);
        for (int i = 0; i < n; ++i) x[i] = P::load(in + static_cast<std::ptrdiff_t>(i) * in_pitch + column);
        const Complex* z = run_passes<-1>(passes, work.a, work.b, twiddle.data(), n);
        P* const re = work.real;
        P* const im = reinterpret_cast<P*>(z == work.a ? work.b : work.a);
        separate(z, half, twiddle.data(), re, im);
        double* const real = out + column;
        double* const imaginary = real + static_cast<std::ptrdiff_t>(half + 1) * out_pitch;
        for (int k = 0; k <= half; ++k) {
          re[k].store(real + static_cast<std::ptrdiff_t>(k) * out_pitch);
          im[k].store(imaginary + static_cast<std::ptrdiff_t>(k) * out_pitch);
        }
      });
}

void RealFft::backward_columns(const double* in, int in_pitch, double* out, int out_pitch, int columns) const {
  const KernelRegion region("real FFT: backward", WorkKind::elementwise, transform_amount(n_, columns));
  const int n = n_, half = n / 2;
  const auto passes = device_passes_;
  const auto twiddle = twiddle_;
  Kokkos::parallel_for(
      "fft: backward, columns", policy(columns, n), KOKKOS_LAMBDA(const Teams::member_type& team) {
        const int column = team.league_rank() * W;
        const Work work(team, n);
        P* const re = work.real;
        P* const im = reinterpret_cast<P*>(work.b);
        const double* const real = in + column;
        const double* const imaginary = real + static_cast<std::ptrdiff_t>(half + 1) * in_pitch;
        for (int k = 0; k <= half; ++k) {
          re[k] = P::load(real + static_cast<std::ptrdiff_t>(k) * in_pitch);
          im[k] = P::load(imaginary + static_cast<std::ptrdiff_t>(k) * in_pitch);
        }
        combine(re, im, half, twiddle.data(), work.a);
        const Complex* z = run_passes<1>(passes, work.a, work.b, twiddle.data(), n);
        const P* const x = reinterpret_cast<const P*>(z);
        for (int i = 0; i < n; ++i) x[i].store(out + static_cast<std::ptrdiff_t>(i) * out_pitch + column);
      });
}

}  // namespace cambium
